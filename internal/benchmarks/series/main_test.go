package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/plot"
)

const threeSizes = `workers,requests,seconds,lost
256,1000,0.05,0
128,1000,0.1,0
128,10000,1,0
128,1000,0.3,0
128,1000,0.2,0
`

func TestCharts(t *testing.T) {
	runs, err := readRuns(strings.NewReader(threeSizes))
	if err != nil {
		t.Fatal(err)
	}
	throughput, total := charts(runs)
	for _, c := range []struct {
		name string
		got  []plot.Line
		want []plot.Line
	}{
		{"throughput", throughput.Lines, []plot.Line{
			{Name: "128 workers", Points: []plot.Point{{X: 1000, Y: 5000}, {X: 10_000, Y: 10_000}}},
			{Name: "256 workers", Points: []plot.Point{{X: 1000, Y: 20_000}}},
		}},
		{"total time", total.Lines, []plot.Line{
			{Name: "128 workers", Points: []plot.Point{{X: 1000, Y: 0.2}, {X: 10_000, Y: 1}}},
			{Name: "256 workers", Points: []plot.Point{{X: 1000, Y: 0.05}}},
		}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	v := []float64{3, 1, 2, 10}
	if m := median(v); m != 2.5 || v[0] != 3 {
		t.Errorf("median %v, and the runs are now %v", m, v)
	}
	if m := median(v[:3]); m != 2 {
		t.Errorf("median %v, want 2", m)
	}
}

func TestRun(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a.svg"), filepath.Join(t.TempDir(), "b.svg")
	if err := run([]string{a, b}, strings.NewReader(threeSizes)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{a: "requests a second", b: "seconds"} {
		if svg, err := os.ReadFile(file); err != nil || !strings.Contains(string(svg), ">"+want+"</text>") {
			t.Errorf("%s: %v, no %q in it", file, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	const head = "workers,requests,seconds,lost\n"
	for _, tc := range []struct{ csv, want string }{
		{"", `the first line: EOF`},
		{"a,b,c,d\n", `the first line is ["a" "b" "c" "d"], must be ["workers" "requests" "seconds" "lost"]`},
		{head, "no runs"},
		{head + "1,2,3,0\n1,2,3\n", "record on line 3: wrong number of fields"},
		{head + "1,x,3,0\n", `line 2: strconv.Atoi: parsing "x": invalid syntax`},
		{head + "1,2,NaN,0\n", "line 2: workers, requests and seconds must be more than 0"},
		{head + "1,2,0,0\n", "line 2: workers, requests and seconds must be more than 0"},
		{head + "1,2,3,4\n", "line 2: 4 requests were lost"},
	} {
		if _, err := readRuns(strings.NewReader(tc.csv)); err == nil || err.Error() != tc.want {
			t.Errorf("%q: error %v, want %s", tc.csv, err, tc.want)
		}
	}
	if err := run(nil, strings.NewReader(threeSizes)); err == nil {
		t.Error("no error without names of files")
	}
}
