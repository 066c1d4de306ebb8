package coa

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/internal/bound"
)

// A Config is what a Controller is made of. Store and NAS are required; other zero
// fields mean their defaults.
type Config struct {
	// Store is where the sessions are. Required.
	Store Store

	// NAS asks the NASes: a Client, or what stands for one in a test. Required.
	NAS NAS

	// Sweep is how often all open sessions are looked at: for what nobody woke the
	// Controller about, as a payment that was written into the database, an expiry or
	// a new month. From 1 s to 24 h; zero means 1 min.
	Sweep time.Duration

	// Linger is how long after Wake a user's sessions are looked at, so that many
	// users are one question to the Store. From 10 ms to 1 min; zero means 1 s.
	Linger time.Duration

	// AskTime bounds one request to a NAS, its retransmissions included; less than
	// Timing.Lease. From 100 ms to 10 min; zero means 10 s.
	AskTime time.Duration

	// MaxInFlight is how many NASes are asked at once. From 1 to 4,096; zero means 64.
	MaxInFlight int

	// MaxWoken is how many users may wait to be looked at. One more is left to the
	// next sweep. From 1 to 1,048,576; zero means 65,536.
	MaxWoken int

	// Timing is how long to wait between two tries, for a Stop, and for another server
	// that has a session. The zero Timing means its defaults.
	Timing Timing

	// Logger gets what the operator should know. nil: nothing is logged.
	Logger *zap.Logger
}

// page is how many sessions are asked for at once, and how many users.
const page = 256

// withDefaults fills in defaults, and says which field is out of its bounds.
func (c Config) withDefaults() (Config, error) {
	if c.Store == nil || c.NAS == nil {
		return c, fmt.Errorf("coa: Config.Store and Config.NAS are required")
	}
	t := &c.Timing
	err := cmp.Or(
		bound.Field("Sweep", &c.Sweep, time.Minute, time.Second, 24*time.Hour),
		bound.Field("Linger", &c.Linger, time.Second, 10*time.Millisecond, time.Minute),
		bound.Field("AskTime", &c.AskTime, 10*time.Second, 100*time.Millisecond, 10*time.Minute),
		bound.Field("Timing.Lease", &t.Lease, time.Minute, time.Second, time.Hour),
		bound.Field("Timing.Backoff", &t.Backoff, 10*time.Second, time.Second, 24*time.Hour),
		bound.Field("Timing.MaxBackoff", &t.MaxBackoff, max(30*time.Minute, t.Backoff), time.Second, 24*time.Hour),
		bound.Field("Timing.StopWait", &t.StopWait, 5*time.Minute, time.Second, 24*time.Hour),
		bound.Field("MaxInFlight", &c.MaxInFlight, 64, 1, 4096),
		bound.Field("MaxWoken", &c.MaxWoken, 1<<16, 1, 1<<20),
	)
	if err != nil {
		return c, fmt.Errorf("coa: Config.%w", err)
	}
	if c.AskTime >= t.Lease {
		return c, fmt.Errorf("coa: Config.AskTime is %v, must be less than Config.Timing.Lease, %v", c.AskTime, t.Lease)
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return c, nil
}

// A Controller sees to it that open sessions have what their subscribers are to have.
// Make one with Start. Its methods may be called from many goroutines at once.
type Controller struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup
	asking chan struct{} // a place for each request under way

	mu     sync.Mutex
	woken  map[string]time.Time     // users, and when to look at them; guarded by mu
	silent map[netip.Addr]time.Time // NASes, and until when they are not asked; guarded by mu
	sleeps time.Time                // until when run sleeps, unless wake has a token; guarded by mu
	wake   chan struct{}            // one token

	counters
}

type counters struct {
	looks, changes, disconnects, refused, silence, notFound, unreachable, deferred, late, overflowed, failed atomic.Uint64
}

// Start starts a Controller, which looks at all sessions at once. The error names a
// field of config.
func Start(config Config) (*Controller, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Controller{
		config: config, asking: make(chan struct{}, config.MaxInFlight), wake: make(chan struct{}, 1),
		woken: make(map[string]time.Time), silent: make(map[netip.Addr]time.Time),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.all.Go(c.run)
	return c, nil
}

// Close ends requests that are under way, and returns when no goroutine of the
// Controller is left. What was not finished is taken up by the next Controller of the
// Store. To call it again is harmless.
func (c *Controller) Close() {
	c.cancel()
	c.all.Wait()
}

// Wake has the sessions of a user looked at soon: something about the user has changed,
// as the balance by an accounting record. It returns at once.
func (c *Controller) Wake(user string) { c.wakeAt(user, time.Now().Add(c.config.Linger)) }

func (c *Controller) wakeAt(user string, at time.Time) {
	c.mu.Lock()
	was, there := c.woken[user]
	switch {
	case !there && len(c.woken) >= c.config.MaxWoken:
		c.overflowed.Add(1)
	case !there:
		c.woken[strings.Clone(user)] = at // not the memory of the whole record, of which it may be a part
	case at.Before(was):
		c.woken[user] = at
	}
	early := at.Before(c.sleeps)
	c.mu.Unlock()
	if early {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// due takes the users to look at now, page of them at most. Without one it returns when
// the next is, sweep at the latest.
func (c *Controller) due(now, sweep time.Time) (users []string, next time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next = sweep
	for user, at := range c.woken {
		switch {
		case !at.After(now) && len(users) < page:
			users = append(users, user)
			delete(c.woken, user)
		case at.Before(next):
			next = at
		}
	}
	c.sleeps = next
	return users, next
}

// run looks at sessions until Close.
func (c *Controller) run() {
	sweep := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.ctx.Err() == nil {
		now := time.Now()
		if !now.Before(sweep) {
			c.look(nil)
			sweep = time.Now().Add(c.config.Sweep)
			continue
		}
		users, next := c.due(now, sweep)
		if len(users) > 0 {
			c.look(users)
			continue
		}
		// Not more often than each Linger, however many are woken.
		timer.Reset(max(next.Sub(now), 0))
		select {
		case <-timer.C:
		case <-c.wake:
		case <-c.ctx.Done():
		}
	}
}

// look looks at the sessions of these users, or at all, page by page.
func (c *Controller) look(users []string) {
	for after := ""; c.ctx.Err() == nil; {
		c.looks.Add(1)
		items, more, err := c.config.Store.Sessions(c.ctx, time.Now(), users, after, page)
		if err != nil {
			c.fail("sessions not looked at", err)
			for _, u := range users {
				c.wakeAt(u, time.Now().Add(c.config.Timing.Backoff))
			}
			return
		}
		for i := range items {
			c.consider(&items[i])
		}
		if more == "" {
			return
		}
		after = more
	}
}

// fail counts and logs what the Store does not do.
func (c *Controller) fail(what string, err error) {
	if c.ctx.Err() != nil {
		return
	}
	if c.failed.Add(1)&(c.failed.Load()-1) == 0 { // the first, second, fourth, ...
		c.config.Logger.Error(what, zap.Uint64("since the start", c.failed.Load()), zap.Error(err))
	}
}

// Stats are counters since Start.
type Stats struct {
	Looks uint64 // questions to the Store

	// Requests that were answered, by how; and those that were not.
	Changes     uint64 // CoA-ACK
	Disconnects uint64 // Disconnect-ACK
	Refused     uint64 // NAK, but for those of a session that is not there
	NotFound    uint64 // NAK: Session-Context-Not-Found
	Silence     uint64 // no reply that was right
	Unreachable uint64 // no way to ask

	Deferred   uint64 // requests that were put off, since their NAS had just been silent
	Late       uint64 // claims that another server was faster with, or whose session ended
	Overflowed uint64 // Wakes that were left to the next sweep
	Failed     uint64 // errors of the Store
	Waiting    int    // users that wait to be looked at
}

// Stats returns the counters. Each is exact, though not all are of one moment.
func (c *Controller) Stats() Stats {
	c.mu.Lock()
	waiting := len(c.woken)
	c.mu.Unlock()
	return Stats{
		Looks: c.looks.Load(), Changes: c.changes.Load(), Disconnects: c.disconnects.Load(), Refused: c.refused.Load(),
		NotFound: c.notFound.Load(), Silence: c.silence.Load(), Unreachable: c.unreachable.Load(),
		Deferred: c.deferred.Load(), Late: c.late.Load(), Overflowed: c.overflowed.Load(), Failed: c.failed.Load(), Waiting: waiting,
	}
}
