package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/sim"
	"github.com/radpool/radpool/radpool"
)

const ms = time.Millisecond

// sixteen is a back end that serves sixteen at once in 50 ms each, in which each
// one beyond that makes all two hundredths slower.
func sixteen(service sim.Dist, changes ...sim.Change) sim.Backend {
	return sim.Backend{Parallel: 16, Service: service, Contention: 0.02, Changes: changes}
}

// halved is at half of the speed from 30 s on.
var halved = sim.Change{At: 30 * time.Second, Slower: 2}

func run(t testing.TB, s sim.Saturation) sim.Trace {
	t.Helper()
	trace, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// Of the fixed numbers of workers, 16 is the best; Adaptive, which begins with
// one, does as much from the tenth second on, and again from the tenth second
// after the back end has become half as fast.
func TestAdaptiveAgainstFixed(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-14s %12s %12s\n", "jobs/s", "10 to 30 s", "40 to 60 s, at half the speed")
	rates := func(policy radpool.Policy, seed uint64) (before, after float64) {
		trace := run(t, sim.Saturation{Seed: seed, Policy: policy, Backend: sixteen(sim.LogNormal(50*ms, 0.5), halved), Until: time.Minute})
		return trace.Rate(10*time.Second, 30*time.Second), trace.Rate(40*time.Second, 60*time.Second)
	}
	var best [2]float64
	for n := 1; n <= 512; n *= 2 {
		before, after := rates(radpool.Fixed(n), 1)
		best[0], best[1] = max(best[0], before), max(best[1], after)
		fmt.Fprintf(&table, "Fixed(%d)%*s %12.1f %12.1f\n", n, 7-len(fmt.Sprint(n)), "", before, after)
	}
	const seeds = 20
	var sum, least [2]float64
	for seed := range uint64(seeds) {
		before, after := rates(radpool.Adaptive{MaxServers: 512}, seed)
		for i, rate := range []float64{before, after} {
			share := rate / best[i]
			sum[i] += share / seeds
			if seed == 0 || share < least[i] {
				least[i] = share
			}
		}
		if seed == 0 {
			fmt.Fprintf(&table, "Adaptive       %12.1f %12.1f\n", before, after)
		}
	}
	fmt.Fprintf(&table, "Adaptive as a share of the best Fixed, %d seeds: mean %.3f and %.3f, least %.3f and %.3f\n", seeds, sum[0], sum[1], least[0], least[1])
	t.Logf("\n%s", &table)
	for i := range sum {
		if sum[i] < 0.95 || least[i] < 0.9 {
			t.Errorf("of the best Fixed it reached %.3f on average, %.3f at least", sum[i], least[i])
		}
	}
}

// What Adaptive does when the back end becomes faster, and slower again; when all
// have nothing to do for a while; where workers take their time to start; and
// where no number of workers is too many.
func TestAdaptiveFollows(t *testing.T) {
	const second = time.Second
	for _, tc := range []struct {
		name     string
		s        sim.Saturation
		from, to time.Duration
		rate     float64 // the best there is
	}{
		{"before", sim.Saturation{Backend: sixteen(sim.Uniform(50*ms, 25*ms))}, 10 * second, 30 * second, 320},
		{"half the slots", sim.Saturation{Backend: sixteen(sim.Uniform(50*ms, 25*ms), sim.Change{At: 30 * second, Parallel: 8})}, 40 * second, 60 * second, 160},
		{"twice the slots", sim.Saturation{Backend: sixteen(sim.Uniform(50*ms, 25*ms), sim.Change{At: 30 * second, Parallel: 32})}, 50 * second, 70 * second, 640},
		{"twice the speed", sim.Saturation{Backend: sixteen(sim.Uniform(50*ms, 25*ms), sim.Change{At: 30 * second, Slower: 0.5})}, 40 * second, 60 * second, 640},
		{"after a pause", sim.Saturation{Backend: sixteen(sim.Uniform(50*ms, 25*ms)), Idle: [][2]time.Duration{{20 * second, 50 * second}}}, 51 * second, 70 * second, 320},
		{"slow starts", sim.Saturation{Backend: sixteen(sim.Uniform(50*ms, 25*ms)), WorkerStart: second / 2}, 20 * second, 40 * second, 320},
		{"far away", sim.Saturation{Backend: sim.Backend{Parallel: 1000, Service: sim.Exponential(ms), Latency: 200 * ms}}, 40 * second, 70 * second, 512 / 0.201},
	} {
		sum := 0.0
		for seed := range uint64(5) {
			tc.s.Seed, tc.s.Policy, tc.s.Until = seed, radpool.Adaptive{MaxServers: 512}, 70*second
			sum += run(t, tc.s).Rate(tc.from, tc.to) / tc.rate / 5
		}
		if sum < 0.92 {
			t.Errorf("%s: it does %.3f of the best", tc.name, sum)
		}
	}
}
