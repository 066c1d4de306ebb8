//go:build !race && !radpooldebug

package arena_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/radpool/radpool/arena"
)

// What is tested here is otherwise where Debug is true: that allocates, gives each request other
// memory, and keeps what is released in quarantine.

// TestAllocationBudget: a request whose size was seen before allocates nothing.
func TestAllocationBudget(t *testing.T) {
	p := newPool(t, arena.Config{Window: 16}) // several windows pass during the test
	request := func() {
		a := p.Get()
		for i := range 20 {
			pair := pairs.New(a)
			pair.Type, pair.Value = i, a.Bytes(10)
		}
		pairs.Make(a, 5)
		for range 10 {
			a.Bytes(100)
		}
		a.Release()
	}
	for range 500 { // until the chunk and the slab have found their size
		request()
	}
	if n := testing.AllocsPerRun(1000, request); n != 0 {
		t.Errorf("%v allocations a request, want 0", n)
	}
	if s := p.Stats(); s.ChunkSize != 2048 {
		t.Errorf("the chunk has %d octets, want 2048 for requests of 1200", s.ChunkSize)
	}
}

// TestStaleChunkIsDropped checks that an arena keeps its chunk over Release, but not one that a resize has
// made wrong: idle arenas would pin the memory of a burst that is over.
func TestStaleChunkIsDropped(t *testing.T) {
	p := newPool(t, arena.Config{Window: 16})
	current, stale := p.Get(), p.Get()
	current.Release()
	if n := current.ChunkLen(); n != 32768 {
		t.Errorf("a released arena keeps %d octets, want its chunk", n)
	}
	use(p, 100, 100)
	if n := p.Stats().ChunkSize; n != 2048 {
		t.Fatalf("the chunk has %d octets", n)
	}
	stale.Release()
	if n := stale.ChunkLen(); n != 0 {
		t.Errorf("a released arena keeps a stale chunk of %d octets", n)
	}
}

// TestSlabFollowsUse checks that an arena keeps what its requests use: not the bound from the start, no more
// than the bound ever, and less again when requests have become smaller.
func TestSlabFollowsUse(t *testing.T) {
	p := newPool(t, arena.Config{MaxSlabElements: 100})
	var slab arena.Slab[int64]
	var a *arena.Arena
	request := func(n int) (retained int) {
		// The same arena each time: sync.Pool gives back what this P has put in, unless it moves.
		a = p.Get()
		for range n {
			slab.New(a)
		}
		retained = slab.Retained(a)
		a.Release()
		return retained
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	retained := 0
	use := func(requests, elements int) int {
		for range requests {
			retained = request(elements)
		}
		return retained
	}
	if got := use(1, 1); got != arena.LeastBlock {
		t.Errorf("the first request got a block of %d, want %d", got, arena.LeastBlock)
	}
	if got := use(100, 20); got != 32 {
		t.Errorf("requests of 20 keep %d, want 32", got)
	}
	if got := use(100, 150); got != 100 {
		t.Errorf("requests of 150 keep %d, want the bound, 100", got)
	}
	s := p.Stats()
	if s.SlabOverflows != 100*50 || s.SlabOverflowBytes != 100*50*8 {
		t.Errorf("%d slab overflows of %d octets, want 5000 of 40000", s.SlabOverflows, s.SlabOverflowBytes)
	}
	if got := use(10*arena.ShrinkUses, 20); got != 100 {
		t.Errorf("requests of 20 need more than a quarter of 100, but keep %d", got)
	}
	if got := use(10*arena.ShrinkUses, 3); got != 25 {
		t.Errorf("requests of 3 keep %d, want 25: halved while a quarter held 8", got)
	}
}

// TestReleaseUnpins checks that a released arena keeps alive nothing that its objects pointed to.
func TestReleaseUnpins(t *testing.T) {
	p := newPool(t, arena.Config{})
	var slab arena.Slab[*[64]byte]
	a := p.Get()
	pinned := func() weak.Pointer[[64]byte] {
		object := new([64]byte)
		*slab.New(a) = object
		return weak.Make(object)
	}()
	runtime.GC()
	if pinned.Value() == nil {
		t.Fatal("freed while the arena was in use")
	}
	a.Release()
	runtime.GC()
	if pinned.Value() != nil {
		t.Error("still alive after Release")
	}
	runtime.KeepAlive(a)
}
