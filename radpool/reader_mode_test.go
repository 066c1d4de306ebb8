package radpool_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

const ms = time.Millisecond

// What a reader is told, and whether it may run handlers after it.
func TestReaderMode(t *testing.T) {
	type step struct {
		at, took time.Duration // took < 0: deposed
		runs     []time.Duration
		not      []time.Duration
	}
	for name, steps := range map[string][]step{
		"quick":                         {{at: 0, took: ms / 2, runs: []time.Duration{0, ms}}},
		"slow now and then":             {{at: 0, took: 2 * ms}, {at: 50 * ms, took: 2 * ms}, {at: 100 * ms, took: 2 * ms}, {at: 150 * ms, took: 2 * ms}, {at: 200 * ms, took: 2 * ms, runs: []time.Duration{200 * ms}}},
		"three slow ones":               {{at: 0, took: ms}, {at: ms, took: ms}, {at: 2 * ms, took: ms, runs: []time.Duration{2 * ms}}},
		"four slow ones":                {{at: 0, took: ms}, {at: 0, took: ms}, {at: 0, took: ms}, {at: 0, took: ms, not: []time.Duration{0, 4 * ms}, runs: []time.Duration{5 * ms}}},
		"held up":                       {{at: 0, took: -1, not: []time.Duration{0, 49 * ms}, runs: []time.Duration{50 * ms}}},
		"held up again":                 {{at: 0, took: -1}, {at: 60 * ms, took: -1, not: []time.Duration{159 * ms}, runs: []time.Duration{160 * ms}}},
		"held up again after a while":   {{at: 0, took: -1}, {at: 160 * ms, took: -1, not: []time.Duration{209 * ms}, runs: []time.Duration{210 * ms}}},
		"the backoff ends at 5 seconds": {{at: 0, took: -1}, {at: 50 * ms, took: -1}, {at: 150 * ms, took: -1}, {at: 350 * ms, took: -1}, {at: 750 * ms, took: -1}, {at: 1550 * ms, took: -1}, {at: 3150 * ms, took: -1}, {at: 6350 * ms, took: -1}, {at: 11350 * ms, took: -1, not: []time.Duration{16349 * ms}, runs: []time.Duration{16350 * ms}}},
	} {
		t.Run(name, func(t *testing.T) {
			epoch := time.Now()
			var m radpool.ReaderMode
			for i, s := range steps {
				now := epoch.Add(s.at)
				if s.took < 0 {
					m.Deposed(now)
				} else {
					m.Ran(now, s.took)
				}
				for _, at := range s.runs {
					if !m.Runs(epoch.Add(at)) {
						t.Errorf("step %d: does not run at %v", i, at)
					}
				}
				for _, at := range s.not {
					if m.Runs(epoch.Add(at)) {
						t.Errorf("step %d: runs at %v", i, at)
					}
				}
			}
		})
	}
}

// Whatever it is told, a reader does not hand over for longer than 5 seconds at a
// time, and quick handlers are always run in the end.
func TestReaderModeComesBack(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var m radpool.ReaderMode
		now := time.Now()
		for range 100 {
			now = now.Add(time.Duration(rng.Int64N(int64(200 * ms))))
			if !m.Runs(now) {
				continue
			}
			if rng.IntN(3) == 0 {
				m.Deposed(now)
			} else {
				m.Ran(now, time.Duration(rng.Int64N(int64(3*ms))))
			}
			if !m.Runs(now.Add(5 * time.Second)) {
				t.Fatalf("seed %d: hands over for more than 5 s", seed)
			}
		}
	}
}
