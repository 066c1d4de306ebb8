package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	allowed = 1.25 // of the ratio recorded
	looks   = 3    // in each of which a part must be worse to fail; each has twice the rounds of the one before
)

// figures are what a benchmark says of one operation.
type figures struct {
	cpu    float64 // nanoseconds of processor time
	allocs float64 // to a tenth, so that what is not of the operation does not show
}

// A finding is what a look at a part found.
type finding struct {
	ratio  float64 // the median over the rounds
	allocs float64 // the median
	ours   float64 // nanoseconds, the median
}

// look measures each part and its reference once a round. It goes through all
// parts in each round, so that a slow moment of the machine meets all of them.
func look(parts []part, rounds int, measure func(benchmark string) (figures, error)) ([]finding, error) {
	ratios, ours, allocs := make([][]float64, len(parts)), make([][]float64, len(parts)), make([][]float64, len(parts))
	for round := range rounds {
		for i, p := range parts {
			// A B, then B A: neither always comes first.
			names := []string{p.Ours, p.Reference}
			var got [2]figures
			for k := range names {
				k ^= round & 1
				var err error
				if got[k], err = measure(names[k]); err != nil {
					return nil, fmt.Errorf("part %s: %w", p.Name, err)
				}
				if got[k].cpu <= 0 {
					return nil, fmt.Errorf("part %s: %s took no time", p.Name, names[k])
				}
			}
			ratios[i] = append(ratios[i], got[0].cpu/got[1].cpu)
			ours[i] = append(ours[i], got[0].cpu)
			allocs[i] = append(allocs[i], got[0].allocs)
		}
	}
	found := make([]finding, len(parts))
	for i := range parts {
		found[i] = finding{median(ratios[i]), median(allocs[i]), median(ours[i])}
	}
	return found, nil
}

// median is the middle one, of an even number the lower of the two.
func median(v []float64) float64 {
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

// slower and greedier are the two ways to be worse.
func slower(p part, f finding) bool   { return f.ratio > allowed*p.Ratio }
func greedier(p part, f finding) bool { return f.allocs > p.Allocs }

// check returns an error that says what is worse than recorded, and wraps errWorse.
func check(parts []part, rounds int, measure func(benchmark string) (figures, error), out io.Writer) error {
	var worse []string
	for n := range looks {
		found, err := look(parts, rounds<<n, measure)
		if err != nil {
			return err
		}
		var again []part
		for i, p := range parts {
			f, verdict := found[i], "ok"
			switch {
			case greedier(p, f):
				verdict = "ALLOCATES MORE"
				worse = append(worse, fmt.Sprintf("%s: %v allocations an operation, recorded are %v (%s)", p.Name, f.allocs, p.Allocs, p.Ours))
			case slower(p, f) && n < looks-1:
				verdict = "slower; will look again"
				again = append(again, p)
			case slower(p, f):
				verdict = "SLOWER"
				worse = append(worse, fmt.Sprintf("%s: %.3g times the cost of its reference, recorded is %.3g: %.0f %% worse (%s against %s)",
					p.Name, f.ratio, p.Ratio, 100*(f.ratio/p.Ratio-1), p.Ours, p.Reference))
			case p.Ratio > allowed*f.ratio:
				verdict = "ok, and so much faster that -update should record it"
			}
			if _, err := fmt.Fprintf(out, "%-20s %9.1f ns, %6.3f of its reference, recorded %6.3f; %v allocations: %s\n",
				p.Name, f.ours, f.ratio, p.Ratio, f.allocs, verdict); err != nil {
				return err
			}
		}
		if parts = again; len(parts) == 0 {
			break
		}
	}
	if len(worse) > 0 {
		return fmt.Errorf("%w:\n  %s", errWorse, strings.Join(worse, "\n  "))
	}
	return nil
}
