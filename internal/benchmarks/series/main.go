// Command series draws the two graphs of a series of load tests: requests a second,
// and seconds in all, against the number of requests.
//
//	go run ./series throughput.svg time.svg <series.csv
//
// The CSV has the line
//
//	workers,requests,seconds,lost
//
// and a line for each run; several runs of one size become their median. A run that
// lost requests is an error: its throughput means nothing.
package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/radpool/radpool/internal/plot"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "series:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader) error {
	if len(args) != 2 {
		return errors.New("usage: series THROUGHPUT.svg TIME.svg <CSV")
	}
	runs, err := readRuns(in)
	if err != nil {
		return err
	}
	throughput, total := charts(runs)
	return errors.Join(write(args[0], throughput), write(args[1], total))
}

// A series is how long the runs of each size took.
type series map[size][]float64

type size struct{ workers, requests int }

var header = []string{"workers", "requests", "seconds", "lost"}

func readRuns(in io.Reader) (series, error) {
	r := csv.NewReader(in)
	first, err := r.Read()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the first line: %w", err)
	case !slices.Equal(first, header):
		return nil, fmt.Errorf("the first line is %q, must be %q", first, header)
	}
	runs := make(series)
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		workers, err1 := strconv.Atoi(fields[0])
		requests, err2 := strconv.Atoi(fields[1])
		seconds, err3 := strconv.ParseFloat(fields[2], 64)
		lost, err4 := strconv.Atoi(fields[3])
		switch err := errors.Join(err1, err2, err3, err4); {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		case workers < 1 || requests < 1 || !(seconds > 0):
			return nil, fmt.Errorf("line %d: workers, requests and seconds must be more than 0", line)
		case lost != 0:
			return nil, fmt.Errorf("line %d: %d requests were lost", line, lost)
		}
		s := size{workers, requests}
		runs[s] = append(runs[s], seconds)
	}
	if len(runs) == 0 {
		return nil, errors.New("no runs")
	}
	return runs, nil
}

// charts has a line for each number of workers.
func charts(runs series) (throughput, total *plot.Chart) {
	requests := plot.Axis{Label: "requests", Log: true}
	throughput = &plot.Chart{Title: "Throughput", X: requests, Y: plot.Axis{Label: "requests a second"}}
	total = &plot.Chart{Title: "Total time", X: requests, Y: plot.Axis{Label: "seconds", Log: true}}
	sizes := slices.SortedFunc(maps.Keys(runs), func(a, b size) int {
		if a.workers != b.workers {
			return a.workers - b.workers
		}
		return a.requests - b.requests
	})
	for i, s := range sizes {
		if i == 0 || s.workers != sizes[i-1].workers {
			l := plot.Line{Name: fmt.Sprint(s.workers, " workers")}
			throughput.Lines, total.Lines = append(throughput.Lines, l), append(total.Lines, l)
		}
		n, seconds := float64(s.requests), median(runs[s])
		last := len(total.Lines) - 1
		throughput.Lines[last].Points = append(throughput.Lines[last].Points, plot.Point{X: n, Y: n / seconds})
		total.Lines[last].Points = append(total.Lines[last].Points, plot.Point{X: n, Y: seconds})
	}
	return throughput, total
}

// median is the middle one, of an even number the mean of the two.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func write(file string, c *plot.Chart) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(c.WriteSVG(f), f.Close())
}
