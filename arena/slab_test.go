package arena_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"github.com/radpool/radpool/arena"
)

// TestSlabAgainstPlain runs random requests on a slab beside plain allocation.
func TestSlabAgainstPlain(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 4))
	p := newPool(t, arena.Config{MaxSlabElements: 64})
	var slab arena.Slab[pair]
	next := 0
	for request := range 500 {
		a := p.Get()
		var got []*pair
		var want []int
		for range r.IntN(1 << r.IntN(6)) {
			var fresh []pair
			if r.IntN(4) > 0 {
				fresh = unsafe.Slice(slab.New(a), 1)
			} else {
				n := r.IntN(20)
				fresh = slab.Make(a, n)
				if fresh == nil || len(fresh) != n || cap(fresh) != n {
					t.Fatalf("seed %d: Make(%d) has len %d, cap %d", seed, n, len(fresh), cap(fresh))
				}
			}
			for i := range fresh {
				if e := &fresh[i]; e.Type != 0 || e.Value != nil || e.Next != nil {
					t.Fatalf("seed %d, request %d: not zeroed: %+v", seed, request, *e)
				}
				next++
				fresh[i] = pair{Type: next, Value: []byte{1}, Next: &pair{}}
				got, want = append(got, &fresh[i]), append(want, next)
			}
		}
		for i := range got {
			if got[i].Type != want[i] {
				t.Fatalf("seed %d, request %d: element %d is %d, want %d", seed, request, i, got[i].Type, want[i])
			}
		}
		a.Release()
	}
}

// TestSlabFollowsUse checks that an arena keeps what its requests use: not the bound from the start, no more
// than the bound ever, and less again when requests have become smaller.
func TestSlabFollowsUse(t *testing.T) {
	if arena.Debug {
		t.Skip("debug mode gives each request other memory")
	}
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

// TestSlabGrowthWithinRequest checks that elements stay where they are while the slab grows under them.
func TestSlabGrowthWithinRequest(t *testing.T) {
	a := newPool(t, arena.Config{}).Get()
	defer a.Release()
	var slab arena.Slab[int]
	var all []*int
	for i := range 1000 {
		e := slab.New(a)
		*e = i
		all = append(all, e)
	}
	for i, e := range all {
		if *e != i {
			t.Fatalf("element %d is %d", i, *e)
		}
	}
}

// TestReleaseUnpins checks that a released arena keeps alive nothing that its objects pointed to.
func TestReleaseUnpins(t *testing.T) {
	if arena.Debug {
		t.Skip("in debug mode the arena is in quarantine")
	}
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

func TestSlabsBeyondLimitUseHeap(t *testing.T) {
	var early, late arena.Slab[int32]
	p := newPool(t, arena.Config{})
	a := p.Get()
	early.New(a)
	restore := arena.UseUpSlabs()
	defer restore()
	for i := range 10 {
		e := late.New(a)
		if *e != 0 {
			t.Fatal("not zeroed")
		}
		*e = int32(i)
	}
	if s := late.Make(a, 5); len(s) != 5 || cap(s) != 5 {
		t.Errorf("Make: len %d, cap %d", len(s), cap(s))
	}
	*early.New(a) = 1
	a.Release()
	if s := p.Stats(); s.SlabOverflows != 11 || s.SlabOverflowBytes != 15*4 {
		t.Errorf("%d slab overflows of %d octets, want 11 of 60", s.SlabOverflows, s.SlabOverflowBytes)
	}
}

func TestSlabOfNothing(t *testing.T) {
	p := newPool(t, arena.Config{})
	var slab arena.Slab[struct{}]
	for range 30 {
		a := p.Get()
		for range 300 {
			slab.New(a)
		}
		slab.Make(a, 300)
		a.Release()
	}
}
