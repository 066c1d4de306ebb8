package journal

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
)

// A call is one of the back end's methods while it runs.
type call struct {
	ctx    context.Context // what the method gets
	parent context.Context // of whoever asked
	cancel context.CancelFunc

	j       *Journal
	breaker *breaker
	probe   bool
	ended   bool
	short   bool // it had less time than a back end may take, so that to run out of it says nothing
	outcome outcome
	err     error // the first that was no answer
}

// newCall begins a call that the breaker has allowed. It takes at most limit.
func (j *Journal) newCall(ctx context.Context, now time.Time, b *breaker, probe bool, limit time.Duration) call {
	c := call{parent: ctx, j: j, breaker: b, probe: probe}
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
		c.outcome = passed
	case c.outcome == passed || c.parent.Err() != nil || c.short && c.ctx.Err() != nil:
	default:
		c.outcome = failed
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
	changed := c.breaker.end(now, c.probe, c.outcome, c.err)
	b := *c.breaker
	c.j.mu.Unlock()
	if changed {
		c.j.changed(now, &b)
	}
}

// changed says that the back end has come or gone. b is a copy of its breaker.
func (j *Journal) changed(now time.Time, b *breaker) {
	signal(j.more)
	if b.away {
		j.o.Logger.Error("journal: the back end does not answer", zap.String("what", b.what), zap.NamedError("error", errors.Unwrap(b.err)))
		return
	}
	j.o.Logger.Info("journal: the back end answers again", zap.String("what", b.what), zap.Duration("after", now.Sub(b.since)))
}

// gone takes the back end for away: it has failed to store a whole batch.
func (j *Journal) gone(err error) {
	now := time.Now()
	j.mu.Lock()
	was := j.account.away
	if !was {
		j.account.open(now, err)
	}
	b := j.account
	j.mu.Unlock()
	if !was {
		j.changed(now, &b)
	}
}
