package radvar

import (
	"expvar"
	"strconv"
	"strings"

	"github.com/radpool/radpool/radpool/metrics"
)

// Func returns a variable that shows the metrics of the sources as they are when it is
// read, as a JSON object: the value of each by its name; of one with labels an object with
// a value for each combination of their values, joined by commas; of a histogram an object
// with count, sum, and in buckets how many were up to each bound.
//
//	expvar.Publish("radpool", radvar.Func(metrics.Server(server)))
func Func(sources ...metrics.Source) expvar.Func {
	all := metrics.Join(sources...)
	return func() any {
		out := make(map[string]any)
		all.Collect(func(s metrics.Sample) {
			if len(s.Desc.Labels) == 0 {
				out[s.Desc.Name] = value(s)
				return
			}
			of, ok := out[s.Desc.Name].(map[string]any)
			if !ok {
				of = make(map[string]any)
				out[s.Desc.Name] = of
			}
			of[strings.Join(s.LabelValues, ",")] = value(s)
		})
		return out
	}
}

func value(s metrics.Sample) any {
	h := s.Histogram
	if h == nil {
		return s.Value
	}
	buckets := make(map[string]uint64, len(h.Bounds))
	var below uint64
	for i, bound := range h.Bounds {
		below += h.Counts[i]
		buckets[strconv.FormatFloat(bound, 'g', -1, 64)] = below
	}
	return map[string]any{"count": h.Count, "sum": h.Sum, "buckets": buckets}
}
