package journal

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/internal/breaker"
)

// A call is one of the back end's methods while it runs.
type call struct {
	ctx    context.Context // what the method gets
	parent context.Context // of whoever asked
	cancel context.CancelFunc

	j       *Journal
	side    *side
	probe   bool
	ended   bool
	short   bool // it had less time than a back end may take, so that to run out of it says nothing
	outcome breaker.Outcome
	err     error // the first that was no answer
}

// newCall begins a call that the breaker has allowed. It takes at most limit.
func (j *Journal) newCall(ctx context.Context, now time.Time, s *side, probe bool, limit time.Duration) call {
	c := call{parent: ctx, j: j, side: s, probe: probe}
	if deadline, ok := ctx.Deadline(); ok && deadline.Sub(now) < limit {
		c.short = true
	}
	c.ctx, c.cancel = context.WithTimeout(ctx, limit)
	return c
}

// judge learns from one answer. An error that is theirs comes from what was asked:
// it is an answer all the same.
func (c *call) judge(err, theirs error) {
	switch {
	case err == nil || errors.Is(err, theirs):
		c.outcome = breaker.Passed
	case c.outcome == breaker.Passed || c.parent.Err() != nil || c.short && c.ctx.Err() != nil:
	default:
		c.outcome = breaker.Failed
		if c.err == nil {
			c.err = err
		}
	}
}

// end tells the breaker. It may be called twice: for a method that panics it is
// deferred.
func (c *call) end() {
	if c.ended {
		return
	}
	c.ended = true
	c.cancel()
	now := time.Now()
	c.j.mu.Lock()
	changed := c.side.End(now, c.probe, c.outcome, c.err)
	s := *c.side
	c.j.mu.Unlock()
	if changed {
		c.j.changed(now, &s)
	}
}

// changed says that the back end has come or gone. s is a copy of its side.
func (j *Journal) changed(now time.Time, s *side) {
	signal(j.more)
	if s.Away() {
		j.o.Logger.Error("journal: the back end does not answer", zap.String("what", s.what), zap.NamedError("error", s.Err()))
		return
	}
	j.o.Logger.Info("journal: the back end answers again", zap.String("what", s.what), zap.Duration("after", now.Sub(s.Since())))
}

// gone takes the back end for away: it has failed to store a whole batch.
func (j *Journal) gone(err error) {
	now := time.Now()
	j.mu.Lock()
	was := j.account.Away()
	if !was {
		j.account.Open(now, err)
	}
	s := j.account
	j.mu.Unlock()
	if !was {
		j.changed(now, &s)
	}
}
