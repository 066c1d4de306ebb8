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

// ErrLimited is the error of an attempt beyond a [Limit] with LimitOptions.Silent.
var ErrLimited = errors.New("middleware: too many attempts to log in")

// Defaults and bounds of a [Limit].
const (
	DefaultBurst    = 10
	DefaultInterval = 6 * time.Second // ten a minute
	DefaultMaxKeys  = 65_536
	LimitMaxKeys    = 16 << 20
)

// LimitOptions say how often somebody may try to log in. A zero field means its default;
// what is out of its bounds is an error of NewLimit.
type LimitOptions struct {
	// Burst is how many attempts there may be at once: 1 to 1,000,000. 0: DefaultBurst.
	Burst int

	// Interval is after how long there may be one more: 1 µs to 24 hours. 0:
	// DefaultInterval.
	Interval time.Duration

	// By says whose attempts are counted together; those of whom it says nothing (an
	// empty string) are not limited. nil: ByUserName. Two limits, one inside the other,
	// limit by both.
	By func(*billing.AccessRequest) string

	// MaxKeys is how many are remembered, of about 300 octets each: 1 to LimitMaxKeys. 0:
	// DefaultMaxKeys. The one that was quiet for the longest makes room, and may begin
	// anew.
	MaxKeys int

	// Silent gives no answer beyond the limit, instead of an Access-Reject. A NAS
	// may then take the server for dead, so it is for those that would not.
	Silent bool
}

// ByUserName limits by User-Name; spellings that databases take for the same are one.
func ByUserName(req *billing.AccessRequest) string { return grants.Key(req.UserName) }

// ByCallingStation limits by Calling-Station-Id: mostly the MAC address of the device.
func ByCallingStation(req *billing.AccessRequest) string { return grants.Key(req.CallingStationID) }

// A Limit is a token bucket for each subscriber: who tries to log in more often, with the
// right password or a wrong one, is rejected with billing.ReasonTooManyAttempts before the
// back end is asked. That is for subscribers whose device dials again and again, and for
// those who guess passwords. Retransmissions are no attempts: they do not come this far.
//
// One belongs to one Handler. Its methods may be called by many goroutines.
type Limit struct {
	o  LimitOptions
	mu sync.Mutex // held for a moment

	buckets *buckets // guarded by mu
	limited uint64   // guarded by mu
}

// NewLimit returns a Limit. The error names each field of o that is out of its bounds.
func NewLimit(o LimitOptions) (*Limit, error) {
	err := errors.Join(
		bound.Field("Burst", &o.Burst, DefaultBurst, 1, 1_000_000),
		bound.Field("Interval", &o.Interval, DefaultInterval, time.Microsecond, 24*time.Hour),
		bound.Field("MaxKeys", &o.MaxKeys, DefaultMaxKeys, 1, LimitMaxKeys),
	)
	if err != nil {
		return nil, fmt.Errorf("middleware: LimitOptions: %w", err)
	}
	if o.By == nil {
		o.By = ByUserName
	}
	return &Limit{o: o, buckets: newBuckets(o.MaxKeys, o.Burst, o.Interval)}, nil
}

// Middleware puts the Limit before h. It is a billing.Middleware.
func (l *Limit) Middleware(h billing.Handler) billing.Handler {
	return billing.Around{Authorize: l.authorize}.Wrap(h)
}

func (l *Limit) authorize(ctx context.Context, reqs []*billing.AccessRequest, gs []billing.Grant, errs []error, next billing.AuthorizeFunc) {
	var few [4]int
	at := few[:0]
	for i, req := range reqs {
		switch {
		case l.allow(req):
			at = append(at, i)
		case l.o.Silent:
			errs[i] = ErrLimited
		default:
			gs[i] = billing.Grant{Reason: billing.ReasonTooManyAttempts}
		}
	}
	askPart(ctx, at, reqs, gs, errs, next)
}

func (l *Limit) allow(req *billing.AccessRequest) bool {
	key := l.o.By(req)
	if key == "" {
		return true
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	ok := l.buckets.take(now, key)
	if !ok {
		l.limited++
	}
	return ok
}

// LimitStats are counters of a [Limit].
type LimitStats struct {
	Limited uint64 // attempts beyond the limit
	Evicted uint64 // subscribers who were forgotten early, since there were MaxKeys
	Keys    int    // that are remembered now
}

// Stats returns the counters as they are now.
func (l *Limit) Stats() LimitStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return LimitStats{Limited: l.limited, Evicted: l.buckets.evicted, Keys: len(l.buckets.byKey)}
}

// Metrics has what Stats counts, for monitoring systems.
func (l *Limit) Metrics() metrics.Source {
	return metrics.New(l.Stats,
		metrics.Count("radpool_limit_attempts_total", "Attempts to log in beyond the limit.", func(s *LimitStats) uint64 { return s.Limited }),
		metrics.Count("radpool_limit_evicted_total", "Subscribers who were forgotten early by the limit.", func(s *LimitStats) uint64 { return s.Evicted }),
		metrics.Level("radpool_limit_keys", "Subscribers whom the limit remembers now.", func(s *LimitStats) float64 { return float64(s.Keys) }),
	)
}
