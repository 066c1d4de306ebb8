package arena_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

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
