package radpool

import (
	"context"
	"sync"
	"time"
)

// requestContext is the context of one request. It is a context.WithDeadline
// that is made only when somebody asks for Done: most handlers never do, and
// then a request costs neither an allocation nor a timer.
type requestContext struct {
	base     context.Context // the server's: done when it is closed
	deadline time.Time

	mu     sync.Mutex
	inner  context.Context // nil until Done is called
	cancel context.CancelFunc
	ended  bool
}

func (c *requestContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *requestContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithDeadline(c.base, c.deadline)
		if c.ended {
			c.cancel()
		}
	}
	return c.inner.Done()
}

func (c *requestContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inner != nil:
		return c.inner.Err()
	case c.ended:
		return context.Canceled
	case c.base.Err() != nil:
		return c.base.Err()
	case !time.Now().Before(c.deadline):
		return context.DeadlineExceeded
	}
	return nil
}

// Value asks the inner context where there is one, so that package context
// finds its own type behind this one and needs no goroutine to follow it.
func (c *requestContext) Value(key any) any {
	c.mu.Lock()
	inner := c.inner
	c.mu.Unlock()
	if inner != nil {
		return inner.Value(key)
	}
	return c.base.Value(key)
}

// end cancels the context, and reports whether it may serve another request:
// not when somebody has seen its Done channel and may still hold it.
func (c *requestContext) end() (reusable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
	return c.inner == nil
}

// begin makes a context that has ended the context of another request. Somebody
// who kept it against the rules may have called Done since: what that made is over,
// and must not be this request's.
func (c *requestContext) begin(base context.Context, deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.deadline, c.ended = base, deadline, false
	c.inner, c.cancel = nil, nil
}
