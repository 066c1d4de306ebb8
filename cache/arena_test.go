package cache_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// A large table is in chunks; what a small one needs is not, so a storm's
// chunks all go while some load goes on.
func TestChunksFollowUse(t *testing.T) {
	const storm = 200_000
	s := newScene(t, cache.Config{Shards: 8})
	long := make([]byte, 200)
	live := func(first, n int) {
		for i := range n {
			answer(t, s.c, s.now, first+i, long[:60+(first+i)%140])
		}
	}
	live(0, 1000)
	if n, _ := cache.Chunks(s.c); n != 0 {
		t.Errorf("%d chunks for a small table", n)
	}
	live(1000, storm)
	n, possible := cache.Chunks(s.c)
	if possible != (n > 0) {
		t.Errorf("%d chunks in a large table; the system can give some: %v", n, possible)
	}
	if bytes := s.c.Stats().Bytes; bytes < n<<21 {
		t.Errorf("%d octets with %d chunks", bytes, n)
	}
	for i := range 150 {
		s.wait(200 * time.Millisecond)
		live(2*storm+i*10, 10)
		s.c.Expire(s.now)
	}
	if n, _ := cache.Chunks(s.c); n != 0 {
		t.Errorf("%d chunks after the storm", n)
	}
	s.wait(time.Minute)
	s.c.Expire(s.now)
	if bytes := s.c.Stats().Bytes; bytes != 0 {
		t.Errorf("%d octets when idle", bytes)
	}
}

// What is outside the Go heap goes with its Cache all the same.
func TestChunksGoWithTheirCache(t *testing.T) {
	a := func() cache.Arena {
		s := newScene(t, cache.Config{Shards: 8})
		for n := range 100_000 {
			answer(t, s.c, s.now, n, []byte("reply"))
		}
		if n, possible := cache.Chunks(s.c); possible && n == 0 {
			t.Fatal("no chunks in a large table")
		}
		return cache.ArenaOf(s.c)
	}()
	for range 1000 { // a cleanup runs some time after the collection
		if chunks, _, _ := a.Held(); chunks == 0 {
			return
		}
		runtime.GC()
	}
	t.Fatal("the chunks of an unreachable Cache are left")
}

// Random blocks of two sizes, beside what was written to them.
func TestArena(t *testing.T) {
	a := cache.NewArena(1 << 20)
	defer a.Close()
	if a.Take(4096, 0) != nil {
		t.Fatal("a first segment is in a chunk")
	}
	if b := a.Take(4096, 1); b == nil {
		t.Skip("the system has no chunks to give")
	} else {
		a.Put(b)
	}
	a.Put(make([]byte, 4096)) // not a block: ignored
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	type block struct {
		memory []byte
		fill   byte
	}
	var all []block
	used, peak := 0, 0
	for i := range 12_000 {
		if puts := 3 + 4*(i/3000%2); len(all) == 0 || random.IntN(10) >= puts {
			size := []int{4096, 10240}[random.IntN(2)]
			b := block{a.Take(size, 1), byte(random.Uint32()) | 1}
			if slices.ContainsFunc(b.memory, func(o byte) bool { return o != 0 }) || len(b.memory) != size {
				t.Fatal("a block is not of zeros or not of its size")
			}
			for j := range b.memory {
				b.memory[j] = b.fill
			}
			all = append(all, b)
			used += size
		} else {
			j := random.IntN(len(all))
			b := all[j]
			if slices.ContainsFunc(b.memory, func(o byte) bool { return o != b.fill }) {
				t.Fatal("another wrote to a block")
			}
			a.Put(b.memory)
			used -= len(b.memory)
			all[j] = all[len(all)-1]
			all = all[:len(all)-1]
		}
		chunks, u, idle := a.Held()
		if u != used || idle != chunks<<21-used || idle < 0 {
			t.Fatalf("%d chunks, %d octets used, %d idle, want %d used", chunks, u, idle, used)
		}
		if used > peak {
			peak = used
			if chunks > used/(chunkUsable)+2*2 {
				t.Fatalf("%d chunks for %d octets", chunks, used)
			}
		}
	}
	for _, b := range all {
		a.Put(b.memory)
	}
	if chunks, u, idle := a.Held(); chunks != 0 || u != 0 || idle != 0 {
		t.Fatalf("%d chunks are left, %d octets used, %d idle", chunks, u, idle)
	}
}

// chunkUsable is what blocks of 10,240 octets leave of a chunk, and a little less.
const chunkUsable = 2_080_000
