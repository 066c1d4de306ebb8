package cache_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// million makes the nth of many requests as a large network would: 256
// Identifiers on each of the ports of each of the clients.
func million(n int) cache.Request {
	var addr [4]byte
	binary.BigEndian.PutUint32(addr[:], 10<<24|uint32(n>>14))
	r := cache.Request{Length: 100}
	r.Client = netip.AddrPortFrom(netip.AddrFrom4(addr), uint16(1024+n>>8&63))
	r.Code, r.Identifier = 1, byte(n)
	binary.LittleEndian.PutUint64(r.Authenticator[:], uint64(n))
	return r
}

// answer makes one request live its life up to the reply.
func answer(tb testing.TB, c *cache.Cache, now time.Time, n int, reply []byte) {
	r := million(n)
	ticket, v, _ := c.Begin(now, &r, nil)
	if v != cache.Fresh || !ticket.Finish(now, reply) {
		tb.Fatalf("request %d: %v", n, v)
	}
}

const (
	liveEntries = cache.DefaultMaxRequests
	tick        = cache.DefaultCleanupDelay / liveEntries // keeps as many alive
)

// full returns a cache with 2,097,152 retained replies of 64 octets.
func full(tb testing.TB) (c *cache.Cache, now time.Time, reply []byte) {
	c, err := cache.New(cache.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	now, reply = start, make([]byte, 64)
	for n := range liveEntries {
		now = now.Add(tick)
		answer(tb, c, now, n, reply)
	}
	return c, now, reply
}

// A new request, its reply, and the expiry of an old one, at 2,097,152 entries.
func BenchmarkInsertAndExpire(b *testing.B) {
	c, now, reply := full(b)
	n := liveEntries
	for b.Loop() {
		now = now.Add(tick)
		answer(b, c, now, n, reply)
		n++
	}
	s := c.Stats()
	b.ReportMetric(float64(s.Bytes)/float64(s.Retained+s.InFlight), "octets/entry")
}

// A new request that makes room at a full table: no entry expires in time.
func BenchmarkInsertAndEvict(b *testing.B) {
	c, now, reply := full(b)
	n := liveEntries
	for b.Loop() {
		answer(b, c, now, n, reply)
		n++
	}
}

// A retransmission of a random one of 2,097,152 answered requests.
func BenchmarkReplay(b *testing.B) {
	c, now, _ := full(b)
	dst := make([]byte, 0, cache.MaxReply)
	n := 1
	for b.Loop() {
		n = (n*1_664_525 + 1_013_904_223) % liveEntries // visits all, in no order
		r := million(n)
		if _, v, _ := c.Begin(now, &r, dst); v != cache.Replay {
			b.Fatalf("request %d: %v", n, v)
		}
	}
}

// Of ten requests nine are new, and one is a retransmission of a random one
// that was answered within CleanupDelay. About 2,000,000 entries live at any
// time, and as many expire as come: what a retransmission leaves to be done
// when its entry expires is in the figure.
func BenchmarkMix(b *testing.B) {
	c, now, reply := full(b)
	dst := make([]byte, 0, cache.MaxReply)
	n, random := liveEntries, uint64(1)
	step := func() {
		now = now.Add(tick)
		random = random*6_364_136_223_846_793_005 + 1_442_695_040_888_963_407
		if random>>32%10 > 0 {
			answer(b, c, now, n, reply)
			n++
			return
		}
		r := million(n - 1 - int(random>>33*(liveEntries*85/100)>>31))
		if _, v, _ := c.Begin(now, &r, dst); v != cache.Replay {
			b.Fatalf("request %d: %v", n, v)
		}
	}
	for range 2 * liveEntries { // until as many expire that were extended
		step()
	}
	evicted := c.Stats().Evicted
	b.ResetTimer()
	for b.Loop() {
		step()
	}
	s := c.Stats()
	b.ReportMetric(float64(s.Bytes)/float64(s.Entries), "octets/entry")
	if s.Evicted != evicted {
		b.Fatalf("%d evicted: the table is full", s.Evicted-evicted)
	}
}

// A forced collection beside 2,097,152 entries and beside none. pause-ns/op is
// for how long the whole program stood still.
func BenchmarkCollect(b *testing.B) {
	for _, entries := range []int{0, liveEntries} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			var c *cache.Cache
			if entries > 0 {
				c, _, _ = full(b)
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				runtime.GC()
			}
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(c)
			b.ReportMetric(float64(after.PauseTotalNs-before.PauseTotalNs)/float64(after.NumGC-before.NumGC), "pause-ns/op")
		})
	}
}

// The memory alone: what a look-up at 2,097,152 entries cannot do without on
// this machine. A place of an index is read, then what that leads to, the
// cache lines of an entry at the same time; the next look-up waits for that. It
// is the bound of BenchmarkReplay, but that a processor can do some of
// one look-up while it waits for the one before.
func BenchmarkDependentReads(b *testing.B) {
	const block = 2 << 20
	a := cache.NewArena(1)
	defer a.Close()
	take := func(octets int) (blocks [][]byte) {
		for range octets / block {
			m := a.Take(block, 1<<20)
			if m == nil {
				m = make([]byte, block)
			}
			for i := 0; i < len(m); i += 64 {
				m[i] = byte(i >> 6)
			}
			blocks = append(blocks, m)
		}
		return blocks
	}
	index, entries := take(8*liveEntries), take(160*liveEntries)
	random, last := uint64(1), uint64(0)
	line := func(blocks [][]byte, r uint64) []byte {
		return blocks[r>>32*uint64(len(blocks))>>32][r%(block-256)&^31:][:160]
	}
	for b.Loop() {
		random = random*6_364_136_223_846_793_005 + 1_442_695_040_888_963_407
		first := line(index, random^random>>32^last)
		r := (random ^ uint64(first[0])) * 0x9e37_79b9_7f4a_7c15
		e := line(entries, r^r>>29)
		last = uint64(e[0]) + uint64(e[80]) + uint64(e[159])
	}
}

// A request and its reply in a small table, from all processors.
func BenchmarkParallel(b *testing.B) {
	c, err := cache.New(cache.Config{})
	if err != nil {
		b.Fatal(err)
	}
	reply := make([]byte, 64)
	var r cache.Request
	b.RunParallel(func(pb *testing.PB) {
		r := r
		r.Client = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), 1024)
		for n := uint64(0); pb.Next(); n++ {
			r.Identifier = byte(n)
			binary.LittleEndian.PutUint64(r.Authenticator[:], n)
			if t, _, _ := c.Begin(start, &r, nil); t.Current() {
				t.Finish(start, reply)
			}
		}
	})
}
