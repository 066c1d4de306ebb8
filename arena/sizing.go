package arena

import "math/bits"

// wantedSize returns the chunk size that the histogram calls for: the configured percentile, rounded up to
// a step, within the bounds. Without requests it is the configured ChunkSize. c has no zero fields.
func wantedSize(h *histogram, c Config) int { return sizeFor(h, c, c.Percentile) }

// easySize returns the size that would leave out only half as many requests as wantedSize may. A chunk that
// is larger than this can shrink without being called for again by the next window's chance.
func easySize(h *histogram, c Config) int { return sizeFor(h, c, (100+c.Percentile)/2) }

func sizeFor(h *histogram, c Config, percentile float64) int {
	octets, ok := h.percentile(percentile)
	if !ok {
		return c.ChunkSize
	}
	return min(max(roundSize(octets), c.MinChunkSize), c.MaxChunkSize)
}

// roundSize rounds octets up to a quarter of a power of two. Few distinct sizes mean few resizes, and these
// lie close to the size classes of Go's allocator.
func roundSize(octets int) int {
	if octets <= 4 {
		return octets
	}
	step := 1 << (bits.Len(uint(octets-1)) - 3)
	return (octets + step - 1) / step * step
}

// shrinkAfter is how many windows in a row must call for a smaller chunk before it shrinks.
const shrinkAfter = 4

// sizer holds the chunk's size and its hysteresis. Too small a chunk costs an allocation for each request,
// too large a one costs only memory: so it grows at once, and shrinks when for shrinkAfter windows in a row
// three quarters of it were enough with ease, to the most that any of these windows called for.
type sizer struct {
	size int
	low  int // windows in a row that called for less
	most int // the most that one of them called for
}

// next returns the sizer after a window whose wantedSize and easySize are given.
func (s sizer) next(wanted, easy int) sizer {
	if wanted > s.size {
		return sizer{size: wanted}
	}
	if easy > s.size-s.size/4 {
		return sizer{size: s.size}
	}
	s.low++
	s.most = max(s.most, easy)
	if s.low < shrinkAfter {
		return s
	}
	return sizer{size: s.most}
}
