package radpool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/radpool"
)

// Shutdown drains; jobs that expire meanwhile are dropped; nothing is accepted.
func TestPoolShutdownDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Fixed(2),
			Run:    func(_ *radpool.Worker, jobs []int) { time.Sleep(time.Second); log.add("%d", jobs[0]) },
			Drop:   func(v int, _ radpool.Class, why radpool.Drop) { log.add("%v:%d", why, v) },
		})
		for i := range 7 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, i)
		}
		_ = p.Submit(radpool.ClassInterim, time.Now().Add(2*time.Second), 7)
		begin := time.Now()
		done := make(chan error, 3)
		for range 3 {
			go func() { done <- p.Shutdown(context.Background()) }()
		}
		synctest.Wait()
		if err := p.Submit(radpool.ClassAccess, time.Time{}, 9); !errors.Is(err, radpool.ErrPoolClosed) {
			t.Error(err)
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(begin); d != 4*time.Second {
			t.Errorf("took %v", d)
		}
		if s := p.Stats(); s.Completed != 7 || s.Expired != 1 || s.Closed != 1 || s.Workers != 0 {
			t.Errorf("%+v: %s", s, log.take())
		}
		closePool(t, p)
	})
}

func TestPoolShutdownOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Fixed(1),
			Run:    func(_ *radpool.Worker, jobs []int) { time.Sleep(3 * time.Second); log.add("%d", jobs[0]) },
			Drop:   func(v int, _ radpool.Class, why radpool.Drop) { log.add("%v:%d", why, v) },
		})
		for i := range 4 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, i)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if got := log.take(); got != "0 closed:2 closed:3 1" || time.Since(begin) != 6*time.Second {
			t.Errorf("%s, after %v", got, time.Since(begin))
		}
		closePool(t, p)
	})
}

func TestPoolCloseJoinsRunningAndDropsWaiting(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Fixed(2),
			Run:    func(*radpool.Worker, []int) { time.Sleep(time.Second); log.add("ran") },
			Drop:   func(_ int, _ radpool.Class, why radpool.Drop) { log.add("%v", why) },
		})
		for i := range 102 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, i)
		}
		synctest.Wait()
		closePool(t, p)
		if got, want := log.take(), strings.Repeat("closed ", 100)+"ran ran"; got != want {
			t.Error(got)
		}
		if s := p.Stats(); s.Closed != 100 || s.Completed != 2 || s.Workers != 0 {
			t.Errorf("%+v", s)
		}
		closePool(t, p) // again
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Nothing of the user's runs after Close: it waits for a caller of Submit that
// is still telling of a job that gave way.
func TestPoolCloseWaitsForDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[string]{
			MaxQueueSize: 1,
			Policy:       radpool.Fixed(1),
			Run:          func(*radpool.Worker, []string) { <-hold },
			Drop: func(_ string, _ radpool.Class, why radpool.Drop) {
				if why == radpool.DropEvicted {
					time.Sleep(5 * time.Second)
				}
			},
		})
		_ = p.Submit(radpool.ClassAccess, time.Time{}, "running")
		synctest.Wait()
		_ = p.Submit(radpool.ClassInterim, time.Time{}, "gives way")
		go func() { _ = p.Submit(radpool.ClassAccess, time.Time{}, "comes in") }()
		synctest.Wait()
		close(hold)
		begin := time.Now()
		closePool(t, p)
		if d := time.Since(begin); d != 5*time.Second {
			t.Errorf("closed after %v", d)
		}
	})
}
