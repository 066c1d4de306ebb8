package radpool_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

func wantWorkers[T any](t *testing.T, p *radpool.Pool[T], when string, want int) {
	t.Helper()
	synctest.Wait()
	if s := p.Stats(); s.Workers != want {
		t.Errorf("%s: %d workers, want %d: %+v", when, s.Workers, want, s)
	}
}

// The seed's thread pool: 8 workers at rest, 128 under load, back to 32 when
// the load ends, and there they stay. Not one packet arrives while it shrinks.
func TestPoolScalesAsTheSeedSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Spare{StartServers: 1, MinSpareServers: 8, MaxSpareServers: 32, MaxServers: 128},
			Run:    func(*radpool.Worker, []int) { time.Sleep(50 * time.Millisecond) },
		})
		wantWorkers(t, p, "at start", 8)
		time.Sleep(time.Hour)
		wantWorkers(t, p, "after an hour at rest", 8)

		begin := time.Now()
		for range 128 * 20 * 10 { // ten seconds of work for all
			if err := p.Submit(radpool.ClassAccess, time.Time{}, 0); err != nil {
				t.Fatal(err)
			}
		}
		wantWorkers(t, p, "under load", 128)
		if d := time.Since(begin); d != 0 {
			t.Errorf("it took %v to grow", d)
		}
		time.Sleep(10 * time.Second)
		wantWorkers(t, p, "when the load ends: the first has gone", 127)
		for n := 126; n >= 32; n-- {
			time.Sleep(time.Second)
			wantWorkers(t, p, "later", n)
		}
		time.Sleep(time.Hour)
		wantWorkers(t, p, "in the end", 32)
		s := p.Stats()
		if s.Retired != 96 || s.Spawned != 128 || s.WorkersHighWater != 128 || s.BusyHighWater != 128 || s.Completed != 25600 {
			t.Errorf("%+v", s)
		}
		closePool(t, p)
	})
}

// A load that ends soon after it came: none is ended within ReapDelay of the
// last growth.
func TestPoolReapsNotBeforeDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Spare{ReapDelay: 7 * time.Second, ReapInterval: 2 * time.Second},
			Run:    func(*radpool.Worker, []int) { time.Sleep(time.Second) },
		})
		for range 40 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
		}
		wantWorkers(t, p, "burst", 48)
		time.Sleep(7*time.Second - 1)
		wantWorkers(t, p, "just before", 48)
		time.Sleep(time.Nanosecond)
		wantWorkers(t, p, "on time", 47)
		time.Sleep(2*time.Second - 1)
		wantWorkers(t, p, "one a time", 47)
		time.Sleep(time.Nanosecond)
		wantWorkers(t, p, "the second", 46)
		closePool(t, p)
	})
}

// Whatever the number of busy workers, there are 8 more, at once.
func TestPoolKeepsMinSpareIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[int]{Run: func(*radpool.Worker, []int) { <-hold }})
		for busy := 1; busy <= 140; busy++ {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
			wantWorkers(t, p, "growing", min(busy+8, 128))
		}
		if s := p.Stats(); s.Busy != 128 || s.Queued != 12 || s.Idle != 0 {
			t.Errorf("%+v", s)
		}
		close(hold)
		closePool(t, p)
	})
}

// countingPolicy counts how often the pool asks.
type countingPolicy struct {
	radpool.Policy
	asked atomic.Int64
}

func (c *countingPolicy) Decide(now time.Time, s radpool.Snapshot) radpool.Decision {
	c.asked.Add(1)
	return c.Policy.Decide(now, s)
}

// A pool that is as the policy wants it asks nothing, neither by the clock nor
// for each job.
func TestPoolAsksThePolicyOnlyWhenItMatters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &countingPolicy{Policy: radpool.Spare{}}
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: c,
			Run:    func(*radpool.Worker, []int) { time.Sleep(time.Millisecond) },
		})
		for range 10_000 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
			time.Sleep(time.Minute)
		}
		wantWorkers(t, p, "one busy, eight idle", 9)
		if n := c.asked.Load(); n > 3 {
			t.Errorf("asked %d times", n)
		}
		closePool(t, p)
	})
}

// wildPolicy answers nonsense, and panics at first.
type wildPolicy struct{ asked *atomic.Int64 }

func (w wildPolicy) Decide(now time.Time, s radpool.Snapshot) radpool.Decision {
	if w.asked.Add(1) == 1 {
		panic("wild")
	}
	return radpool.Decision{Spawn: 3 - s.Workers, Retire: -5, Next: now, IdleLow: 100}
}

func TestPoolSurvivesItsPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: wildPolicy{&asked},
			Run:    func(*radpool.Worker, []int) {},
			Panic:  func(*radpool.Worker, []int, any, []byte) {},
		})
		wantWorkers(t, p, "after the panic", 0)
		time.Sleep(time.Second)
		wantWorkers(t, p, "asked again", 3)
		before := asked.Load()
		time.Sleep(time.Second)
		if n := asked.Load() - before; n < 900 || n > 1100 {
			t.Errorf("asked %d times in a second, although a millisecond is the least", n)
		}
		if s := p.Stats(); s.Panics != 1 {
			t.Errorf("%+v", s)
		}
		closePool(t, p)
	})
}

// Workers are replaced after so many jobs: the old one stops before the new
// one starts, each ID is new, and the policy sees no gap and no growth.
func TestPoolRecyclesWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy:               radpool.Fixed(1),
			MaxBatch:             2,
			MaxRequestsPerServer: 3,
			WorkerStart:          func(w *radpool.Worker) { log.add("start%d", w.ID); w.State = new(int) },
			WorkerStop:           func(w *radpool.Worker) { log.add("stop%d:%d", w.ID, *w.State.(*int)) },
			Run:                  func(w *radpool.Worker, jobs []int) { *w.State.(*int) += len(jobs); log.add("%v", jobs) },
		})
		jobs := make([]radpool.Job[int], 7)
		for i := range jobs {
			jobs[i].Value = i
		}
		p.SubmitBatch(jobs)
		synctest.Wait()
		want := "start1 [0 1] [2] stop1:3 start2 [3 4] [5] stop2:3 start3 [6]"
		if got := log.take(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if s := p.Stats(); s.Recycled != 2 || s.Spawned != 1 || s.Workers != 1 {
			t.Errorf("%+v", s)
		}
		closePool(t, p)
		if got := log.take(); got != "stop3:1" {
			t.Error(got)
		}
	})
}

func TestPoolRecyclingIsNeitherGrowthNorGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPool(t, radpool.PoolConfig[int]{
			MaxRequestsPerServer: 1,
			WorkerStart:          func(*radpool.Worker) { time.Sleep(time.Second) },
			WorkerStop:           func(*radpool.Worker) { time.Sleep(time.Second) },
			Run:                  func(*radpool.Worker, []int) { time.Sleep(time.Second) },
		})
		time.Sleep(2 * time.Second)
		for range 40 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
		}
		time.Sleep(30 * time.Second)
		grown := p.Stats()
		// A job every three seconds, each of which replaces a worker, while
		// the pool goes down to 32.
		for range 100 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
			time.Sleep(3*time.Second + time.Millisecond)
			if s := p.Stats(); s.Workers < 32 || s.Idle+s.Starting < 8 {
				t.Fatalf("a gap: %+v", s)
			}
		}
		s := p.Stats()
		if s.LastSpawn != grown.LastSpawn || s.Spawned != grown.Spawned || s.Recycled != 140 {
			t.Errorf("from %+v\nto   %+v", grown, s)
		}
		if s.Workers != 32 {
			t.Errorf("%d workers: %+v", s.Workers, s)
		}
		closePool(t, p)
	})
}

// Where WorkerStart is slow, a backlog does not wait for one round of it after
// the other: the pool has grown as far as it may before the first is ready.
func TestPoolGrowsForABacklogWhileWorkersStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPool(t, radpool.PoolConfig[int]{
			WorkerStart: func(*radpool.Worker) { time.Sleep(time.Second) },
			Run:         func(*radpool.Worker, []int) { time.Sleep(time.Minute) },
		})
		time.Sleep(time.Hour)
		for range 50 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if s := p.Stats(); s.Workers != 58 || s.Starting != 50 || s.Queued != 42 {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Second)
		if s := p.Stats(); s.Workers != 58 || s.Idle != 8 || s.Queued != 0 {
			t.Errorf("%+v", s)
		}
		closePool(t, p)
	})
}
