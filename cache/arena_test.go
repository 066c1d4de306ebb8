package cache_test

import (
	"runtime"
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

// chunkUsable is what blocks of 10,240 octets leave of a chunk, and a little less.
const chunkUsable = 2_080_000
