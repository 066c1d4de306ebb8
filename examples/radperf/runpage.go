package main

import (
	"fmt"
	"io"
	"time"

	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/internal/plot"
)

// mostRows is how many intervals a page shows; more are put together, each with its neighbours.
const mostRows = 600

// writeRunPage writes the page of one run.
func writeRunPage(w io.Writer, r *report) error {
	samples := together(r.Result.Samples, mostRows)
	p := &page{
		Title: "radperf on " + r.Server,
		Lead:  []string{"Load: " + r.Load + "; " + r.Mix + fmt.Sprintf("; %s users.", count(uint64(r.Users)))},
		Figures: append([]figure{
			{ID: "pps", Name: "answered a second", Value: rounded(r.Throughput)},
			{ID: "elapsed", Name: "in all", Value: seconds(r.Result.Elapsed)},
		}, append(r.latencies(), r.figures()...)...),
		TableCaption: "Each row is an interval that ends at the time in its first column; rates are a second, latencies in ms.",
		Data:         r,
	}
	if r.Result.Stopped {
		p.Lead = append(p.Lead, "It was stopped before its end.")
	}
	p.plotSamples(samples)
	p.Columns = []string{"s", "offered/s", "replies/s", "goodput/s", "retransmitted", "lost", "wrong", "in flight", "p50", "p90", "p99", "p99.9", "max"}
	for i := range samples {
		s := &samples[i]
		p.Rows = append(p.Rows, []string{
			fmt.Sprintf("%.2f", s.At.Seconds()), rounded(s.Offered), rounded(s.Throughput()), rounded(s.Goodput()), count(s.Retransmitted), count(s.Lost),
			count(s.Wrong()), count(uint64(s.InFlight)), inMS(s.Latency.P50), inMS(s.Latency.P90), inMS(s.Latency.P99), inMS(s.Latency.P999), inMS(s.Latency.Max),
		})
	}
	return p.write(w)
}

func (p *page) plotSamples(samples []loadgen.Sample) {
	x := plot.Axis{Label: "seconds"}
	line := func(name string, y func(*loadgen.Sample) float64, zeros bool) plot.Line {
		l := plot.Line{Name: name}
		for i := range samples {
			if v := y(&samples[i]); v > 0 || zeros {
				l.Points = append(l.Points, plot.Point{X: samples[i].At.Seconds(), Y: v})
			}
		}
		return l
	}
	p.draw("plot-rate", "Offered is what an open loop begins. Goodput is requests answered in time and rightly.", plot.Chart{
		Title: "Throughput and goodput", X: x, Y: plot.Axis{Label: "a second"},
		Lines: []plot.Line{
			line("replies", (*loadgen.Sample).Throughput, true), line("goodput", (*loadgen.Sample).Goodput, true),
			line("offered", func(s *loadgen.Sample) float64 { return s.Offered }, false),
		},
	})
	latency := func(d func(*loadgen.Latency) time.Duration) func(*loadgen.Sample) float64 {
		return func(s *loadgen.Sample) float64 { return ms(d(&s.Latency)) }
	}
	p.draw("plot-latency", "From when a request was to be sent until its answer. The axis is logarithmic.", plot.Chart{
		Title: "Latency", X: x, Y: plot.Axis{Label: "ms", Log: true},
		Lines: []plot.Line{
			line("p50", latency(func(l *loadgen.Latency) time.Duration { return l.P50 }), false),
			line("p90", latency(func(l *loadgen.Latency) time.Duration { return l.P90 }), false),
			line("p99", latency(func(l *loadgen.Latency) time.Duration { return l.P99 }), false),
			line("p99.9", latency(func(l *loadgen.Latency) time.Duration { return l.P999 }), false),
			line("max", latency(func(l *loadgen.Latency) time.Duration { return l.Max }), false),
		},
	})
	rate := func(n func(*loadgen.Counters) uint64) func(*loadgen.Sample) float64 {
		return func(s *loadgen.Sample) float64 { return float64(n(&s.Counters)) / max(s.Span.Seconds(), 1e-9) }
	}
	p.draw("plot-losses", "Lost requests were given up after their last timer.", plot.Chart{
		Title: "Losses", X: x, Y: plot.Axis{Label: "a second"},
		Lines: []plot.Line{
			line("retransmitted", rate(func(c *loadgen.Counters) uint64 { return c.Retransmitted }), true),
			line("lost", rate(func(c *loadgen.Counters) uint64 { return c.Lost }), true),
			line("wrong", rate((*loadgen.Counters).Wrong), true),
		},
	})
}

// together puts neighbours together until there are at most n: counters add up, and of latencies the worst stays.
func together(samples []loadgen.Sample, n int) []loadgen.Sample {
	size := (len(samples) + n - 1) / n
	if size <= 1 {
		return samples
	}
	var all []loadgen.Sample
	for len(samples) > 0 {
		some := samples[:min(size, len(samples))]
		samples = samples[len(some):]
		sum := some[0]
		for i := range some[1:] {
			sum.Join(&some[i+1])
		}
		all = append(all, sum)
	}
	return all
}
