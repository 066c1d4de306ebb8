package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-ldap/ldap/v3"
)

// A conn is what is used of an *ldap.Conn.
type conn interface {
	Search(*ldap.SearchRequest) (*ldap.SearchResult, error)
	Bind(dn, password string) error
	IsClosing() bool
	Close() error
}

// A pool keeps connections to the directory that are used by one request at a time.
// There are never more than it has places for: who comes when all are taken waits for
// one, as long as its context allows. All methods are safe for concurrent use.
type pool struct {
	dial    func(context.Context) (conn, error)
	idleFor time.Duration // a connection that was idle for longer is not trusted any more

	places chan struct{}

	mu     sync.Mutex
	idle   []idleConn // guarded by mu; the one that was used last is last
	closed bool       // guarded by mu
}

type idleConn struct {
	conn
	since time.Time
}

// newPool returns a pool of at most size connections. It dials none yet.
func newPool(size int, idleFor time.Duration, dial func(context.Context) (conn, error)) *pool {
	return &pool{dial: dial, idleFor: idleFor, places: make(chan struct{}, size)}
}

// do calls f with a connection that is f's alone. When ctx ends the connection is
// closed, which ends what f waits for. A connection that was idle may turn out dead (the
// directory was restarted): then f is called once more, with a new one. So f must be
// harmless to repeat, as asking is.
func (p *pool) do(ctx context.Context, f func(conn) error) error {
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	case <-ctx.Done():
		return fmt.Errorf("waiting for a connection to the directory: %w", ctx.Err())
	}
	if c := p.take(time.Now()); c != nil {
		err := p.use(ctx, c, f)
		if !broken(err) || ctx.Err() != nil {
			return err
		}
		p.forget() // the others were made before the directory went away, too
	}
	c, err := p.dial(ctx)
	if err != nil {
		return err
	}
	return p.use(ctx, c, f)
}

func (p *pool) use(ctx context.Context, c conn, f func(conn) error) error {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	err := f(c)
	if stop() && !broken(err) {
		p.put(c, time.Now())
		return err
	}
	_ = c.Close() // there is nothing to lose on it
	if ended := ctx.Err(); ended != nil && err != nil {
		return fmt.Errorf("the directory did not answer in time: %w", ended)
	}
	return err
}

// take returns the connection that was used last, or nil.
func (p *pool) take(now time.Time) conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if now.Sub(c.since) <= p.idleFor && !c.IsClosing() {
			return c.conn
		}
		_ = c.Close()
	}
	return nil
}

func (p *pool) put(c conn, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.IsClosing() {
		_ = c.Close()
		return
	}
	p.idle = append(p.idle, idleConn{c, now})
}

// forget closes the connections that are idle.
func (p *pool) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		_ = c.Close()
	}
	p.idle = nil
}

// close closes the connections that are idle now, and those in use when they are
// given back.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.forget()
}

// broken reports whether err says that the connection is of no use any more. What the
// directory itself answers, such as that a password is wrong, leaves it as it is.
func broken(err error) bool {
	if err == nil {
		return false
	}
	answer, ok := errors.AsType[*ldap.Error](err)
	return !ok || answer.ResultCode >= ldap.ErrorNetwork || answer.ResultCode == ldap.LDAPResultUnavailable ||
		answer.ResultCode == ldap.LDAPResultProtocolError
}
