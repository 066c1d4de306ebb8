package benchmarks

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"

	"github.com/radpool/radpool/radpool"
)

const (
	workers   = 8
	queueSize = 1 << 16
	burst     = 256
)

// A runner is a pool of workers that all call the same function.
type runner struct {
	submit func(n uint64) error
	flush  func() // for one that collects what is submitted; may be nil
	close  func()
}

// The implementations. What they do beside running jobs differs: radpool has
// classes and deadlines, a bound whose breach is an error, and counts each job;
// ants has no queue, so that Submit waits for a worker; pond's queue is bounded
// and Submit waits for room in it; a channel does as pond.
var runners = []struct {
	name string
	make func(b *testing.B, run func(n uint64)) runner
}{
	{"radpool", radpoolRunner},
	{"channel", channelRunner},
	{"ants", antsRunner},
	{"pond", pondRunner},
}

func newRadpool(b *testing.B, run func(n uint64)) *radpool.Pool[uint64] {
	p, err := radpool.NewPool(radpool.PoolConfig[uint64]{
		MaxQueueSize: queueSize,
		Policy:       radpool.Fixed(workers),
		Run: func(_ *radpool.Worker, jobs []uint64) {
			for _, n := range jobs {
				run(n)
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func radpoolRunner(b *testing.B, run func(n uint64)) runner {
	p := newRadpool(b, run)
	expires := time.Now().Add(time.Hour)
	return runner{
		submit: func(n uint64) error { return p.Submit(radpool.ClassAccess, expires, n) },
		close:  func() { _ = p.Shutdown(context.Background()) },
	}
}

// radpoolBatchRunner submits 64 at once, as a reader of a socket does.
func radpoolBatchRunner(b *testing.B, run func(n uint64)) runner {
	p := newRadpool(b, run)
	expires := time.Now().Add(time.Hour)
	jobs := make([]radpool.Job[uint64], 0, 64)
	flush := func() {
		if got := p.SubmitBatch(jobs); got != len(jobs) {
			b.Errorf("%d of %d jobs accepted", got, len(jobs))
		}
		jobs = jobs[:0]
	}
	return runner{
		submit: func(n uint64) error {
			jobs = append(jobs, radpool.Job[uint64]{Value: n, Class: radpool.ClassAccess, Expires: expires})
			if len(jobs) == cap(jobs) {
				flush()
			}
			return nil
		},
		flush: flush,
		close: func() { _ = p.Shutdown(context.Background()) },
	}
}

func channelRunner(_ *testing.B, run func(n uint64)) runner {
	queue := make(chan uint64, queueSize)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for n := range queue {
				run(n)
			}
		})
	}
	return runner{
		submit: func(n uint64) error { queue <- n; return nil },
		close:  func() { close(queue); wg.Wait() },
	}
}

func antsRunner(b *testing.B, run func(n uint64)) runner {
	p, err := ants.NewPoolWithFuncGeneric(workers, run, ants.WithPreAlloc(true))
	if err != nil {
		b.Fatal(err)
	}
	return runner{submit: p.Invoke, close: p.Release}
}

func pondRunner(_ *testing.B, run func(n uint64)) runner {
	p := pond.NewPool(workers, pond.WithQueueSize(queueSize))
	return runner{
		submit: func(n uint64) error { return p.Go(func() { run(n) }) },
		close:  p.StopAndWait,
	}
}

// BenchmarkHandOff is the way of one job to a worker that is idle, and of its
// result back: latency, mostly that of waking a goroutine twice.
func BenchmarkHandOff(b *testing.B) {
	for _, r := range runners {
		b.Run("impl="+r.name, func(b *testing.B) {
			done := make(chan uint64, 1)
			p := r.make(b, func(n uint64) { done <- n })
			defer p.close()
			n := uint64(0)
			b.ReportAllocs()
			report := measure(b)
			for b.Loop() {
				n++
				if err := p.submit(n); err != nil {
					b.Fatal(err)
				}
				if got := <-done; got != n {
					b.Fatalf("job %d came back for %d", got, n)
				}
			}
			report()
		})
	}
}

// BenchmarkBurst is jobs that come faster than they are run: 256 are submitted
// by one goroutine, then all are waited for. An operation is one job.
func BenchmarkBurst(b *testing.B) {
	all := append(slices.Clip(runners), runners[0])
	all[len(runners)].name, all[len(runners)].make = "radpool-batch", radpoolBatchRunner
	for _, r := range all {
		b.Run("impl="+r.name, func(b *testing.B) {
			var (
				wg  sync.WaitGroup
				sum atomic.Uint64
			)
			p := r.make(b, func(n uint64) {
				sum.Add(n)
				wg.Done()
			})
			defer p.close()
			wait := func() {
				if p.flush != nil {
					p.flush()
				}
				wg.Wait()
			}
			n := uint64(0)
			b.ReportAllocs()
			report := measure(b)
			for b.Loop() {
				n++
				wg.Add(1)
				if err := p.submit(n); err != nil {
					b.Fatal(err)
				}
				if n%burst == 0 {
					wait()
				}
			}
			wait()
			report()
			if want := n * (n + 1) / 2; sum.Load() != want {
				b.Fatalf("the jobs' numbers add up to %d, want %d", sum.Load(), want)
			}
		})
	}
}
