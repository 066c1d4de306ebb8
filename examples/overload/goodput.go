package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/plot"
	"github.com/radpool/radpool/internal/sim"
)

// queue is one of the two that are shown.
type queue struct {
	name string
	make func(int) (sim.Queue, error)
	// wait is how long a request may be in the server: FreeRADIUS's default, and
	// radpool's.
	wait time.Duration
}

var queues = []queue{
	{"first in, first out", sim.FIFO, 30 * time.Second},
	{"radpool", sim.Radpool, 9 * time.Second},
}

// offered are the loads, in multiples of the capacity.
var offered = []float64{0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5, 10}

// goodputs is the answers that came to who still waited, as a share of the capacity, by queue
// and load; and the part of the requests that was answered of those that came in the ten
// seconds after, at half of the capacity.
type goodputs struct{ during, after [][]float64 }

// Each load lasts for a while, of which the second half counts.
const (
	loadTime  = 40 * time.Second
	countFrom = 20 * time.Second
	afterTime = 10 * time.Second
)

func goodput(o *options) (g goodputs, err error) {
	for _, q := range queues {
		var during, after []float64
		for _, load := range offered {
			s := o.scenario(q.make, loadTime+afterTime, sim.Rate{PerSecond: load}, sim.Rate{From: loadTime, PerSecond: 0.5})
			s.Server.MaxRequestTime = q.wait
			r, err := s.Run()
			if err != nil {
				return g, err
			}
			during = append(during, float64(r.Answers(countFrom, loadTime))/((loadTime-countFrom).Seconds()*o.capacity()))
			after = append(after, r.Summary(sim.Window{From: loadTime}).Share())
		}
		g.during, g.after = append(g.during, during), append(g.after, after)
	}
	return g, nil
}

func (g goodputs) print(w *strings.Builder) {
	fmt.Fprintln(w, "Answered in time under a lasting load, in % of the capacity, and of what comes at half the capacity in the 10 s after it:")
	fmt.Fprintf(w, "\n%10s %24s %24s\n%10s %12s %11s %12s %11s\n", "offered", queues[0].name, queues[1].name, "", "under load", "after", "under load", "after")
	for i, load := range offered {
		fmt.Fprintf(w, "%9.0f%%", 100*load)
		for q := range queues {
			fmt.Fprintf(w, " %11.1f%% %10.1f%%", 100*g.during[q][i], 100*g.after[q][i])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func (g goodputs) plot(o *options) error {
	c := plot.Chart{
		Title: "Answered in time, against what is asked",
		X:     plot.Axis{Label: "offered, in % of the capacity", Log: true},
		Y:     plot.Axis{Label: "answered in time, in % of the capacity"},
	}
	for q := range queues {
		line := plot.Line{Name: queues[q].name}
		for i, load := range offered {
			line.Points = append(line.Points, plot.Point{X: 100 * load, Y: 100 * g.during[q][i]})
		}
		c.Lines = append(c.Lines, line)
	}
	return write(o, "overload-goodput.svg", &c)
}

// write writes a plot.
func write(o *options, name string, c *plot.Chart) error {
	f, err := os.Create(filepath.Join(o.svg, name))
	if err != nil {
		return err
	}
	if err := c.WriteSVG(f); err != nil {
		_ = f.Close() // it is not whole in any case
		return err
	}
	return f.Close()
}
