package cache

import (
	"math/bits"
	"slices"
)

// bitset is a set of small integers that finds its least member in a few
// steps: each level holds a bit for every non-zero word of the level
// below, up to a level of one word.
type bitset struct {
	levels [][]uint64
}

// grow makes room for members below n.
func (b *bitset) grow(n int) {
	for level := 0; ; level++ {
		words := (n + 63) / 64
		if level == len(b.levels) {
			b.levels = append(b.levels, nil)
			if level > 0 {
				b.summarise(level, words)
			}
		}
		for len(b.levels[level]) < words {
			b.levels[level] = append(b.levels[level], 0)
		}
		if words <= 1 {
			return
		}
		n = words
	}
}

// summarise fills a level that is new from the one below.
func (b *bitset) summarise(level, words int) {
	b.levels[level] = make([]uint64, words)
	for i, w := range b.levels[level-1] {
		if w != 0 {
			b.levels[level][i/64] |= 1 << (i % 64)
		}
	}
}

func (b *bitset) set(i int) {
	for level := range b.levels {
		w := &b.levels[level][i/64]
		before := *w
		*w |= 1 << (i % 64)
		if before != 0 {
			return
		}
		i /= 64
	}
}

func (b *bitset) clear(i int) {
	for level := range b.levels {
		w := &b.levels[level][i/64]
		*w &^= 1 << (i % 64)
		if *w != 0 {
			return
		}
		i /= 64
	}
}

// first returns the least member, or -1 when there is none.
func (b *bitset) first() int {
	if len(b.levels) == 0 {
		return -1
	}
	i := 0
	for _, level := range slices.Backward(b.levels) {
		w := level[i]
		if w == 0 {
			return -1
		}
		i = i*64 + bits.TrailingZeros64(w)
	}
	return i
}
