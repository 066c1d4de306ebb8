package arena_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/radpool/radpool/arena"
)

var fuzzWords arena.Slab[[3]uint64]

// FuzzOperations runs a sequence of operations on two arenas that take turns, and checks that no two live
// allocations overlap, that capacities are tight, and that each keeps what was written to it. Each pair of
// octets of the input is an operation and its size.
func FuzzOperations(f *testing.F) {
	f.Add([]byte("\x00\x10\x01\x20\x02\x05\x03\x09\x07\x00\x00\x10"))
	f.Add([]byte("\x00\xff\x00\xff\x00\xff\x0b\xff\x0a\x01\x0f\x00\x08\x00\x02\xff"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		p := newPool(t, arena.Config{ChunkSize: 512, MinChunkSize: 256, Window: 16, MaxSlabElements: 20})
		owners := [2]*owner{{a: p.Get()}, {a: p.Get()}}
		for i := 0; i+1 < min(len(ops), 400); i += 2 {
			o, other := owners[ops[i]>>3&1], owners[1-ops[i]>>3&1]
			n := int(ops[i+1])
			switch ops[i] & 7 {
			case 0, 1:
				o.add(t, other, o.a.Bytes(n), n, true)
			case 2:
				o.add(t, other, octets(fuzzWords.Make(o.a, n%32)), n%32*24, true)
			case 3, 4:
				o.add(t, other, octets(unsafe.Slice(fuzzWords.New(o.a), 1)), 24, true)
			case 5:
				o.add(t, other, o.a.Copy(ops[:min(n, len(ops))]), min(n, len(ops)), false)
			case 6:
				o.add(t, other, o.a.Bytes(n*8), n*8, true)
			case 7:
				o.check(t)
				o.a.Release()
				*o = owner{a: p.Get()}
			}
		}
		for _, o := range owners {
			o.check(t)
			o.a.Release()
		}
		if s := p.Stats(); s.InUse != 0 {
			t.Errorf("%d in use", s.InUse)
		}
	})
}

// owner is an arena with all that was allocated from it, each filled with its own number.
type owner struct {
	a    *arena.Arena
	live [][]byte
}

func (o *owner) add(t *testing.T, other *owner, b []byte, n int, zeroed bool) {
	t.Helper()
	if len(b) != n || cap(b) != n {
		t.Fatalf("len %d, cap %d, want %d", len(b), cap(b), n)
	}
	for _, c := range b {
		if zeroed && c != 0 {
			t.Fatalf("not zeroed: %x", b)
		}
	}
	for _, live := range append(slices.Clip(o.live), other.live...) {
		if len(b) > 0 && len(live) > 0 && start(b) < start(live)+uintptr(len(live)) && start(live) < start(b)+uintptr(len(b)) {
			t.Fatalf("%d octets overlap another %d", len(b), len(live))
		}
	}
	for i := range b {
		b[i] = byte(len(o.live) + 1)
	}
	o.live = append(o.live, b)
}

func (o *owner) check(t *testing.T) {
	t.Helper()
	for i, b := range o.live {
		for _, c := range b {
			if c != byte(i+1) {
				t.Fatalf("allocation %d was changed: %x", i, b)
			}
		}
	}
}

func start(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// octets views the elements of s, with its length and capacity, as octets.
func octets(s [][3]uint64) []byte {
	if cap(s) == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), cap(s)*24)[:len(s)*24]
}
