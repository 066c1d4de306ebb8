package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/sim"
	"github.com/radpool/radpool/radpool"
)

// sweep is what so many workers do before a back end that serves 16 at once, in
// jobs a second: before and after it becomes half as fast.
type sweep struct {
	names []string
	rates [][2]float64
}

func adaptive(seed uint64) (t sweep, err error) {
	policies := []radpool.Policy{}
	for n := 1; n <= 512; n *= 2 {
		policies = append(policies, radpool.Fixed(n))
		t.names = append(t.names, fmt.Sprintf("Fixed(%d)", n))
	}
	policies = append(policies, radpool.Adaptive{MaxServers: 512})
	t.names = append(t.names, "Adaptive, from 1")
	for _, p := range policies {
		trace, err := sim.Saturation{
			Seed: seed, Policy: p, Until: 60 * time.Second,
			Backend: sim.Backend{
				Parallel: 16, Service: sim.LogNormal(50*time.Millisecond, 0.5), Contention: 0.02,
				Changes: []sim.Change{{At: 30 * time.Second, Slower: 2}},
			},
		}.Run()
		if err != nil {
			return t, err
		}
		t.rates = append(t.rates, [2]float64{trace.Rate(10*time.Second, 30*time.Second), trace.Rate(40*time.Second, 60*time.Second)})
	}
	return t, nil
}

func (t sweep) print(w *strings.Builder) {
	fmt.Fprintln(w, "Workers before a back end that serves 16 at once, in 50 ms, each one beyond making all 2 % slower; at 30 s it")
	fmt.Fprintln(w, "becomes half as fast. Jobs a second from the tenth second after each beginning, and in % of the best:")
	fmt.Fprintf(w, "\n%-18s %16s %16s\n", "", "10 s to 30 s", "40 s to 60 s")
	var best [2]float64
	for _, r := range t.rates[:len(t.rates)-1] {
		best[0], best[1] = max(best[0], r[0]), max(best[1], r[1])
	}
	for i, r := range t.rates {
		fmt.Fprintf(w, "%-18s %8.1f %6.1f%% %8.1f %6.1f%%\n", t.names[i], r[0], 100*r[0]/best[0], r[1], 100*r[1]/best[1])
	}
}
