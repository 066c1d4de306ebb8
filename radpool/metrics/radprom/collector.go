package radprom

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/radpool/radpool/radpool/metrics"
)

// collector is safe for concurrent use, as its sources are.
type collector struct {
	sources []metrics.Source
	descs   map[*metrics.Desc]*prometheus.Desc
}

// New returns a collector for the metrics of the sources, to be registered once. No two
// sources may have a metric of the same name: every scrape fails then.
func New(sources ...metrics.Source) prometheus.Collector {
	c := &collector{sources: sources, descs: make(map[*metrics.Desc]*prometheus.Desc)}
	for _, s := range sources {
		for _, d := range s.Descs() {
			c.descs[d] = prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
		}
	}
	return c
}

// Describe is for the registry.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range c.sources {
		for _, d := range s.Descs() {
			ch <- c.descs[d]
		}
	}
}

// Collect is for the registry.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.sources {
		s.Collect(func(v metrics.Sample) { ch <- c.metric(v) })
	}
}

// metric is one value in Prometheus's form. What a source gives against its own
// description is an error of the scrape, which names it.
func (c *collector) metric(v metrics.Sample) prometheus.Metric {
	desc := c.descs[v.Desc]
	if desc == nil {
		err := fmt.Errorf("radprom: a source has the metric %q, which it does not describe", v.Desc.Name)
		return prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
	}
	var m prometheus.Metric
	var err error
	switch {
	case v.Desc.Kind == metrics.KindHistogram && v.Histogram == nil:
		err = fmt.Errorf("radprom: the histogram %q has no value", v.Desc.Name)
	case v.Desc.Kind == metrics.KindHistogram:
		h := v.Histogram
		buckets := make(map[float64]uint64, len(h.Bounds))
		var below uint64
		for i, bound := range h.Bounds {
			below += h.Counts[i]
			buckets[bound] = below
		}
		m, err = prometheus.NewConstHistogram(desc, h.Count, h.Sum, buckets, v.LabelValues...)
	case v.Desc.Kind == metrics.KindCounter:
		m, err = prometheus.NewConstMetric(desc, prometheus.CounterValue, v.Value, v.LabelValues...)
	default:
		m, err = prometheus.NewConstMetric(desc, prometheus.GaugeValue, v.Value, v.LabelValues...)
	}
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}
