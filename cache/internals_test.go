package cache_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/radpool/radpool/cache"
)

// Random growth and members, beside a map.
func TestBitset(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var b cache.Bitset
	members, size := map[int]bool{}, 0
	if b.First() != -1 {
		t.Fatal("a zero bitset has a member")
	}
	for i := range 20_000 {
		switch op := random.IntN(100); {
		case op == 0:
			size += 1 + random.IntN(400)
			b.Grow(size)
		case size == 0:
		case op < 40:
			n := random.IntN(size)
			b.Set(n)
			members[n] = true
		default:
			n := random.IntN(size)
			if first := b.First(); op < 90 && first >= 0 {
				n = first
			}
			b.Clear(n)
			delete(members, n)
		}
		if i%10 != 0 {
			continue
		}
		want := -1
		for n := range members {
			if want < 0 || n < want {
				want = n
			}
		}
		if got := b.First(); got != want {
			t.Fatalf("after %d operations on %d: first is %d, want %d", i, size, got, want)
		}
	}
}

// The lowest free slot is taken first, and one empty segment is kept: the
// lowest.
func TestSlots(t *testing.T) {
	s := cache.NewSlots(4)
	for want := uint32(1); want <= 12; want++ {
		if got := s.Take(); got != want {
			t.Fatalf("takes slot %d, want %d", got, want)
		}
	}
	put := func(want int, ids ...uint32) {
		t.Helper()
		for i, id := range ids {
			if i < len(ids)-1 {
				if got := s.Put(id); got != -1 {
					t.Fatalf("slot %d releases segment %d", id, got)
				}
			} else if got := s.Put(id); got != want {
				t.Fatalf("slot %d releases segment %d, want %d", id, got, want)
			}
		}
	}
	put(-1, 8, 5, 7, 6) // the second segment is kept
	put(1, 4)           // there is room below it
	put(-1, 2, 1, 3)    // the first is kept in its stead
	put(2, 9, 11, 10, 12)
	for _, want := range []uint32{1, 2, 3, 4, 5} {
		if got := s.Take(); got != want {
			t.Fatalf("takes slot %d, want %d", got, want)
		}
	}
	put(-1, 5) // none is kept since the first is in use again
	put(1, 2)  // now there is room below the second
	if got := s.Trim(); got != -1 {
		t.Fatalf("trims segment %d", got)
	}
	if got := s.Take(); got != 2 {
		t.Fatalf("takes slot %d, want 2", got)
	}
	if got := s.Take(); got != 5 {
		t.Fatalf("takes slot %d, want 5", got)
	}
	put(-1, 5) // all below are full
	if got := s.Trim(); got != -1 {
		t.Fatalf("trims segment %d, the next to be used", got)
	}
	s8 := cache.NewSlots(8)
	for range 16 {
		s8.Take()
	}
	for id := uint32(9); id <= 16; id++ {
		s8.Put(id)
	}
	s8.Put(1)
	if got := s8.Trim(); got != 1 {
		t.Fatalf("trims segment %d, want 1", got)
	}
	if got := s8.Trim(); got != -1 {
		t.Fatalf("trims segment %d a second time", got)
	}
}

// The index grows and shrinks over many segments, beside a map. Few distinct
// hashes make long overflows.
func TestIndex(t *testing.T) {
	for _, hashes := range []uint32{1, 50, 1 << 31} {
		seed := rand.Uint64()
		t.Logf("%d hashes, seed %d", hashes, seed)
		random := rand.New(rand.NewPCG(seed, 0))
		type key struct{ hash, key uint32 }
		x := cache.NewIndex()
		ids, live := map[key]uint32{}, []key(nil)
		wave := func(n, inserts int) {
			for range n {
				if random.IntN(10) < inserts {
					k := key{random.Uint32N(hashes) * 0x9e3779b1, random.Uint32()}
					if _, ok := ids[k]; ok {
						continue
					}
					ids[k] = x.Insert(k.hash, k.key)
					live = append(live, k)
				} else if len(live) > 0 {
					i := random.IntN(len(live))
					k := live[i]
					live[i] = live[len(live)-1]
					live = live[:len(live)-1]
					x.Delete(ids[k])
					delete(ids, k)
					if got := x.Find(k.hash, k.key); got != 0 {
						t.Fatalf("finds entry %d after its removal", got)
					}
				}
			}
			for k, id := range ids {
				if got := x.Find(k.hash, k.key); got != id {
					t.Fatalf("finds entry %d, want %d", got, id)
				}
			}
		}
		size := 4000
		if hashes > 1000 {
			size = 30_000
		}
		wave(size, 9)
		grown := x.Buckets()
		if want := len(live) / 8; grown < want || grown > max(64, want+1) {
			t.Errorf("%d buckets for %d entries", grown, len(live))
		}
		wave(size, 5)
		wave(size, 1)
		if got := x.Buckets(); got > max(64, len(live)/2+1) {
			t.Errorf("%d buckets are left for %d entries", got, len(live))
		}
		wave(size, 7)
		wave(3*size, 0)
		if x.Buckets() != 64 || len(live) != 0 {
			t.Errorf("%d buckets are left for %d entries", x.Buckets(), len(live))
		}
	}
}

// Replies of every length, beside a map of copies.
func TestReplies(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	type stored struct {
		id   uint32
		want []byte
	}
	var r cache.Replies
	var all []stored
	check := func(s stored) {
		if got := r.Load(s.id, len(s.want)); !bytes.Equal(got, s.want) {
			t.Fatalf("a reply of %d octets is another", len(s.want))
		}
	}
	store := func(length int) {
		b := make([]byte, length)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		all = append(all, stored{r.Store(b), b})
	}
	for length := 1; length <= cache.MaxReply; length++ {
		store(length)
	}
	octets := 0
	for _, s := range all {
		check(s)
		octets += len(s.want)
	}
	if held := r.Held(); held > octets+octets/3 {
		t.Errorf("%d octets are held for %d", held, octets)
	}
	for range 20_000 {
		if random.IntN(2) == 0 {
			store(1 + random.IntN(cache.MaxReply))
			continue
		}
		if len(all) == 0 {
			continue
		}
		i := random.IntN(len(all))
		check(all[i])
		r.Drop(all[i].id, len(all[i].want))
		all[i] = all[len(all)-1]
		all = all[:len(all)-1]
	}
	for _, s := range all {
		check(s)
		r.Drop(s.id, len(s.want))
	}
	if held := r.Held(); held > 28*16<<10 {
		t.Errorf("%d octets are held for nothing: more than a spare segment of each size", held)
	}
}
