package metrics_test

import (
	"fmt"

	"github.com/radpool/radpool/radpool/metrics"
)

// A histogram of a back end of one's own, in seconds.
func ExampleTimes() {
	type stats struct{ queries metrics.Histogram }
	now := func() stats {
		return stats{metrics.Histogram{Bounds: []float64{0.001, 0.01}, Counts: []uint64{90, 8}, Count: 99, Sum: 0.4}}
	}
	source := metrics.New(now, metrics.Times("isp_query_duration_seconds", "How long queries took.", []string{"table"},
		func(s *stats, add func(metrics.Histogram, ...string)) { add(s.queries, "tariffs") }))
	for _, d := range source.Descs() {
		fmt.Println(d.Name, d.Kind == metrics.KindHistogram, d.Labels)
	}
	source.Collect(func(s metrics.Sample) { fmt.Println(s.LabelValues, s.Histogram.Count, s.Histogram.Sum) })
	// Output:
	// isp_query_duration_seconds true [table]
	// [tariffs] 99 0.4
}
