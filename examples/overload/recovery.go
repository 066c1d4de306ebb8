package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/plot"
	"github.com/radpool/radpool/internal/sim"
)

// storm is what happens, second by second, when twice the capacity is asked for 30 s and
// then half of it.
type storm struct {
	made     []float64 // requests
	answered [][]float64
}

const stormTime, stormEnd = 30, 60 // seconds

func recovery(o *options) (st storm, err error) {
	for _, q := range queues {
		s := o.scenario(q.make, stormEnd*time.Second, sim.Rate{PerSecond: 2}, sim.Rate{From: stormTime * time.Second, PerSecond: 0.5})
		s.Server.MaxRequestTime = q.wait
		r, err := s.Run()
		if err != nil {
			return st, err
		}
		var made, answered []float64
		for at := range stormEnd {
			from, to := time.Duration(at)*time.Second, time.Duration(at+1)*time.Second
			made = append(made, float64(r.Summary(sim.Window{From: from, To: to}).Made))
			answered = append(answered, float64(r.Answers(from, to)))
		}
		st.made, st.answered = made, append(st.answered, answered)
	}
	return st, nil
}

func (st storm) print(w *strings.Builder) {
	fmt.Fprintf(w, "Twice the capacity for %d s, then half of it: new requests a second, and answers in time.\n\n", stormTime)
	fmt.Fprintf(w, "%10s %10s %20s %10s\n", "second", "new", queues[0].name, queues[1].name)
	for at := 0; at < stormEnd; at += 5 {
		mean := func(v []float64) (sum float64) {
			for _, x := range v[at : at+5] {
				sum += x / 5
			}
			return sum
		}
		fmt.Fprintf(w, "%10s %10.0f %20.0f %10.0f\n", fmt.Sprintf("%d-%d", at, at+5), mean(st.made), mean(st.answered[0]), mean(st.answered[1]))
	}
	fmt.Fprintln(w)
}

func (st storm) plot(o *options) error {
	c := plot.Chart{
		Title: fmt.Sprintf("Twice the capacity for %d s, then half of it", stormTime),
		X:     plot.Axis{Label: "seconds"},
		Y:     plot.Axis{Label: "a second"},
	}
	for i, values := range append([][]float64{st.made}, st.answered...) {
		line := plot.Line{Name: "new requests"}
		if i > 0 {
			line.Name = "answered in time: " + queues[i-1].name
		}
		for at, v := range values {
			line.Points = append(line.Points, plot.Point{X: float64(at), Y: v})
		}
		c.Lines = append(c.Lines, line)
	}
	return write(o, "overload-recovery.svg", &c)
}
