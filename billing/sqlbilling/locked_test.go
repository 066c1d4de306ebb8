package sqlbilling_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// Several processes that start at once on a database that none of them has made yet
// wait for each other.
func TestOpenAtOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		dsn, _, _ := e.Create(t)
		var wg sync.WaitGroup
		var mu sync.Mutex
		total := 0
		for range 4 {
			wg.Go(func() {
				b, err := sqlbilling.Open(t.Context(), dsn, sqlbilling.Options{WriteTimeout: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				n, err := b.EnsureDemo(t.Context(), 1000)
				if err := errors.Join(err, b.Close()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				total += n
				mu.Unlock()
			})
		}
		wg.Wait()
		if total != 1000 {
			t.Errorf("%d demo users were added, want 1000", total)
		}
	})
}

// While another process has the database locked Open waits, and not for ever.
func TestOpenLocked(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.exec("BEGIN IMMEDIATE")
	_, err := sqlbilling.Open(t.Context(), "sqlite:"+f.file, sqlbilling.Options{WriteTimeout: 200 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "locked") {
		t.Errorf("locked: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = sqlbilling.Open(ctx, "sqlite:"+f.file, sqlbilling.Options{WriteTimeout: time.Minute}); !errors.Is(err, context.Canceled) {
		t.Errorf("locked, and the context done: %v", err)
	}
	done := make(chan error)
	go func() {
		b, err := sqlbilling.Open(t.Context(), "sqlite:"+f.file, sqlbilling.Options{WriteTimeout: time.Minute})
		if err == nil {
			err = b.Close()
		}
		done <- err
	}()
	f.exec("ROLLBACK")
	if err := <-done; err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// Once a group has waited for a lock in vain the others try once, so that those
// who wait for them are free again; when the lock is gone all is as before.
func TestLockedFailsFast(t *testing.T) {
	f := open(t, sqlbilling.Options{WriteTimeout: 500 * time.Millisecond})
	for round := range 2 {
		f.exec("BEGIN IMMEDIATE")
		before := f.Stats().Retries
		if err := f.Account(t.Context(), record("a", billing.Start, int64(round))); err == nil {
			t.Fatal("written in spite of the lock")
		}
		first := f.Stats().Retries - before
		if first < 2 {
			t.Errorf("round %d: the first group was tried %d times, want more", round, first)
		}
		for range 3 {
			before = f.Stats().Retries
			if err := f.Account(t.Context(), record("a", billing.Start, int64(round))); err == nil || !strings.Contains(err.Error(), "locked") {
				t.Fatal(err)
			}
			if n := f.Stats().Retries - before; n != 1 {
				t.Errorf("round %d: another group was tried %d times, want once", round, n)
			}
		}
		f.exec("ROLLBACK")
		f.account(record("a", billing.Start, int64(round)))
	}
}

// Rows of radpostauth wait for a lock to go as long as there is room for them,
// and Close does not.
func TestPostAuthWaitsForLock(t *testing.T) {
	f := open(t, sqlbilling.Options{WriteTimeout: time.Second})
	result := &billing.AuthResult{Access: &billing.AccessRequest{UserName: "alice"}, Accepted: true, Time: at(0)}
	f.exec("BEGIN IMMEDIATE")
	f.PostAuth(result)
	if err := f.Account(t.Context(), record("s", billing.Start, 0)); err == nil { // a second passes
		t.Fatal("written in spite of the lock")
	}
	if s := f.Stats(); s.PostAuthFailed != 0 || s.PostAuthWritten != 0 {
		t.Errorf("while it is locked: %+v", s)
	}
	f.exec("ROLLBACK")
	until(t, "the row is not written", func() bool { return f.Stats().PostAuthWritten == 1 })

	f.exec("BEGIN IMMEDIATE")
	f.PostAuth(result)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if s := f.Stats(); s.PostAuthFailed != 1 {
		t.Errorf("closed while it is locked: %+v", s)
	}
	f.exec("ROLLBACK")
}
