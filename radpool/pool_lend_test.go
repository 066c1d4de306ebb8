package radpool_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

// lentJob counts the ends that it came to.
type lentJob struct {
	ends        atomic.Int32
	panic, exit bool
}

// Every job ends once, no worker is two, none is lost and there are never too
// many, whoever borrows them, however Run ends, and whenever the pool does.
func TestLendingEndsEachJobOnce(t *testing.T) {
	var lent atomic.Int64
	for round := range 12 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		const most = 4
		var running, starts, stops, runs atomic.Int64
		p := newTestPool(t, radpool.PoolConfig[*lentJob]{
			MaxQueueSize: 1 + r.IntN(64), MaxBatch: 1 + r.IntN(4), MaxRequestsPerServer: r.IntN(4),
			Policy:      radpool.Spare{MinSpareServers: 2, MaxSpareServers: 3, MaxServers: most, ReapDelay: time.Microsecond, ReapInterval: time.Millisecond},
			WorkerStart: func(w *radpool.Worker) { starts.Add(1); w.State = new(int) },
			WorkerStop:  func(w *radpool.Worker) { stops.Add(1); *w.State.(*int)++ },
			Run: func(w *radpool.Worker, jobs []*lentJob) {
				runs.Add(1)
				if n := running.Add(1); n > most {
					t.Errorf("%d run at once", n)
				}
				defer running.Add(-1)
				*w.State.(*int)++ // the race detector sees it if two do
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
		const submitters, each = 4, 600
		jobs := make([]lentJob, submitters*each)
		var wg sync.WaitGroup
		for s := range submitters {
			mine := jobs[s*each:][:each]
			r := rand.New(rand.NewPCG(seed, uint64(s)+1))
			wg.Go(func() { submitLent(p, r, mine, &lent) })
		}
		if round%3 > 0 {
			wg.Go(func() {
				for runs.Load() < 200 && p.Stats().Submitted < submitters*each/2 {
					runtime.Gosched()
				}
				if round%3 > 1 {
					_ = p.Close()
				}
				_ = p.Shutdown(context.Background())
			})
		}
		wg.Wait()
		_ = p.Shutdown(context.Background())
		for i := range jobs {
			if n := jobs[i].ends.Load(); n != 1 {
				t.Fatalf("round %d, seed %d: job %d has ended %d times", round, seed, i, n)
			}
		}
		if s := p.Stats(); s.Queued+s.Running+s.Workers != 0 || starts.Load() != stops.Load() {
			t.Fatalf("round %d, seed %d: %d starts, %d stops: %+v", round, seed, starts.Load(), stops.Load(), s)
		}
	}
	if lent.Load() == 0 {
		t.Error("no worker was lent")
	}
}

func submitLent(p *radpool.Pool[*lentJob], r *rand.Rand, jobs []lentJob, lent *atomic.Int64) {
	for len(jobs) > 0 {
		n := min(1+r.IntN(32), len(jobs))
		batch := make([]radpool.Job[*lentJob], n)
		for i := range batch {
			j := &jobs[i]
			j.panic, j.exit = r.IntN(30) == 0, r.IntN(30) == 0
			batch[i] = radpool.Job[*lentJob]{Value: j, Class: radpool.Class(r.IntN(radpool.NumClasses)), Expires: time.Now().Add(time.Duration(r.IntN(2000)) * time.Microsecond)}
		}
		jobs = jobs[n:]
		runs := r.IntN(40)
		ended := make(chan struct{})
		go func() { // a Run may end it
			defer close(ended)
			if p.SubmitLent(batch, runs) {
				lent.Add(1)
			}
		}()
		<-ended
		for i := range batch {
			if batch[i].Err != nil {
				batch[i].Value.ends.Add(1)
			}
		}
		runtime.Gosched()
	}
}

// A Drop that ends the borrower's goroutine is misuse, and yet the worker is given
// back and nothing is dropped twice.
func TestExitInDropOfABorrower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drops, runs atomic.Int32
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Fixed(1),
			Run: func(*radpool.Worker, []int) {
				runs.Add(1)
				time.Sleep(2 * time.Millisecond)
			},
			Drop: func(int, radpool.Class, radpool.Drop) {
				if drops.Add(1) == 2 {
					runtime.Goexit()
				}
			},
			Panic: func(*radpool.Worker, []int, any, []byte) {},
		})
		synctest.Wait()
		soon := time.Now().Add(time.Millisecond)
		batch := []radpool.Job[int]{{Value: 1}, {Value: 2, Expires: soon}, {Value: 3, Expires: soon}, {Value: 4, Expires: soon}, {Value: 5}, {Value: 6}}
		go p.SubmitLent(batch, len(batch))
		time.Sleep(time.Second)
		synctest.Wait()
		// The rest of what it took at once is lost with it: 4 was to be dropped, 5 to be run.
		if drops.Load() != 2 || runs.Load() != 2 {
			t.Errorf("%d drops, %d runs, want 2 and 2", drops.Load(), runs.Load())
		}
		if s := p.Stats(); s.Running+s.Queued != 0 || s.Workers != 1 || s.Idle != 1 {
			t.Errorf("got %+v", s)
		}
		closePool(t, p)
	})
}
