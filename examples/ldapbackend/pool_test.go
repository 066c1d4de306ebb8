package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-ldap/ldap/v3"
)

// fakeConn is a connection whose use f is told about, and that can be dead.
type fakeConn struct {
	closed, dead atomic.Bool
	ended        chan struct{}
}

func (c *fakeConn) Search(*ldap.SearchRequest) (*ldap.SearchResult, error) {
	if c.dead.Load() {
		return nil, ldap.NewError(ldap.ErrorNetwork, errors.New("reset"))
	}
	return new(ldap.SearchResult), nil
}
func (c *fakeConn) Bind(string, string) error { return nil }
func (c *fakeConn) IsClosing() bool           { return c.closed.Load() }
func (c *fakeConn) Close() error {
	if !c.closed.Swap(true) {
		close(c.ended)
	}
	return nil
}

// fakes is a pool of fakeConns, and all that it dialled.
type fakes struct {
	*pool
	all  []*fakeConn // one goroutine dials at a time
	down error
}

func newFakes(size int) *fakes {
	f := new(fakes)
	f.pool = newPool(size, time.Minute, func(context.Context) (conn, error) {
		if f.down != nil {
			return nil, f.down
		}
		c := &fakeConn{ended: make(chan struct{})}
		f.all = append(f.all, c)
		return c, nil
	})
	return f
}

func search(c conn) error {
	_, err := c.Search(nil)
	return err
}

func TestPoolReuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(2)
		for range 5 {
			if err := f.do(t.Context(), search); err != nil {
				t.Fatal(err)
			}
		}
		if len(f.all) != 1 {
			t.Errorf("%d connections for one request at a time", len(f.all))
		}
		time.Sleep(61 * time.Second) // idle for too long
		if err := f.do(t.Context(), search); err != nil || len(f.all) != 2 || !f.all[0].IsClosing() {
			t.Errorf("%v, %d connections, the old one closed: %v", err, len(f.all), f.all[0].IsClosing())
		}
		// What the directory answers leaves the connection as it is.
		wrong := ldap.NewError(ldap.LDAPResultInvalidCredentials, errors.New("wrong"))
		if err := f.do(t.Context(), func(conn) error { return wrong }); !errors.Is(err, wrong) || f.all[1].IsClosing() {
			t.Errorf("%v, closed: %v", err, f.all[1].IsClosing())
		}
		f.close()
		if !f.all[1].IsClosing() {
			t.Error("a connection is open after close")
		}
		if err := f.do(t.Context(), search); err != nil || !f.all[2].IsClosing() {
			t.Errorf("after close: %v; a connection that was in use stays open", err)
		}
	})
}

// A directory that was restarted costs one more try, whatever number of connections
// it has broken.
func TestPoolReconnects(t *testing.T) {
	f := newFakes(3)
	release := make(chan struct{})
	ready, done := make(chan struct{}), make(chan error)
	for range 3 {
		go func() {
			done <- f.do(t.Context(), func(conn) error { ready <- struct{}{}; <-release; return nil })
		}()
		<-ready // one dials at a time
	}
	close(release)
	for range 3 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range f.all {
		c.dead.Store(true)
	}
	if err := f.do(t.Context(), search); err != nil || len(f.all) != 4 {
		t.Errorf("%v, %d connections", err, len(f.all))
	}
	for i, c := range f.all[:3] {
		if !c.IsClosing() {
			t.Errorf("connection %d is kept", i)
		}
	}
	f.all[3].dead.Store(true)
	f.down = errors.New("refused")
	if err := f.do(t.Context(), search); !errors.Is(err, f.down) {
		t.Errorf("a directory that is away: %v", err)
	}
}

// Who finds all places taken waits, and no longer than its context.
func TestPoolIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(1)
		release := make(chan struct{})
		first := make(chan error)
		go func() { first <- f.do(t.Context(), func(conn) error { <-release; return nil }) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.do(ctx, search); !errors.Is(err, context.DeadlineExceeded) || len(f.all) != 1 {
			t.Errorf("%v, %d connections", err, len(f.all))
		}
		close(release)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// The end of a context ends what waits for the directory.
func TestPoolCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := f.do(ctx, func(c conn) error {
			<-c.(*fakeConn).ended
			return ldap.NewError(ldap.ErrorNetwork, errors.New("closed"))
		})
		if !errors.Is(err, context.DeadlineExceeded) || len(f.all) != 1 {
			t.Errorf("%v, %d connections", err, len(f.all))
		}
	})
}
