package histogram_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/histogram"
)

func Example() {
	var h histogram.Histogram
	for i := range 1000 {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	fmt.Println(h.Count(), h.Min(), h.Quantile(0.5).Round(10*time.Millisecond), h.Max())
	// Output: 1000 1ms 500ms 1s
}

// naive keeps every value.
type naive []time.Duration

func (n naive) quantile(q float64) time.Duration {
	slices.Sort(n)
	rank := int(math.Ceil(q * float64(len(n))))
	return n[max(rank, 1)-1]
}

var quantiles = []float64{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1}

func TestBesideEveryValue(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		var parts [2]histogram.Histogram
		var all naive
		var sum float64
		for i := range 1 + r.IntN(2000) {
			d := time.Duration(math.Exp(r.Float64() * math.Log(float64(histogram.Max))))
			parts[i%2].Record(d)
			all = append(all, d)
			sum += float64(d)
		}
		h := &parts[0]
		h.Merge(&parts[1])
		if h.Count() != uint64(len(all)) || h.Min() != slices.Min(all) || h.Max() != slices.Max(all) {
			t.Fatalf("seed %d round %d: %d from %v to %v, want %d from %v to %v", seed, round, h.Count(), h.Min(), h.Max(), len(all), slices.Min(all), slices.Max(all))
		}
		if mean := sum / float64(len(all)); math.Abs(float64(h.Mean())-mean) > 1+mean*1e-9 {
			t.Fatalf("seed %d: mean %v, want %v", seed, h.Mean(), mean)
		}
		for _, q := range quantiles {
			got, want := h.Quantile(q), all.quantile(q)
			if got < want || float64(got) > float64(want)*(1+1.0/128) {
				t.Fatalf("seed %d: quantile %v is %v, want %v and at most 1/128 more", seed, q, got, want)
			}
		}
	}
}

func TestSmallValuesAreExact(t *testing.T) {
	for d := range time.Duration(256) {
		var h histogram.Histogram
		h.Record(d)
		h.Record(time.Minute)
		if got := h.Quantile(0.5); got != d {
			t.Errorf("%d ns is read as %d", d, got)
		}
	}
}

func TestBounds(t *testing.T) {
	var h histogram.Histogram
	if h.Quantile(0.5) != 0 || h.Mean() != 0 || h.Max() != 0 {
		t.Error("an empty one is not 0")
	}
	h.Record(-time.Second)
	if h.Quantile(1) != 0 || h.Count() != 1 {
		t.Error("a negative duration is not counted as 0")
	}
	h.Record(24 * time.Hour)
	if h.Quantile(1) != histogram.Max || h.Max() != 24*time.Hour {
		t.Errorf("a day is %v, greatest %v", h.Quantile(1), h.Max())
	}
	var other histogram.Histogram
	other.Merge(&h)
	h.Reset()
	if h.Count() != 0 || other.Count() != 2 || other.Min() != 0 {
		t.Error("Reset or Merge")
	}
}

func TestAllocations(t *testing.T) {
	h := new(histogram.Histogram)
	if n := testing.AllocsPerRun(1000, func() { h.Record(time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}
