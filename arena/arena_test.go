package arena_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radpool/radpool/arena"
)

func newPool(t testing.TB, c arena.Config) *arena.Pool {
	t.Helper()
	p, err := arena.NewPool(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fixed is a Config whose chunk never changes its size.
func fixed(size int) arena.Config {
	return arena.Config{ChunkSize: size, MinChunkSize: size, MaxChunkSize: size}
}

// wantPanic runs f and checks that it panics with a message that begins with want.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	f()
}

// TestBytesZeroedOnReuse writes all over an arena's memory again and again; the next request must not see it.
func TestBytesZeroedOnReuse(t *testing.T) {
	p := newPool(t, fixed(1024))
	for round := range 50 {
		a := p.Get()
		for _, n := range []int{0, 1, 7, 500, 516, 1, 2000} { // the last two do not fit
			b := a.Bytes(n)
			if b == nil || len(b) != n || cap(b) != n {
				t.Fatalf("round %d: Bytes(%d) has len %d, cap %d, nil %v", round, n, len(b), cap(b), b == nil)
			}
			for i, c := range b {
				if c != 0 {
					t.Fatalf("round %d: octet %d of Bytes(%d) is %#x", round, i, n, c)
				}
			}
			for i := range b {
				b[i] = 0xA5
			}
		}
		a.Release()
	}
	s := p.Stats()
	if s.Overflows != 100 || s.OverflowBytes != 50*2001 {
		t.Errorf("%d overflows of %d octets, want 100 of %d", s.Overflows, s.OverflowBytes, 50*2001)
	}
	if s.HighWater != 3025 || s.LowWater != 3025 {
		t.Errorf("high water %d, low water %d, want 3025", s.HighWater, s.LowWater)
	}
}

func TestAppendCannotOverrun(t *testing.T) {
	a := newPool(t, arena.Config{}).Get()
	defer a.Release()
	first, second := a.Copy([]byte("User")), a.Copy([]byte("Name"))
	if longer := append(first, "XXXX"...); string(longer) != "UserXXXX" {
		t.Errorf("append gave %q", longer)
	}
	if string(second) != "Name" {
		t.Errorf("append to the first changed the second to %q", second)
	}
}

func TestCopies(t *testing.T) {
	a := newPool(t, fixed(256)).Get()
	for _, s := range []string{"", "a", "Framed-IP-Address", strings.Repeat("x", 300)} {
		if got := a.CopyString(s); string(got) != s || got == nil || cap(got) != len(s) {
			t.Errorf("CopyString(%q) is %q, cap %d", s, got, cap(got))
		}
		source := []byte(s)
		got := a.Copy(source)
		clear(source)
		if string(got) != s || got == nil || cap(got) != len(s) {
			t.Errorf("Copy(%q) is %q, cap %d", s, got, cap(got))
		}
	}
	b := a.CopyString("stays")
	outlives := a.String(b)
	a.Release()
	if outlives != "stays" {
		t.Errorf("the string that outlives the arena is %q", outlives)
	}
}

func TestNilArenaUsesHeap(t *testing.T) {
	var a *arena.Arena
	var numbers arena.Slab[int]
	if b := a.Bytes(3); len(b) != 3 || cap(b) != 3 {
		t.Errorf("Bytes: %v", b)
	}
	if b := a.Bytes(0); b == nil {
		t.Error("Bytes(0) is nil")
	}
	if got := a.String(a.Copy([]byte("ab"))) + a.String(a.CopyString("cd")); got != "abcd" {
		t.Errorf("copies: %q", got)
	}
	if *numbers.New(a) != 0 || len(numbers.Make(a, 4)) != 4 {
		t.Error("slab")
	}
	a.Release()
}

// TestMisuse checks that each wrong use panics with a message that names it.
func TestMisuse(t *testing.T) {
	var numbers arena.Slab[int]
	p := newPool(t, arena.Config{})
	released := func() *arena.Arena {
		a := p.Get()
		a.Bytes(1)
		numbers.New(a)
		a.Release()
		return a
	}
	for op, f := range map[string]func(a *arena.Arena){
		"Bytes":   func(a *arena.Arena) { a.Bytes(1) },
		"String":  func(a *arena.Arena) { _ = a.String(nil) },
		"Slab":    func(a *arena.Arena) { numbers.New(a) },
		"Release": func(a *arena.Arena) { a.Release() },
	} {
		wantPanic(t, "arena: "+op+" after Release", func() { f(released()) })
		wantPanic(t, "arena: "+op+" of an Arena that did not come from Pool.Get", func() { f(new(arena.Arena)) })
	}
	for name, f := range map[string]func(a *arena.Arena){
		"Bytes(0)":   func(a *arena.Arena) { a.Bytes(0) },
		"Copy":       func(a *arena.Arena) { a.Copy([]byte("x")) },
		"Copy(nil)":  func(a *arena.Arena) { a.Copy(nil) },
		"CopyString": func(a *arena.Arena) { a.CopyString("x") },
	} {
		t.Run(name, func(t *testing.T) {
			wantPanic(t, "arena: Bytes after Release", func() { f(released()) })
		})
	}
	wantPanic(t, "arena: Slab after Release", func() { numbers.Make(released(), 0) })

	a := p.Get()
	defer a.Release()
	wantPanic(t, "arena: Bytes of a negative length", func() { a.Bytes(-1) })
	wantPanic(t, "arena: Bytes of a negative length", func() { (*arena.Arena)(nil).Bytes(-1) })
	wantPanic(t, "arena: Slab.Make of a negative length", func() { numbers.Make(a, -1) })
	wantPanic(t, "arena: Get from a Pool that was not made by NewPool", func() { new(arena.Pool).Get() })
}

// TestAgainstPlainSlices runs random requests beside a reference that keeps each allocation as an ordinary
// slice: contents must agree to the end of the request, and the octets used must add up.
func TestAgainstPlainSlices(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	p := newPool(t, fixed(2048))
	high := 0
	for request := range 200 {
		a := p.Get()
		var got, want [][]byte
		total := 0
		for range r.IntN(40) {
			plain := make([]byte, r.IntN(1<<r.IntN(11)))
			b := a.Bytes(len(plain))
			if !bytes.Equal(b, plain) {
				t.Fatalf("seed %d, request %d: not zeroed", seed, request)
			}
			for i := range plain {
				plain[i] = byte(r.Uint32())
			}
			copy(b, plain)
			got, want, total = append(got, b, a.Copy(plain)), append(want, plain, plain), total+2*len(plain)
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("seed %d, request %d: allocation %d changed", seed, request, i)
			}
		}
		high = max(high, total)
		a.Release()
	}
	if s := p.Stats(); s.HighWater != high {
		t.Errorf("seed %d: high water %d, want %d", seed, s.HighWater, high)
	}
}

// pair stands for a typical attribute: numbers, a slice and a pointer.
type pair struct {
	Type  int
	Value []byte
	Next  *pair
}

var pairs arena.Slab[pair]
