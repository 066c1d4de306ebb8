//go:build race || radpooldebug

package arena_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/radpool/radpool/arena"
)

type record struct {
	Name   string
	Count  uint32
	flag   bool
	Octets []byte
	Sizes  [3]int16
	Any    any
	hidden struct{ n int64 }
}

// TestReleasedMemoryIsPoisoned reads released memory, which is what the mode exists to make evident.
func TestReleasedMemoryIsPoisoned(t *testing.T) {
	p := newPool(t, fixed(256))
	var slab arena.Slab[record]
	a := p.Get()
	fits, spills := a.CopyString("secret"), a.Bytes(1000)
	var records []*record
	for range 300 { // the last ones are beyond the slab's bound
		r := slab.New(a)
		*r = record{Name: "x", Count: 1, flag: true, Octets: fits, Any: 1}
		r.hidden.n = 7
		records = append(records, r)
	}
	a.Release()
	for _, b := range [][]byte{fits, spills} {
		for i, c := range b {
			if c != 0xDB {
				t.Fatalf("octet %d of %d is %#x", i, len(b), c)
			}
		}
	}
	for i, r := range records {
		if r.Name != "arena: used after Release" || r.Count != 0xDBDBDBDB || r.flag || r.Octets != nil || r.Any != nil ||
			r.Sizes[2] != -0x2425 || r.hidden.n != -0x2424242424242425 {
			t.Fatalf("record %d: %+v", i, *r)
		}
	}
}

// TestWriteAfterReleaseIsCaught damages one place of released memory at a time.
func TestWriteAfterReleaseIsCaught(t *testing.T) {
	var records arena.Slab[record]
	var beyond arena.Slab[int]
	for name, prepare := range map[string]func(a *arena.Arena) (write func()){
		"chunk": func(a *arena.Arena) func() {
			a.Bytes(10)
			b := a.Bytes(10)
			return func() { b[9] = 0 }
		},
		"heap": func(a *arena.Arena) func() {
			a.Bytes(5000)
			b := a.Bytes(4000)
			return func() { b[0] = 1 }
		},
		"slab": func(a *arena.Arena) func() {
			records.Make(a, 5)
			r := records.New(a)
			return func() { r.Octets = []byte{} }
		},
		"slab's first block": func(a *arena.Arena) func() {
			r := records.New(a)
			records.Make(a, 50)
			return func() { r.hidden.n++ }
		},
		"slab's bound": func(a *arena.Arena) func() {
			e := beyond.Make(a, 1000)
			return func() { e[999] = 4 }
		},
		"only the first element": func(a *arena.Arena) func() {
			e := beyond.New(a)
			return func() { *e = 4 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, fixed(256))
			a := p.Get()
			write := prepare(a)
			a.Release()
			p.Get().Release() // nothing is wrong yet
			write()
			func() {
				defer func() {
					got := fmt.Sprint(recover())
					if !strings.HasPrefix(got, "arena: memory written to after Release: element ") || !strings.Contains(got, "debug_test.go:") {
						t.Errorf("panic %q", got)
					}
				}()
				p.Get()
			}()
			p.Get().Release() // reported once
		})
	}
}

// TestStaleArenaIsNeverReused: however many requests come after, an arena that was kept panics.
func TestStaleArenaIsNeverReused(t *testing.T) {
	p := newPool(t, arena.Config{})
	stale := p.Get()
	stale.Release()
	for range 100 {
		a := p.Get()
		if a == stale {
			t.Fatal("handed out again")
		}
		a.Release()
	}
	wantPanic(t, "arena: Bytes after Release; it was released at\n\t", func() { stale.Bytes(1) })
	if s := p.Stats(); s.Made > 20 {
		t.Errorf("%d arenas made for 101 requests: memory is not reused", s.Made)
	}
}

// TestDamageIsFoundWhenLeaving: memory that leaves the quarantine because many arenas are released at once
// is looked at too.
func TestDamageIsFoundWhenLeaving(t *testing.T) {
	p := newPool(t, arena.Config{})
	var all []*arena.Arena
	for range 100 {
		all = append(all, p.Get())
	}
	b := all[0].Bytes(8)
	all[0].Release()
	b[3] = 0
	wantPanic(t, "arena: memory written to after Release: element 3 of 8 of a []uint8; it was released at\n\t", func() {
		for _, a := range all[1:] {
			a.Release()
		}
	})
}

// TestQuarantineFrees checks that memory from the heap is let go once it has left the quarantine, also when
// the arena's own memory is used again.
func TestQuarantineFrees(t *testing.T) {
	p := newPool(t, fixed(256))
	var slab arena.Slab[int]
	first := func() (b weak.Pointer[byte], e weak.Pointer[int]) {
		a := p.Get()
		defer a.Release()
		slab.New(a)
		return weak.Make(&a.Bytes(1000)[0]), weak.Make(&slab.Make(a, 1000)[0])
	}
	b, e := first()
	for range 100 {
		a := p.Get()
		slab.New(a)
		a.Release()
	}
	runtime.GC()
	if b.Value() != nil || e.Value() != nil {
		t.Errorf("still alive: octets %v, elements %v", b.Value() != nil, e.Value() != nil)
	}
	runtime.KeepAlive(p)
}
