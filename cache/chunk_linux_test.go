//go:build linux && (amd64 || arm64)

package cache_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radpool/radpool/cache"
)

// Random blocks of two sizes, beside what was written to them.
func TestArena(t *testing.T) {
	a := cache.NewArena(1 << 20)
	defer a.Close()
	if a.Take(4096, 0) != nil {
		t.Fatal("a first segment is in a chunk")
	}
	b := a.Take(4096, 1)
	if b == nil {
		t.Fatal("the system has no chunks to give")
	}
	a.Put(b)
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
