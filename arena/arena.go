package arena

import (
	"math/bits"
	"sync/atomic"
)

// An Arena is the memory of one request. It comes from [Pool.Get] and goes back with [Arena.Release]; what
// was allocated from it is valid until then and must not be touched after.
//
// An Arena has one owner at a time and is not safe for concurrent use. A nil *Arena is valid: everything
// then comes from the heap, for tests and for callers that have no pool, and Release does nothing. The zero
// Arena is not valid: its methods panic as they do after Release.
type Arena struct {
	pool *Pool

	// live tells whether somebody owns the arena. It is atomic so that of two racing Releases one panics:
	// otherwise the arena would be handed to two requests, and one subscriber read another's data.
	live atomic.Bool

	// chunk[:off] is handed out; chunk[off:lim] is free and zero. lim is 0 while nobody owns the arena, so
	// that the fast path of Bytes needs no check of its own: it finds no room and the slow path looks why.
	chunk    []byte
	off, lim int

	// slabs holds this arena's part of each Slab, at its index; bit i of used is set when slabs[i] is.
	slabs []slabPart
	used  uint64

	spill spill
	heap  watch[byte]
	trace trace
}

// spill counts what did not fit: allocations, and their octets.
type spill struct {
	count, octets         int
	slabCount, slabOctets int
}

// slabPart is an arena's part of a Slab, whatever its type.
type slabPart interface {
	reset(limit int) // the elements are free again
	poison()         // in debug mode: they must not be touched
	damage() string  // in debug mode: what was written since, or ""
}

// Bytes returns n zeroed octets, with capacity n so that append cannot run into its neighbour. They are the
// caller's until [Arena.Release]. Their address has no particular alignment. When the chunk has not enough
// left they come from the heap. Bytes panics when n is negative.
func (a *Arena) Bytes(n int) []byte {
	// n-1 as an unsigned number: zero and negative lengths take the slow path too.
	if a != nil && uint(n-1) < uint(a.lim-a.off) {
		from := a.off
		a.off += n
		return a.chunk[from:a.off:a.off]
	}
	return a.bytesSlow(n)
}

func (a *Arena) bytesSlow(n int) []byte {
	if n < 0 {
		panic("arena: Bytes of a negative length")
	}
	if a == nil {
		return make([]byte, n)
	}
	a.mustLive("Bytes")
	if n == 0 {
		return []byte{}
	}
	a.spill.count++
	a.spill.octets += n
	b := make([]byte, n)
	a.heap.keep(b)
	return b
}

// Copy returns a copy of b, as [Arena.Bytes] would allocate it. The copy of a nil or empty slice is empty
// and not nil.
func (a *Arena) Copy(b []byte) []byte {
	c := a.Bytes(len(b))
	copy(c, b)
	return c
}

// CopyString returns the octets of s, as [Arena.Bytes] would allocate them.
func (a *Arena) CopyString(s string) []byte {
	c := a.Bytes(len(s))
	copy(c, s)
	return c
}

// String returns b as an ordinary string of the heap. It may outlive the arena: this is the way out for
// what must. (There is no string that shares the arena's memory: it would change under whoever kept it.)
func (a *Arena) String(b []byte) string {
	if a != nil {
		a.mustLive("String")
	}
	return string(b)
}

// Release gives the memory back; everything that came from the arena is invalid from here on. The octets
// that were used are cleared, so no password stays behind, and so are the slabs' objects, so they keep
// nothing of this request alive. Release of a released arena panics.
func (a *Arena) Release() {
	if a == nil {
		return
	}
	if !a.live.CompareAndSwap(true, false) {
		a.misuse("Release")
	}
	p := a.pool
	p.record(a.off+a.spill.octets, a.spill)
	p.free.put(a)
}

// reset makes a released arena's memory ready for the next owner.
func (a *Arena) reset() {
	clear(a.chunk[:a.off])
	for set := a.used; set != 0; set &= set - 1 {
		a.slabs[bits.TrailingZeros64(set)].reset(a.pool.config.MaxSlabElements)
	}
	a.off, a.lim, a.used, a.spill = 0, 0, 0, spill{}
}

func (a *Arena) mustLive(op string) {
	if !a.live.Load() {
		a.misuse(op)
	}
}

func (a *Arena) misuse(op string) {
	if a.pool == nil {
		panic("arena: " + op + " of an Arena that did not come from Pool.Get")
	}
	panic("arena: " + op + " after Release" + a.trace.String())
}
