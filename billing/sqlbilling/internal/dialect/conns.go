package dialect

import (
	"context"
	"errors"
	"sync"
)

// Conns are connections that are kept open, each with its statements prepared.
// How many are in use at once is up to the callers.
type Conns[C any] struct {
	Open func(ctx context.Context) (C, error)
	// Close closes one, whether or not the server is still there to hear of it.
	Close func(C)
	// Gone reports whether a connection cannot be used any more after err.
	Gone func(c C, err error) bool
	// Lost reports whether err says only that the connection went away, so that
	// what is only read can be read on another one.
	Lost func(err error) bool

	mu     sync.Mutex
	idle   []C  // the last is the one that was used last; guarded by mu
	closed bool // guarded by mu
}

// errClosed is what Do returns after Shut.
var errClosed = errors.New("the connections are closed")

// Do runs f on a connection. One that was idle may have been cut off by the
// server in the meantime; then f runs again, on a new one.
func (p *Conns[C]) Do(ctx context.Context, f func(C) error) error {
	c, used, err := p.take(ctx)
	if err != nil {
		return err
	}
	err = p.run(c, f)
	if err == nil || !used || !p.Lost(err) || ctx.Err() != nil {
		return err
	}
	p.drop() // they were cut off together
	if c, _, err = p.take(ctx); err != nil {
		return err
	}
	return p.run(c, f)
}

func (p *Conns[C]) run(c C, f func(C) error) error {
	err := f(c)
	if err != nil && p.Gone(c, err) {
		p.Close(c)
		return err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.Close(c)
		return err
	}
	p.idle = append(p.idle, c)
	p.mu.Unlock()
	return err
}

func (p *Conns[C]) take(ctx context.Context) (c C, used bool, err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return c, false, errClosed
	}
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
		p.mu.Unlock()
		return c, true, nil
	}
	p.mu.Unlock()
	c, err = p.Open(ctx)
	return c, false, err
}

// drop closes what is idle.
func (p *Conns[C]) drop() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		p.Close(c)
	}
}

// Shut closes what is idle, and what is in use when it is free.
func (p *Conns[C]) Shut() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		p.Close(c)
	}
}
