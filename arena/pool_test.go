package arena_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/radpool/radpool/arena"
)

// use runs so many requests of so many octets each.
func use(p *arena.Pool, requests, octets int) {
	for range requests {
		a := p.Get()
		a.Bytes(octets)
		a.Release()
	}
}

// TestChunkFollowsMix changes what requests need and checks where the chunk's size goes.
func TestChunkFollowsMix(t *testing.T) {
	const window = 64
	p := newPool(t, arena.Config{Window: window})
	check := func(when string, want int) {
		t.Helper()
		if got := p.Stats().ChunkSize; got != want {
			t.Errorf("%s: the chunk has %d octets, want %d", when, got, want)
		}
	}
	check("at first", 32768)
	use(p, 3*window, 3000)
	check("after three windows of small requests", 32768)
	use(p, window, 3000)
	check("after four", 3072)
	use(p, 10*window, 2900)
	check("after a little less", 3072)

	use(p, window, 100_000)
	check("after a window of huge requests", 114688)
	before := p.Stats()
	use(p, window, 100_000)
	if after := p.Stats(); after.Overflows != before.Overflows {
		t.Errorf("requests that fit the grown chunk overflowed %d times", after.Overflows-before.Overflows)
	}
	use(p, 30*window, 3000)
	check("long after the burst", 3072)
	if s := p.Stats(); s.Resizes != 3 || s.HighWater != 3000 || s.LowWater != 3000 {
		t.Errorf("%d resizes, high %d, low %d; want 3, 3000, 3000", s.Resizes, s.HighWater, s.LowWater)
	}
}

func TestStatsPercentiles(t *testing.T) {
	p := newPool(t, arena.Config{})
	if s := p.Stats(); s != (arena.Stats{ChunkSize: 32768}) {
		t.Errorf("stats of an unused pool: %+v", s)
	}
	use(p, 89, 1000)
	use(p, 9, 2000)
	use(p, 2, 40_000)
	held := p.Get()
	s := p.Stats()
	held.Release()
	s.Made = 0 // depends on the collector
	want := arena.Stats{
		Gets: 101, Releases: 100, InUse: 1, HighWater: 40_000, LowWater: 1000, P50: 1024, P90: 2048, P99: 40960,
		Overflows: 2, OverflowBytes: 80_000, ChunkSize: 32768,
	}
	if s != want {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

// TestUnusedRequests checks that requests of no octets have a low water of 0 and need the least chunk.
func TestUnusedRequests(t *testing.T) {
	p := newPool(t, arena.Config{Window: 16})
	for range 16 * 5 {
		p.Get().Release()
	}
	if s := p.Stats(); s.LowWater != 0 || s.HighWater != 0 || s.ChunkSize != arena.DefaultMinChunkSize {
		t.Errorf("low %d, high %d, chunk %d", s.LowWater, s.HighWater, s.ChunkSize)
	}
}

// TestFixedChunk checks that equal bounds fix the size.
func TestFixedChunk(t *testing.T) {
	p := newPool(t, arena.Config{ChunkSize: 8000, MinChunkSize: 8000, MaxChunkSize: 8000, Window: 16})
	use(p, 200, 100)
	use(p, 200, 100_000)
	if s := p.Stats(); s.ChunkSize != 8000 || s.Resizes != 0 {
		t.Errorf("chunk %d after %d resizes", s.ChunkSize, s.Resizes)
	}
}

// TestConcurrentRequests runs requests of all sizes on many goroutines, hands each arena to another
// goroutine half way, and checks that no request sees another's octets and that the counts add up.
func TestConcurrentRequests(t *testing.T) {
	const workers, requests = 8, 300
	p := newPool(t, arena.Config{ChunkSize: 512, MinChunkSize: 256, Window: 16, MaxSlabElements: 16})
	type job struct {
		a     *arena.Arena
		b     []byte
		e     []*pair
		stamp int
	}
	jobs := make(chan job, workers)
	errs := make(chan error, workers)
	var makers, finishers sync.WaitGroup
	for w := range workers {
		makers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 6))
			for range requests {
				j := job{a: p.Get(), stamp: r.IntN(1 << 30)}
				j.b = j.a.Bytes(8 + r.IntN(1<<r.IntN(13)))
				for i := range j.b {
					j.b[i] = byte(j.stamp)
				}
				for range r.IntN(30) {
					e := pairs.New(j.a)
					e.Type, e.Value = j.stamp, j.b
					j.e = append(j.e, e)
				}
				jobs <- j
				if r.IntN(50) == 0 {
					p.Stats()
				}
			}
		})
		finishers.Go(func() {
			for j := range jobs {
				for _, c := range j.b {
					if c != byte(j.stamp) {
						errs <- fmt.Errorf("octet %#x in request %#x", c, j.stamp)
						return
					}
				}
				for _, e := range j.e {
					if e.Type != j.stamp || &e.Value[0] != &j.b[0] {
						errs <- fmt.Errorf("element of %#x in request %#x", e.Type, j.stamp)
						return
					}
				}
				j.a.Release()
			}
		})
	}
	makers.Wait()
	close(jobs)
	finishers.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if s := p.Stats(); s.Gets != workers*requests || s.Releases != s.Gets || s.InUse != 0 {
		t.Errorf("stats: %+v", s)
	}
}

// TestRacingReleases: of several Releases of one arena exactly one succeeds.
func TestRacingReleases(t *testing.T) {
	p := newPool(t, arena.Config{})
	for range 100 {
		a := p.Get()
		var wg sync.WaitGroup
		panics := make(chan any, 4)
		for range cap(panics) {
			wg.Go(func() {
				defer func() { panics <- recover() }()
				a.Release()
			})
		}
		wg.Wait()
		close(panics)
		released := 0
		for v := range panics {
			if v == nil {
				released++
			}
		}
		if released != 1 {
			t.Fatalf("%d Releases succeeded", released)
		}
	}
}
