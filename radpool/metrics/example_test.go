package metrics_test

import (
	"fmt"

	"github.com/radpool/radpool/radpool/metrics"
)

// A back end of one's own has metrics as those of radpool have.
func ExampleNew() {
	type stats struct {
		asked uint64
		open  int
	}
	now := func() stats { return stats{asked: 7, open: 2} } // of the back end's counters

	source := metrics.New(now,
		metrics.Count("isp_asked_total", "Questions to the core.", func(s *stats) uint64 { return s.asked }),
		metrics.Levels("isp_connections", "Connections to the core.", []string{"state"}, func(s *stats, add func(float64, ...string)) {
			add(float64(s.open), "open")
		}),
	)
	source.Collect(func(s metrics.Sample) { fmt.Println(s.Desc.Name, s.LabelValues, s.Value) })
	// Output:
	// isp_asked_total [] 7
	// isp_connections [open] 2
}
