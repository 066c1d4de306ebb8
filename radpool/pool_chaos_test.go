package radpool_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/radpool"
)

// chaosJob counts the ends that it came to.
type chaosJob struct {
	ran, dropped, refused atomic.Int32
	panics                bool
}

// Every job ends in exactly one of Run, Drop and an error of Submit, whatever
// happens: panics, recycling, growth and reaping, a queue that is full, jobs that
// expire, and an end in the middle, by Shutdown, by Close, or by both.
func TestPoolEndsEachJobOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for round := range 12 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		var runs atomic.Int64
		p := newTestPool(t, radpool.PoolConfig[*chaosJob]{
			MaxQueueSize:         1 + r.IntN(64),
			MaxBatch:             1 + r.IntN(5),
			MaxRequestsPerServer: r.IntN(9),
			Policy:               radpool.Spare{MinSpareServers: 1, MaxSpareServers: 2, MaxServers: 6, ReapDelay: time.Microsecond, ReapInterval: time.Millisecond},
			WorkerStart:          func(w *radpool.Worker) { w.State = w.ID },
			WorkerStop: func(w *radpool.Worker) {
				if w.State != w.ID {
					t.Errorf("worker %d has the state of %v", w.ID, w.State)
				}
			},
			Run: func(_ *radpool.Worker, jobs []*chaosJob) {
				runs.Add(1)
				broken := 0
				for _, j := range jobs {
					j.ran.Add(1)
					if j.panics {
						broken++
					}
				}
				runtime.Gosched()
				if broken > 1 {
					runtime.Goexit()
				}
				if broken > 0 {
					panic("chaos")
				}
			},
			Drop: func(j *chaosJob, _ radpool.Class, _ radpool.Drop) {
				j.dropped.Add(1)
			},
			Panic: func(*radpool.Worker, []*chaosJob, any, []byte) {},
		})
		const submitters, each = 4, 1000
		jobs := make([]chaosJob, submitters*each)
		var wg sync.WaitGroup
		for s := range submitters {
			mine := jobs[s*each : (s+1)*each]
			r := rand.New(rand.NewPCG(seed, uint64(s)+1))
			wg.Go(func() { chaosSubmit(p, r, mine) })
		}
		ctx, cancel := context.WithCancel(context.Background())
		wg.Go(func() {
			for runs.Load() < 200 && p.Stats().Submitted < submitters*each/2 {
				runtime.Gosched()
			}
			if round%3 > 0 {
				cancel()
			}
			if round%3 > 1 {
				_ = p.Close()
			}
			_ = p.Shutdown(ctx)
		})
		wg.Wait()
		cancel()
		closePool(t, p)
		for i := range jobs {
			j := &jobs[i]
			if n := j.ran.Load() + j.dropped.Load() + j.refused.Load(); n != 1 {
				t.Fatalf("round %d, seed %d: job %d: %d runs, %d drops, %d errors", round, seed, i, j.ran.Load(), j.dropped.Load(), j.refused.Load())
			}
		}
		if s := p.Stats(); s.Submitted != submitters*each || s.Queued+s.Running+s.Workers != 0 {
			t.Fatalf("round %d, seed %d: %+v", round, seed, s)
		}
	}
}

func chaosSubmit(p *radpool.Pool[*chaosJob], r *rand.Rand, jobs []chaosJob) {
	expires := func() time.Time {
		switch r.IntN(4) {
		case 0:
			return time.Time{}
		case 1:
			return time.Now().Add(time.Duration(r.IntN(50)) * time.Microsecond)
		}
		return time.Now().Add(time.Second)
	}
	for len(jobs) > 0 {
		n := min(1+r.IntN(50), len(jobs))
		if r.IntN(2) > 0 {
			n = 1
		}
		batch := make([]radpool.Job[*chaosJob], n)
		for i := range batch {
			jobs[i].panics = r.IntN(20) == 0
			batch[i] = radpool.Job[*chaosJob]{Value: &jobs[i], Class: radpool.Class(r.IntN(radpool.NumClasses)), Expires: expires()}
		}
		if n == 1 {
			batch[0].Err = p.Submit(batch[0].Class, batch[0].Expires, batch[0].Value)
		} else {
			p.SubmitBatch(batch)
		}
		for i := range batch {
			if batch[i].Err != nil {
				batch[i].Value.refused.Add(1)
			}
		}
		jobs = jobs[n:]
		runtime.Gosched()
	}
}
