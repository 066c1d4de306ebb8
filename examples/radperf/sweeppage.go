package main

import (
	"fmt"
	"io"

	"github.com/radpool/radpool/internal/plot"
)

// writeSweepPage writes the page of a sweep: throughput and total time against requests, and throughput against workers.
func writeSweepPage(w io.Writer, s *series) error {
	p := &page{
		Title: "radperf sweep on " + s.Server,
		Lead:  []string{"Load: " + s.Mix + ", a closed loop of as many workers as each line says."},
		Figures: []figure{
			{ID: "pps", Name: "most answered a second", Value: rounded(s.best().Throughput)},
			{ID: "best-workers", Name: "workers then", Value: count(uint64(s.best().Workers))},
			{ID: "best-requests", Name: "requests then", Value: count(uint64(s.best().Requests))},
			{ID: "p99", Name: "p99 then", Value: milliseconds(s.best().Result.Latency.P99)},
		},
		TableCaption: "Each row is one measurement; latencies in ms.",
		Columns:      []string{"workers", "requests", "answered/s", "seconds", "p50", "p90", "p99", "max", "retransmitted", "lost", "wrong"},
		Data:         s,
	}
	if s.Start != "" {
		p.Lead = append(p.Lead, "The server, a new one for each measurement: "+s.Start)
	}
	var lost, bad uint64
	for _, m := range s.Points {
		r := m.Result
		lost, bad = lost+r.Lost, bad+r.Wrong()
		p.Rows = append(p.Rows, []string{
			count(uint64(m.Workers)), count(uint64(m.Requests)), rounded(m.Throughput), fmt.Sprintf("%.3f", m.Seconds), inMS(r.Latency.P50),
			inMS(r.Latency.P90), inMS(r.Latency.P99), inMS(r.Latency.Max), count(r.Retransmitted), count(r.Lost), count(r.Wrong()),
		})
	}
	p.Figures = append(p.Figures, figure{"lost", "lost", count(lost), lost > 0}, figure{"wrong", "wrong replies", count(bad), bad > 0})
	workers := func(m point) int { return m.Workers }
	requests := func(m point) int { return m.Requests }
	rate := func(m point) float64 { return m.Throughput }
	p.draw("plot-requests", "A line for each number of workers.", plot.Chart{
		Title: "Throughput against requests", X: plot.Axis{Label: "requests", Log: true}, Y: plot.Axis{Label: "answered a second"},
		Lines: s.lines("workers", workers, requests, rate),
	})
	p.draw("plot-time", "A line for each number of workers. Both axes are logarithmic.", plot.Chart{
		Title: "Total time against requests", X: plot.Axis{Label: "requests", Log: true}, Y: plot.Axis{Label: "seconds", Log: true},
		Lines: s.lines("workers", workers, requests, func(m point) float64 { return m.Seconds }),
	})
	p.draw("plot-workers", "A line for each number of requests.", plot.Chart{
		Title: "Throughput against workers", X: plot.Axis{Label: "workers"}, Y: plot.Axis{Label: "answered a second"},
		Lines: s.lines("requests", requests, workers, rate),
	})
	return p.write(w)
}

// best is the point of the highest throughput.
func (s *series) best() point {
	best := s.Points[0]
	for _, p := range s.Points {
		if p.Throughput > best.Throughput {
			best = p
		}
	}
	return best
}

// lines has a line for each value of name, over x. A point at which nothing was answered has no place on it.
func (s *series) lines(unit string, name, x func(point) int, y func(point) float64) []plot.Line {
	var lines []plot.Line
	at := make(map[int]int)
	for _, p := range s.Points {
		i, ok := at[name(p)]
		if !ok {
			i = len(lines)
			at[name(p)] = i
			lines = append(lines, plot.Line{Name: count(uint64(name(p))) + " " + unit})
		}
		if v := y(p); v > 0 {
			lines[i].Points = append(lines[i].Points, plot.Point{X: float64(x(p)), Y: v})
		}
	}
	return lines
}
