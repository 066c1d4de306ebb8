package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/bound"
	"github.com/radpool/radpool/billing/internal/breaker"
	"github.com/radpool/radpool/radpool/metrics"
)

// ErrOpen marks the error of what a [Breaker] does not let through. As any error it is no
// answer: the NAS asks another server.
var ErrOpen = errors.New("the back end has not answered lately and is not asked")

// BreakerOptions say when a [Breaker] opens. A zero field means its default; what is out
// of its bounds is an error of NewBreaker.
type BreakerOptions struct {
	// Failures is how many calls in a row must fail before the back end is taken for
	// away: 1 to 1,000. 0: 3.
	Failures int

	// ProbeInterval is the time between the calls that ask whether an absent back end is
	// back: 1 ms to 1 minute. 0: 250 ms.
	ProbeInterval time.Duration

	// Timeout is the most that one call may take: up to 1 minute. 0: as long as the
	// request has left.
	Timeout time.Duration

	// Changed, if not nil, is told that the back end has gone, with what it failed with,
	// or has come back, with nil. It is called by a worker and must not block.
	Changed func(what string, err error)
}

// A Breaker is a circuit breaker: while the back end does not answer, what would only wait
// for a timeout fails at once, so that workers stay free and the NAS goes to another server
// soon; and a back end that comes back is not met by all at once. From time to time one
// call, a probe, asks whether it is back. At most 8 are under way at once.
//
// Access-Requests, accounting and addresses are told apart: a database may read and not
// write. An error that is billing.ErrSubscriber or billing.ErrRecord is an answer. A call
// whose context was cancelled says nothing, and one that has run out of time has failed. A
// batch of which one was answered is an answer.
//
// Package journal has one of its own, and keeps accounting meanwhile; a Breaker is for
// those who use none. One belongs to one Handler. Its methods may be called by many
// goroutines.
type Breaker struct {
	o                       BreakerOptions
	access, accounting, lot side
}

// A side is the state for one kind of question.
type side struct {
	what    string
	o       *BreakerOptions
	mu      sync.Mutex // held for a moment; never while something is called
	machine breaker.Breaker
	refused uint64
}

// NewBreaker returns a Breaker that is closed. The error names each field of o that is out
// of its bounds.
func NewBreaker(o BreakerOptions) (*Breaker, error) {
	err := errors.Join(
		bound.Field("Failures", &o.Failures, breaker.OpensAfter, 1, 1000),
		bound.Field("ProbeInterval", &o.ProbeInterval, 250*time.Millisecond, time.Millisecond, time.Minute),
		bound.Field("Timeout", &o.Timeout, 0, 0, time.Minute),
	)
	if err != nil {
		return nil, fmt.Errorf("middleware: BreakerOptions: %w", err)
	}
	b := &Breaker{o: o}
	for s, what := range map[*side]string{&b.access: "Access-Requests", &b.accounting: "accounting", &b.lot: "addresses"} {
		s.what, s.o = what, &b.o
		s.machine = breaker.Breaker{Interval: o.ProbeInterval, OpensAfter: o.Failures}
	}
	return b, nil
}

// Middleware puts the Breaker before h. It is a billing.Middleware.
func (b *Breaker) Middleware(h billing.Handler) billing.Handler {
	return billing.Around{
		Authorize: func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error, next billing.AuthorizeFunc) {
			call, err := b.access.begin(ctx)
			if err != nil {
				fill(errs, err)
				return
			}
			defer call.end()
			next(call.ctx, reqs, grants, errs)
			call.judge(errs, billing.ErrSubscriber)
		},
		Account: func(ctx context.Context, recs []*billing.AccountingRecord, errs []error, next billing.AccountFunc) {
			call, err := b.accounting.begin(ctx)
			if err != nil {
				fill(errs, err)
				return
			}
			defer call.end()
			next(call.ctx, recs, errs)
			call.judge(errs, billing.ErrRecord)
		},
		Lease: func(ctx context.Context, leases []*billing.AddressLease, next billing.LeaseFunc) {
			call, err := b.lot.begin(ctx)
			if err != nil {
				for _, l := range leases {
					l.Err = err
				}
				return
			}
			defer call.end()
			next(call.ctx, leases)
			errs := make([]error, len(leases))
			for i, l := range leases {
				errs[i] = l.Err
			}
			call.judge(errs, billing.ErrSubscriber)
		},
	}.Wrap(h)
}

// A call is one that was let through.
type call struct {
	side    *side
	ctx     context.Context
	cancel  context.CancelFunc
	parent  context.Context
	probe   bool
	outcome breaker.Outcome
	err     error
}

// begin begins a call, or says why there is none.
func (s *side) begin(ctx context.Context) (call, error) {
	now := time.Now()
	s.mu.Lock()
	probe, ok := s.machine.Allow(now)
	if !ok {
		s.refused++
		since, err := s.machine.Since(), s.machine.Err()
		s.mu.Unlock()
		return call{}, fmt.Errorf("middleware: %s: %w since %s: %w", s.what, ErrOpen, since.Format(time.RFC3339), err)
	}
	s.mu.Unlock()
	// What panics has failed.
	c := call{side: s, ctx: ctx, parent: ctx, probe: probe, outcome: breaker.Failed, err: errPanic}
	if s.o.Timeout > 0 {
		c.ctx, c.cancel = context.WithTimeout(ctx, s.o.Timeout)
	}
	return c, nil
}

// judge learns from the answers of one call. An error that is theirs comes from what was
// asked: it is an answer all the same.
func (c *call) judge(errs []error, theirs error) {
	c.outcome, c.err = breaker.Unknown, nil
	for _, err := range errs {
		switch {
		case err == nil || errors.Is(err, theirs):
			c.outcome, c.err = breaker.Passed, nil
			return
		case errors.Is(c.parent.Err(), context.Canceled): // nobody waits any more
		case c.outcome != breaker.Failed:
			c.outcome, c.err = breaker.Failed, err
		}
	}
}

// end tells the state machine.
func (c *call) end() {
	if c.cancel != nil {
		c.cancel()
	}
	s := c.side
	s.mu.Lock()
	changed := s.machine.End(time.Now(), c.probe, c.outcome, c.err)
	s.mu.Unlock()
	if changed && s.o.Changed != nil {
		s.o.Changed(s.what, c.err)
	}
}

// BreakerStats are counters of a [Breaker]. A call is a question or a batch of them.
type BreakerStats struct {
	AccessOpen, AccountingOpen, AddressesOpen bool   // the back end is taken for away
	Opened                                    uint64 // how often it was
	Refused                                   uint64 // calls that were not let through
}

// Stats returns the counters as they are now.
func (b *Breaker) Stats() BreakerStats {
	var st BreakerStats
	for s, open := range map[*side]*bool{&b.access: &st.AccessOpen, &b.accounting: &st.AccountingOpen, &b.lot: &st.AddressesOpen} {
		s.mu.Lock()
		*open = s.machine.Away()
		st.Opened += s.machine.Times()
		st.Refused += s.refused
		s.mu.Unlock()
	}
	return st
}

// Metrics has what Stats counts, for monitoring systems.
func (b *Breaker) Metrics() metrics.Source {
	return metrics.New(b.Stats,
		metrics.Levels("radpool_breaker_open", "1 while the back end is taken for away.", []string{"what"}, func(s *BreakerStats, add func(float64, ...string)) {
			for what, open := range map[string]bool{"access": s.AccessOpen, "accounting": s.AccountingOpen, "addresses": s.AddressesOpen} {
				if open {
					add(1, what)
				} else {
					add(0, what)
				}
			}
		}),
		metrics.Count("radpool_breaker_opened_total", "How often the back end was taken for away.", func(s *BreakerStats) uint64 { return s.Opened }),
		metrics.Count("radpool_breaker_refused_total", "Calls that were not let through to the back end.", func(s *BreakerStats) uint64 { return s.Refused }),
	)
}
