package histogram

import (
	"math"
	"math/bits"
	"time"
)

const (
	precision = 7              // bits of a value that are kept
	linear    = 1 << precision // buckets a power of two; values below it are exact
	longest   = 40             // bits of the longest value that has a bucket
	buckets   = (longest - precision + 1) * linear
)

// Max is the longest duration that has a bucket of its own, about 18 minutes. Longer ones are counted in the last bucket;
// their greatest and their sum are exact all the same.
const Max = time.Duration(1<<longest - 1)

// Histogram counts durations. The zero value is empty and takes 35 KB. It is for one goroutine at a time.
type Histogram struct {
	counts [buckets]uint64
	count  uint64
	sum    float64 // nanoseconds
	min    time.Duration
	max    time.Duration
}

// Record counts d. One that is negative counts as 0.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	if h.count == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.counts[bucket(min(d, Max))]++
	h.count++
	h.sum += float64(d)
}

// Merge counts what other has counted. other stays as it is.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.count += other.count
	h.sum += other.sum
}

// Reset makes h empty.
func (h *Histogram) Reset() {
	if h.count > 0 {
		*h = Histogram{}
	}
}

// Count is how many durations there are.
func (h *Histogram) Count() uint64 { return h.count }

// Min is the least, exactly; 0 where there is none.
func (h *Histogram) Min() time.Duration { return h.min }

// Max is the greatest, exactly; 0 where there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is the average; 0 where there is none.
func (h *Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.count))
}

// Quantile returns the least duration that the share q of all, from 0 to 1, does not exceed, rounded up to the end of its
// bucket, which is at most 1/128 more. It is 0 where there is none. q outside its bounds is taken for the nearer bound.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := uint64(math.Ceil(min(max(q, 0), 1) * float64(h.count)))
	rank = min(max(rank, 1), h.count)
	var seen uint64
	for i, n := range h.counts {
		if seen += n; seen >= rank {
			return max(h.min, min(upper(i), h.max))
		}
	}
	return h.max
}

// bucket is the index of the bucket of d, which is from 0 to Max.
func bucket(d time.Duration) int {
	v := uint64(d)
	if v < linear {
		return int(v)
	}
	shift := bits.Len64(v) - precision - 1
	return shift*linear + int(v>>shift)
}

// upper is the greatest value that bucket i counts.
func upper(i int) time.Duration {
	if i < 2*linear {
		return time.Duration(i)
	}
	shift := i/linear - 1
	return time.Duration(uint64(i-shift*linear+1)<<shift - 1)
}
