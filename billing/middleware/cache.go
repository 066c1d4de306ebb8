package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/bound"
	"github.com/radpool/radpool/billing/internal/grants"
	"github.com/radpool/radpool/radpool/metrics"
)

// Defaults and bounds of a [Cache].
const (
	DefaultTTL         = 10 * time.Second
	DefaultNegativeTTL = 2 * time.Second
	DefaultMaxGrants   = 65_536
	LimitMaxGrants     = 16 << 20
)

// CacheOptions say how long a [Cache] keeps what. A zero field means its default; what is
// out of its bounds is an error of NewCache.
type CacheOptions struct {
	// TTL is for how long the Grant of a subscriber who is let in is good: 1 ms to 1 hour.
	// 0: DefaultTTL. A password or a tariff that is changed takes that long to be seen.
	TTL time.Duration

	// NegativeTTL is that of one who is not: 1 ms to 1 minute. 0: DefaultNegativeTTL. A
	// subscriber who has just paid waits that long.
	NegativeTTL time.Duration

	// MaxGrants is the most Grants that are kept, those of about 1 KB each: 1 to
	// LimitMaxGrants. 0: DefaultMaxGrants. The oldest makes room.
	MaxGrants int
}

// A Cache keeps the last Grant of each subscriber for a short while, so that the back end is
// not asked again by a device that dials in a loop, or by all at once after a NAS has
// restarted. Those who ask for the same while the back end is being asked wait for its
// answer instead of asking too.
//
// A Grant is used again only for a request that is alike in all that a back end may have
// decided by: User-Name, method, Calling- and Called-Station-Id, NAS, Service-Type, and all
// other attributes where no password is needed. The Processor checks the password, each
// time. A Start or Stop of the subscriber, and Forget, end what is kept. These are never
// kept: a Grant with SimultaneousUse, since another session may begin in between; one with
// AnyPassword; a reject for the password, for too many attempts, or because the back end
// has failed; errors; and what has no User-Name. Addresses of a pool are leased each time.
//
// A Grant holds secrets in the clear, and a Cache keeps it in memory. One belongs to one
// Handler. Its methods may be called by many goroutines.
type Cache struct {
	o  CacheOptions
	mu sync.Mutex // held for a moment; never while the back end is asked

	table   *grants.Table                   // guarded by mu
	flights map[grants.Circumstance]*flight // guarded by mu: what the back end is being asked
	stats   CacheStats                      // guarded by mu
}

// A flight is a question that is under way, at most one for each request that a worker has.
type flight struct {
	key    grants.Circumstance
	done   chan struct{}
	shared bool // the answer is also that of the others; set before done is closed, as what follows
	grant  billing.Grant
	err    error
}

// NewCache returns an empty Cache. The error names each field of o that is out of its
// bounds.
func NewCache(o CacheOptions) (*Cache, error) {
	err := errors.Join(
		bound.Field("TTL", &o.TTL, DefaultTTL, time.Millisecond, time.Hour),
		bound.Field("NegativeTTL", &o.NegativeTTL, DefaultNegativeTTL, time.Millisecond, time.Minute),
		bound.Field("MaxGrants", &o.MaxGrants, DefaultMaxGrants, 1, LimitMaxGrants),
	)
	if err != nil {
		return nil, fmt.Errorf("middleware: CacheOptions: %w", err)
	}
	return &Cache{o: o, table: grants.New(o.MaxGrants, o.TTL), flights: make(map[grants.Circumstance]*flight)}, nil
}

// Middleware puts the Cache before h. It is a billing.Middleware.
func (c *Cache) Middleware(h billing.Handler) billing.Handler {
	return billing.Around{Authorize: c.authorize, Account: c.account}.Wrap(h)
}

// Forget ends what is kept of a subscriber.
func (c *Cache) Forget(userName string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table.Forget(userName)
}

// account forgets those whose sessions have begun or ended: what they may do may have
// changed with it.
func (c *Cache) account(ctx context.Context, recs []*billing.AccountingRecord, errs []error, next billing.AccountFunc) {
	next(ctx, recs, errs)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range recs {
		if r.Status == billing.Start || r.Status == billing.Stop {
			c.table.Forget(r.UserName)
		}
	}
}

func (c *Cache) authorize(ctx context.Context, reqs []*billing.AccessRequest, gs []billing.Grant, errs []error, next billing.AuthorizeFunc) {
	var few [4]int
	ask := few[:0] // places of those that the back end is asked about
	var led, waited []awaited
	now := time.Now()
	c.mu.Lock()
	for i, req := range reqs {
		if req.UserName == "" {
			ask = append(ask, i)
			continue
		}
		if g, _, ok := c.table.Find(now, req); ok {
			gs[i] = g
			c.stats.Hits++
			continue
		}
		key := c.table.Whole(req)
		if f := c.flights[key]; f != nil {
			c.stats.Shared++
			waited = append(waited, awaited{i, f})
			continue
		}
		c.stats.Misses++
		f := &flight{key: key, done: make(chan struct{})}
		c.flights[key] = f
		led = append(led, awaited{i, f})
		ask = append(ask, i)
	}
	c.mu.Unlock()
	c.lead(ctx, ask, led, reqs, gs, errs, next)
	if len(waited) > 0 {
		follow(ctx, waited, reqs, gs, errs, next)
	}
}

// An awaited is a request whose answer a flight brings.
type awaited struct {
	at int
	f  *flight
}

// lead asks the back end, and tells those who wait. They are told also where it panics.
func (c *Cache) lead(
	ctx context.Context, ask []int, led []awaited, reqs []*billing.AccessRequest, gs []billing.Grant, errs []error, next billing.AuthorizeFunc,
) {
	answered := false
	defer func() {
		now := time.Now()
		c.mu.Lock()
		for _, l := range led {
			delete(c.flights, l.f.key)
			if answered && errs[l.at] == nil {
				c.learn(now, reqs[l.at], &gs[l.at])
			}
		}
		c.mu.Unlock()
		for _, l := range led {
			if f := l.f; answered {
				f.grant, f.err = gs[l.at], errs[l.at]
				f.shared = f.err == nil && !personal(&f.grant) || f.err != nil && ctx.Err() == nil
			}
			close(l.f.done)
		}
	}()
	askPart(ctx, ask, reqs, gs, errs, next)
	answered = true
}

// learn keeps an answer, or forgets what there was. The caller holds the lock.
func (c *Cache) learn(now time.Time, req *billing.AccessRequest, g *billing.Grant) {
	switch {
	case personal(g) || g.SimultaneousUse != 0 || g.Reason == billing.ReasonTooManyAttempts || g.Reason == billing.ReasonUnavailable:
		c.table.Forget(req.UserName)
	case g.Reason == billing.ReasonNone:
		c.table.Remember(now, req, g, c.o.TTL)
	default: // also one who is out of money, and may go to the page for payments
		c.table.Remember(now, req, g, c.o.NegativeTTL)
	}
}

// personal reports whether an answer may depend on the password that was given: that of one
// who asked does not do for another.
func personal(g *billing.Grant) bool { return g.AnyPassword || g.Reason == billing.ReasonWrongPassword }

// follow waits for answers that others have asked for. Those that do not do are asked for
// again, at once.
func follow(ctx context.Context, waited []awaited, reqs []*billing.AccessRequest, gs []billing.Grant, errs []error, next billing.AuthorizeFunc) {
	var again []int
	for _, w := range waited {
		select {
		case <-w.f.done:
			if w.f.shared {
				gs[w.at], errs[w.at] = w.f.grant, w.f.err
			} else {
				again = append(again, w.at)
			}
		case <-ctx.Done():
			errs[w.at] = ctx.Err()
		}
	}
	askPart(ctx, again, reqs, gs, errs, next)
}

// CacheStats are counters of a [Cache].
type CacheStats struct {
	Hits   uint64 // answered with what was kept
	Shared uint64 // waited for the answer to somebody else
	Misses uint64 // asked the back end
	Grants int    // that are kept now
}

// Stats returns the counters as they are now.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.stats
	st.Grants = c.table.Len()
	return st
}

// Metrics has what Stats counts, for monitoring systems.
func (c *Cache) Metrics() metrics.Source {
	return metrics.New(c.Stats,
		metrics.Counts("radpool_grant_cache_requests_total", "Access-Requests, by how they were answered.", []string{"result"}, func(s *CacheStats, add func(uint64, ...string)) {
			add(s.Hits, "hit")
			add(s.Shared, "shared")
			add(s.Misses, "miss")
		}),
		metrics.Level("radpool_grant_cache_grants", "Grants that are kept now.", func(s *CacheStats) float64 { return float64(s.Grants) }),
	)
}
