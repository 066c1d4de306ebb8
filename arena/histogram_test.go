package arena_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radpool/radpool/arena"
)

// TestBucketsPartition checks that the buckets cover all sizes without gap or overlap, and that a bucket's
// top is at most an eighth (or 8 octets) above anything in it.
func TestBucketsPartition(t *testing.T) {
	below := -1
	for i := range arena.NumBuckets {
		top := arena.BucketTop(i)
		if top <= below {
			t.Fatalf("bucket %d ends at %d, the one before it at %d", i, top, below)
		}
		if got := arena.BucketOf(top); got != i {
			t.Errorf("%d octets, the top of bucket %d, belong to %d", top, i, got)
		}
		if got := arena.BucketOf(below + 1); got != i {
			t.Errorf("%d octets, the bottom of bucket %d, belong to %d", below+1, i, got)
		}
		if slack := top - below - 1; slack > max(8, top/8) {
			t.Errorf("bucket %d spans %d octets up to %d", i, slack, top)
		}
		below = top
	}
	if got := arena.BucketOf(math.MaxInt); got != arena.NumBuckets-1 {
		t.Errorf("the greatest int belongs to bucket %d of %d", got, arena.NumBuckets)
	}
}

// naivePercentile is the nearest-rank percentile by its definition.
func naivePercentile(values []int, p float64) int {
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// TestPercentileAgainstSorting compares the histogram with a sorted slice over random mixes of sizes.
func TestPercentileAgainstSorting(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for round := range 300 {
		var h arena.Histogram
		values := make([]int, 1+r.IntN(500))
		for i := range values {
			values[i] = r.IntN(1 << (1 + r.IntN(28)))
			h.Add(arena.BucketOf(values[i]), 1)
		}
		for _, p := range []float64{0.001, 1, 25, 50, 90, 99, 99.9, 100, 100 * r.Float64()} {
			want := arena.BucketTop(arena.BucketOf(naivePercentile(values, p)))
			got, ok := h.Percentile(p)
			if !ok || got != want {
				t.Fatalf("seed %d, round %d: percentile %v of %d values is %d (%v), want %d", seed, round, p, len(values), got, ok, want)
			}
		}
	}
}

func TestPercentileOfNothing(t *testing.T) {
	var h arena.Histogram
	if got, ok := h.Percentile(50); ok || got != 0 {
		t.Errorf("got %d, %v", got, ok)
	}
}

// TestDecayForgets checks that requests of old windows lose their say, but not at once.
func TestDecayForgets(t *testing.T) {
	var h arena.Histogram
	h.Add(arena.BucketOf(100_000), 1000)
	for window := 1; ; window++ {
		h.Decay()
		h.Add(arena.BucketOf(1000), 1000)
		p99, _ := h.Percentile(99)
		if p99 < 2000 {
			// 1000/2^w of 2000: less than one per cent from the sixth window on.
			if window != 6 {
				t.Errorf("the burst was forgotten after %d windows, want 6", window)
			}
			return
		}
		if window > 20 {
			t.Fatal("the burst is not forgotten")
		}
	}
}
