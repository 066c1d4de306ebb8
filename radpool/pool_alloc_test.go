package radpool_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/radpool"
)

func TestPoolSubmitAllocatesNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, most := range []int{1, 8} {
		done := make(chan struct{}, 64)
		p := newTestPool(t, radpool.PoolConfig[*int]{
			Policy:   radpool.Fixed(4),
			MaxBatch: most,
			Run: func(_ *radpool.Worker, jobs []*int) {
				for range jobs {
					done <- struct{}{}
				}
			},
		})
		v := new(int)
		var jobs [32]radpool.Job[*int]
		for i := range jobs {
			jobs[i] = radpool.Job[*int]{Value: v, Class: radpool.ClassAccess}
		}
		round := func() {
			expires := time.Now().Add(time.Hour)
			if err := p.Submit(radpool.ClassAccess, expires, v); err != nil {
				t.Error(err)
			}
			for i := range jobs {
				jobs[i].Expires = expires
			}
			p.SubmitBatch(jobs[:])
			for range 33 {
				<-done
			}
		}
		for range 100 { // each worker's slices find their size
			round()
		}
		if n := testing.AllocsPerRun(200, round); n != 0 {
			t.Errorf("MaxBatch %d: %v allocations for 33 jobs", most, n)
		}
		closePool(t, p)
	}
}

// The hand-off alone: one job at a time to an idle worker, and batches of 32.
func BenchmarkPoolHandOff(b *testing.B) {
	done := make(chan struct{}, 64)
	p := newTestPool(b, radpool.PoolConfig[int]{
		Policy: radpool.Fixed(8),
		Run:    func(*radpool.Worker, []int) { done <- struct{}{} },
	})
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
			<-done
		}
	})
	b.Run("batch=32", func(b *testing.B) {
		var jobs [32]radpool.Job[int]
		b.ReportAllocs()
		for b.Loop() {
			p.SubmitBatch(jobs[:])
			for range jobs {
				<-done
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(jobs)), "ns/job")
	})
	closePool(b, p)
}
