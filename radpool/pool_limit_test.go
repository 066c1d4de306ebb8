package radpool_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

// policyFunc is a Policy that is a function.
type policyFunc func(now time.Time, s radpool.Snapshot) radpool.Decision

func (f policyFunc) Decide(now time.Time, s radpool.Snapshot) radpool.Decision { return f(now, s) }

// However many workers there are and whatever waits, as many run as the policy
// permits: at once where it permits more, and as they come back where it permits
// less.
func TestPoolLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := []int{2, 5, 1, 0, 3}
		begin := time.Now()
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: policyFunc(func(_ time.Time, s radpool.Snapshot) radpool.Decision {
				turn, _ := s.State.(int)
				d := radpool.Decision{Spawn: 8 - s.Workers, Limit: limits[min(turn, 4)], State: turn + 1}
				if turn < 4 {
					d.Next = begin.Add(time.Duration(turn+1)*10*time.Second - 10*time.Millisecond) // at no moment at which a job ends
				}
				return d
			}),
			Run: func(*radpool.Worker, []int) { time.Sleep(time.Second) },
		})
		const jobs = 250
		for range jobs {
			if err := p.Submit(radpool.ClassAccess, time.Time{}, 0); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		for _, limit := range limits {
			want := limit
			if limit == 0 {
				want = 8
			}
			for range 2 {
				synctest.Wait()
				if s := p.Stats(); s.Busy != want || s.Running != want || s.Workers != 8 || s.Idle != 8-want || s.Limit != limit {
					t.Errorf("after %v: %+v; want %d busy", time.Since(begin), s, want)
				}
				time.Sleep(5 * time.Second)
			}
		}
		time.Sleep(time.Minute)
		if s := p.Stats(); s.Completed != jobs || s.BusyTime != jobs*time.Second || s.DoneTime != s.BusyTime {
			t.Errorf("in the end: %+v", s)
		}
		closePool(t, p)
	})
}

// What the policy is told adds up to what was run, also for batches and panics.
func TestPoolTellsThePolicyWhatWasRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last radpool.Snapshot
		p := newTestPool(t, radpool.PoolConfig[int]{
			MaxBatch: 4,
			Policy: policyFunc(func(now time.Time, s radpool.Snapshot) radpool.Decision {
				last = s
				return radpool.Decision{Spawn: 1 - s.Workers, Next: now.Add(time.Second), State: now}
			}),
			Run: func(_ *radpool.Worker, jobs []int) {
				time.Sleep(time.Duration(jobs[0]) * time.Millisecond)
				if len(jobs) == 2 {
					panic("bad")
				}
			},
			Panic: func(*radpool.Worker, []int, any, []byte) {},
		})
		for _, n := range []int{100, 200, 200, 200, 200, 400, 400} { // one, then four, then two
			_ = p.Submit(radpool.ClassAccess, time.Time{}, n)
			synctest.Wait()
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if last.Done != 7 || last.Runs != 3 || last.DoneTime != 700*time.Millisecond || last.BusyTime != last.DoneTime || last.State != time.Now().Add(-1100*time.Millisecond) {
			t.Errorf("%+v", last)
		}
		closePool(t, p)
	})
}

// A limit that changes all the time, with workers that are lent, replaced, and
// broken: every job ends once, and the last of them too.
func TestPoolLimitLosesNoJob(t *testing.T) {
	for round := range 8 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		var lent atomic.Int64
		p := newTestPool(t, radpool.PoolConfig[*lentJob]{
			MaxBatch: 1 + r.IntN(4), MaxRequestsPerServer: r.IntN(4),
			Policy: policyFunc(func(now time.Time, s radpool.Snapshot) radpool.Decision {
				return radpool.Decision{Spawn: 5 - s.Workers, Limit: 1 + now.Nanosecond()/1000%4, Next: now.Add(time.Millisecond), IdleLow: now.Nanosecond() / 1000 % 3}
			}),
			Run: func(_ *radpool.Worker, jobs []*lentJob) {
				for _, j := range jobs {
					j.ends.Add(1)
				}
				runtime.Gosched()
				switch {
				case jobs[0].panic:
					panic("chaos")
				case jobs[0].exit:
					runtime.Goexit()
				}
			},
			Drop:  func(j *lentJob, _ radpool.Class, _ radpool.Drop) { j.ends.Add(1) },
			Panic: func(*radpool.Worker, []*lentJob, any, []byte) {},
		})
		jobs := make([]lentJob, 1500)
		submitLent(p, r, jobs, &lent)
		// Nobody submits any more: what waits must end without that.
		for s := p.Stats(); s.Queued+s.Running > 0; s = p.Stats() {
			runtime.Gosched()
		}
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			if n := jobs[i].ends.Load(); n != 1 {
				t.Fatalf("round %d, seed %d: job %d has ended %d times", round, seed, i, n)
			}
		}
		checkPoolBalance(t, p.Stats())
	}
}
