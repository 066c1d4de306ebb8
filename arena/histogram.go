package arena

import (
	"math"
	"math/bits"
)

// The histogram's buckets are logarithmic: every power of two is cut into 8, so that a bucket's upper bound
// is at most an eighth above any value in it; below 64 octets they are 8 octets wide. The last bucket takes
// everything from 1 GiB less an eighth.
const (
	subBits    = 3
	firstBits  = 6  // 1<<firstBits: where the logarithmic part begins
	lastBits   = 30 // 1<<lastBits: where it ends
	numBuckets = 1<<subBits + (lastBits-firstBits)<<subBits
)

// bucketOf returns the index of the bucket that n octets (n >= 0) belong to. A bucket includes its upper
// bound: sizes of allocations like to be powers of two, and those should not be rounded up.
func bucketOf(n int) int {
	v := uint64(max(n-1, 0))
	if v < 1<<firstBits {
		return int(v >> (firstBits - subBits))
	}
	exp := bits.Len64(v) - 1
	sub := v >> (exp - subBits) & (1<<subBits - 1)
	return min((exp-firstBits+1)<<subBits+int(sub), numBuckets-1)
}

// bucketTop returns the largest number of octets that belongs to bucket i.
func bucketTop(i int) int {
	if i < 1<<subBits {
		return (i + 1) << (firstBits - subBits)
	}
	exp := i>>subBits - 1 + firstBits
	sub := i & (1<<subBits - 1)
	return (1<<subBits + sub + 1) << (exp - subBits)
}

// histogram counts requests by the octets they used. Each request weighs unit when it is recorded and half
// as much after each decay; unit is large so that halving a few requests does not round them away at once.
type histogram [numBuckets]uint64

const unit = 1 << 16

func (h *histogram) add(bucket int, requests uint64) { h[bucket] += requests * unit }

func (h *histogram) decay() {
	for i := range h {
		h[i] /= 2
	}
}

// percentile returns the octets that cover p per cent of the requests (nearest rank, rounded up to the top
// of a bucket), and false when there are no requests.
func (h *histogram) percentile(p float64) (int, bool) {
	var total uint64
	for _, weight := range h {
		total += weight
	}
	if total == 0 {
		return 0, false
	}
	rank := max(uint64(math.Ceil(p/100*float64(total))), 1)
	var seen uint64
	last := 0
	for i, weight := range h {
		if weight == 0 {
			continue
		}
		last = i
		if seen += weight; seen >= rank {
			break
		}
	}
	return bucketTop(last), true
}
