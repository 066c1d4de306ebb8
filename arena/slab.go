package arena

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// MaxSlabs is how many Slabs of a process can keep memory in arenas. Those first used beyond it work, but
// everything they give comes from the heap and is counted in [Stats].SlabOverflows.
const MaxSlabs = 64

const (
	leastBlock = 8 // elements of a slab's first block in an arena

	// shrinkUses is how many requests of an arena use a slab before its block may shrink.
	shrinkUses = 128
)

// slabCount is how many indexes have been given to Slabs.
var slabCount struct {
	sync.Mutex
	n uint32
}

// A Slab gives out values of type T that live until the arena they were taken with is released. Unlike
// [Arena.Bytes] its memory may hold pointers: the garbage collector sees them.
//
// The zero value is ready. A Slab holds no values itself, only an index under which each [Arena] keeps its
// own; indexes are never given back and there are MaxSlabs of them, so a Slab belongs in a package-level
// variable, one for each type. It is safe for concurrent use by the owners of different arenas, and must not
// be copied after its first use.
//
// An arena keeps for each slab as many elements as its requests use, at most [Config].MaxSlabElements.
type Slab[T any] struct {
	id atomic.Uint32 // index + 1; 0: none yet; more than MaxSlabs: none left
}

// New returns a zeroed T that is valid until a is released. A nil arena gives one from the heap.
func (s *Slab[T]) New(a *Arena) *T {
	if a == nil {
		return new(T)
	}
	b := s.block(a)
	if b == nil {
		return &overflow[T](a, 1)[0]
	}
	if b.n == len(b.elems) && !b.grow(1, a.pool.config.MaxSlabElements) {
		return &b.overflow(a, 1)[0]
	}
	p := &b.elems[b.n]
	b.n++
	return p
}

// Make returns n zeroed values, valid until a is released, with capacity n so that append cannot run into
// others. A nil arena gives them from the heap. Make panics when n is negative.
func (s *Slab[T]) Make(a *Arena, n int) []T {
	if n < 0 {
		panic("arena: Slab.Make of a negative length")
	}
	if a == nil {
		return make([]T, n)
	}
	b := s.block(a)
	switch {
	case n == 0:
		return []T{}
	case b == nil:
		return overflow[T](a, n)
	case n > len(b.elems)-b.n && !b.grow(n, a.pool.config.MaxSlabElements):
		return b.overflow(a, n)
	}
	from := b.n
	b.n += n
	return b.elems[from:b.n:b.n]
}

// block returns a's block of the slab and marks it used, or nil when the slab has no index.
func (s *Slab[T]) block(a *Arena) *block[T] {
	a.mustLive("Slab")
	index := s.id.Load() - 1
	if index < uint32(len(a.slabs)) {
		if b, ok := a.slabs[index].(*block[T]); ok {
			a.used |= 1 << index
			return b
		}
	}
	return s.attach(a)
}

// attach gives the slab its index, and the arena its block of it.
func (s *Slab[T]) attach(a *Arena) *block[T] {
	if s.id.Load() == 0 {
		slabCount.Lock()
		if s.id.Load() == 0 {
			slabCount.n = min(slabCount.n+1, MaxSlabs+1)
			s.id.Store(slabCount.n)
		}
		slabCount.Unlock()
	}
	index := int(s.id.Load()) - 1
	if index >= MaxSlabs {
		return nil
	}
	for len(a.slabs) <= index {
		a.slabs = append(a.slabs, nil)
	}
	b := &block[T]{}
	a.slabs[index] = b
	a.used |= 1 << index
	return b
}

// A block is an arena's part of a slab: elems[:n] is handed out and elems[n:] is zero. A block that is used
// up during a request is replaced by a larger one (the old one stays as long as its elements are referred
// to), and the next request begins with one that would have held everything.
type block[T any] struct {
	elems []T
	n     int

	before int // elements of this request in blocks that were used up
	over   int // elements of this request beyond the bound, from the heap

	want int // elements of the block to make when elems is nil
	uses int // requests since the block last might shrink
	peak int // the most elements that one of them used

	watch watch[T]
}

// grow replaces a block that has no room for n more, and reports false where the bound forbids it.
func (b *block[T]) grow(n, limit int) bool {
	total := b.before + b.n
	if n > limit-total {
		return false
	}
	size := min(max(b.want, 2*len(b.elems), n, leastBlock), limit-total)
	if b.n > 0 {
		b.watch.keep(b.elems[:b.n])
	}
	b.elems, b.n, b.before, b.want = make([]T, size), 0, total, 0
	return true
}

func (b *block[T]) overflow(a *Arena, n int) []T {
	b.over += n
	elems := overflow[T](a, n)
	b.watch.keep(elems)
	return elems
}

// overflow takes n elements from the heap and counts them.
func overflow[T any](a *Arena, n int) []T {
	elems := make([]T, n)
	a.spill.slabCount++
	a.spill.slabOctets += n * int(unsafe.Sizeof(*new(T)))
	return elems
}

// reset clears what was used and fits the block to what requests use: larger at once, smaller by half when
// for shrinkUses requests a quarter would have done.
func (b *block[T]) reset(limit int) {
	total := b.before + b.n + b.over
	fit := min(max(powerOfTwo(total), leastBlock), limit)
	b.uses++
	b.peak = max(b.peak, fit)
	size := max(len(b.elems), fit)
	if b.uses >= shrinkUses {
		if b.peak <= size/4 {
			size /= 2
		}
		b.uses, b.peak = 0, 0
	}
	if size == len(b.elems) {
		clear(b.elems[:b.n])
	} else {
		b.elems, b.want = nil, size
	}
	b.n, b.before, b.over = 0, 0, 0
	b.watch = watch[T]{}
}

// powerOfTwo returns the least power of two that is at least n.
func powerOfTwo(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
