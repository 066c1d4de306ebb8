package sqlbilling_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// While a statement is young what comes waits for its connection; a spare one is used beside a statement that hangs, for as
// long as that does, and without waiting each time.
func TestSpareConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const after = 10 * time.Millisecond
		start := time.Now()
		var mu sync.Mutex
		begun := make(map[string]time.Duration)
		together := sqlbilling.NewTogether(2, 10, func(_ context.Context, names []string) error {
			mu.Lock()
			for _, name := range names {
				begun[name] = time.Since(start)
			}
			mu.Unlock()
			took := time.Millisecond
			if slices.Contains(names, "hangs") {
				took = time.Second
			}
			time.Sleep(took)
			return nil
		}).SpareAfter(after)
		var wg sync.WaitGroup
		ask := func(name string, at time.Duration) {
			wg.Go(func() {
				time.Sleep(at)
				if _, err := together.Find(t.Context(), name); err != nil {
					t.Error(name, err)
				}
			})
		}
		const ms = time.Millisecond
		ask("young", 0)
		ask("waits", ms/2) // for the end of young
		ask("hangs", 100*ms)
		ask("held off", 101*ms)      // until hangs is no longer young
		ask("meanwhile", 111*ms+1)   // while the spare connection is in use
		ask("spare", 200*ms)         // beside what hangs, at once
		ask("waits again", 200*ms+1) // for the end of spare
		ask("over", 1200*ms)
		ask("waits at last", 1200*ms+1)
		wg.Wait()
		want := map[string]time.Duration{
			"young": 0, "waits": ms, "hangs": 100 * ms, "held off": 110 * ms, "meanwhile": 111*ms + 1, "spare": 200 * ms,
			"waits again": 201 * ms, "over": 1200 * ms, "waits at last": 1201 * ms,
		}
		for name, at := range want {
			if begun[name] != at {
				t.Errorf("%s was asked after %v, want %v", name, begun[name], at)
			}
		}
	})
}

// Whatever takes how long, and whoever gives up: never are there more statements than connections, and at the end nothing is
// left that would make another wait.
func TestSpareConnectionAtRandom(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			const after = 10 * time.Millisecond
			random := rand.New(rand.NewPCG(seed, 1))
			running := 1 + random.IntN(3)
			var mu sync.Mutex
			active := 0
			together := sqlbilling.NewTogether(running, 1+random.IntN(8), func(ctx context.Context, names []string) error {
				if names[0] == "last" {
					return nil
				}
				mu.Lock()
				if active++; active > running {
					t.Errorf("seed %d: %d statements at once on %d connections", seed, active, running)
				}
				took := time.Duration(random.ExpFloat64() * float64(2*time.Millisecond))
				if random.IntN(10) == 0 {
					took *= 30
				}
				mu.Unlock()
				defer func() {
					mu.Lock()
					active--
					mu.Unlock()
				}()
				select {
				case <-time.After(took):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}).SpareAfter(after)
			var wg sync.WaitGroup
			var at, patience [300]time.Duration
			for i := range at {
				at[i] = time.Duration(random.IntN(int(300 * time.Millisecond)))
				patience[i] = time.Duration(1+random.IntN(2000)) * time.Millisecond
			}
			for i := range at {
				wg.Go(func() {
					time.Sleep(at[i])
					ctx, cancel := context.WithTimeout(t.Context(), patience[i])
					defer cancel()
					if _, err := together.Find(ctx, "name"); err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("seed %d: %v", seed, err)
					}
				})
			}
			wg.Wait()
			synctest.Wait()
			if active != 0 {
				t.Errorf("seed %d: %d statements are left", seed, active)
			}
			began := time.Now()
			if _, err := together.Find(t.Context(), "last"); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("seed %d: the last question took %v", seed, took)
			}
		})
	}
}
