package benchmarks

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

var large = flag.Bool("large", false, "measure the duplicate table at 2,097,152 entries too, and 1,048,576 requests that wait, which takes minutes")

const retained = cache.DefaultCleanupDelay

// A table remembers requests and the replies to them.
type table interface {
	// begin says Fresh, InFlight or Replay; with Replay, dst has the reply appended.
	begin(now time.Time, r *cache.Request, dst []byte) (cache.Verdict, []byte)
	// finish retains the reply to the request that begin called Fresh last. It is
	// false when that is not in the table.
	finish(now time.Time, r *cache.Request, reply []byte) bool
	len() int
}

// The implementations bound their entries by time alone, as a server within its
// means does; only radpool's has a bound in entries as well.
var tables = []struct {
	name string
	make func(b *testing.B, entries int) table
}{
	{"radpool", newRadpoolTable},
	{"map", newMapTable},
	{"otter", newOtterTable},
}

type radpoolTable struct {
	c      *cache.Cache
	ticket cache.Ticket
}

func newRadpoolTable(b *testing.B, entries int) table {
	c, err := cache.New(cache.Config{MaxRequests: 2 * entries})
	if err != nil {
		b.Fatal(err)
	}
	return &radpoolTable{c: c}
}

func (t *radpoolTable) begin(now time.Time, r *cache.Request, dst []byte) (cache.Verdict, []byte) {
	ticket, verdict, reply := t.c.Begin(now, r, dst)
	if verdict == cache.Fresh {
		t.ticket = ticket
	}
	return verdict, reply
}

func (t *radpoolTable) finish(now time.Time, _ *cache.Request, reply []byte) bool {
	return t.ticket.Finish(now, reply)
}

func (t *radpoolTable) len() int { return t.c.Stats().Entries }

// nthRequest makes the nth of many requests as a large network would: 256
// Identifiers on each of 64 ports of each of the clients.
func nthRequest(n int) cache.Request {
	var addr [4]byte
	binary.BigEndian.PutUint32(addr[:], 10<<24|uint32(n>>14))
	r := cache.Request{Length: 100}
	r.Client = netip.AddrPortFrom(netip.AddrFrom4(addr), uint16(1024+n>>8&63))
	r.Code, r.Identifier = 1, byte(n)
	binary.LittleEndian.PutUint64(r.Authenticator[:], uint64(n))
	return r
}

// A tableRun is a table in a steady state: with each new request the oldest
// reply expires.
type tableRun struct {
	table
	now   time.Time
	tick  time.Duration
	n     int           // of requests so far
	req   cache.Request // of the current operation; here, so that it is not allocated for each
	reply []byte
	dst   []byte
}

func startTable(b *testing.B, t table, entries int) *tableRun {
	r := &tableRun{
		table: t,
		now:   time.Unix(1_700_000_000, 0),
		tick:  retained / time.Duration(entries),
		reply: make([]byte, 64),
		dst:   make([]byte, 0, cache.MaxReply),
	}
	for range entries + entries/4 {
		r.insert(b)
	}
	r.check(b, entries)
	return r
}

// fresh makes the next request, and the reply that it is to have.
func (r *tableRun) fresh() {
	r.now = r.now.Add(r.tick)
	r.req = nthRequest(r.n)
	binary.LittleEndian.PutUint64(r.reply, uint64(r.n))
	r.n++
}

func (r *tableRun) insert(b *testing.B) {
	r.fresh()
	if v, _ := r.begin(r.now, &r.req, nil); v != cache.Fresh {
		b.Fatalf("request %d: %v", r.n-1, v)
	}
	if !r.finish(r.now, &r.req, r.reply) {
		b.Fatalf("request %d was forgotten", r.n-1)
	}
}

func (r *tableRun) replay(b *testing.B, n int) {
	r.req = nthRequest(n)
	v, reply := r.begin(r.now, &r.req, r.dst)
	if v != cache.Replay || binary.LittleEndian.Uint64(reply) != uint64(n) {
		b.Fatalf("retransmission of %d: %v", n, v)
	}
}

// check fails the benchmark unless the table knows what it should and no more.
func (r *tableRun) check(b *testing.B, entries int) {
	b.Helper()
	r.replay(b, r.n-1)
	r.replay(b, r.n-entries/2)
	r.fresh()
	for _, want := range []cache.Verdict{cache.Fresh, cache.InFlight} {
		if v, _ := r.begin(r.now, &r.req, nil); v != want {
			b.Fatalf("%v, want %v", v, want)
		}
	}
	if !r.finish(r.now, &r.req, r.reply) {
		b.Fatal("the request was forgotten")
	}
	if v, reply := r.begin(r.now, &r.req, r.dst); v != cache.Replay || !bytes.Equal(reply, r.reply) {
		b.Fatalf("%v, want the reply", v)
	}
	// otter is allowed the seconds for which its timer wheel is late.
	if n := r.len(); n < entries-1 || n > entries+entries/4+1 {
		b.Fatalf("%d entries, want %d", n, entries)
	}
}

// BenchmarkDuplicateTable is a table that holds as many replies of 64 octets as
// its name says: op=insert is a new request, its reply, and the end of an old
// one; op=replay a retransmission of one of them, in no order; op=collect one
// garbage collection while the table is there, which is what every other part of
// the program pays for it. octets/entry is the heap that it holds; for
// radpool's, part of which can be outside of the heap, what it counts itself.
func BenchmarkDuplicateTable(b *testing.B) {
	sizes := []int{1024, 262_144}
	if *large {
		sizes = append(sizes, cache.DefaultMaxRequests)
	}
	for _, op := range []struct {
		name string
		run  func(b *testing.B, r *tableRun, entries int)
	}{
		{"insert", benchInsert},
		{"replay", benchReplay},
		{"collect", benchCollect},
	} {
		for _, entries := range sizes {
			for _, impl := range tables {
				b.Run(fmt.Sprintf("op=%s/entries=%d/impl=%s", op.name, entries, impl.name), func(b *testing.B) {
					op.run(b, startTable(b, impl.make(b, entries), entries), entries)
				})
			}
		}
	}
}

func benchInsert(b *testing.B, r *tableRun, entries int) {
	b.ReportAllocs()
	report := measure(b)
	for b.Loop() {
		r.insert(b)
	}
	report()
	r.check(b, entries)
}

func benchReplay(b *testing.B, r *tableRun, entries int) {
	first, n := r.n-entries/2, 1
	b.ReportAllocs()
	report := measure(b)
	for b.Loop() {
		n = (n*1_664_525 + 1_013_904_223) % (entries / 2) // visits all, as entries is a power of two
		r.replay(b, first+n)
	}
	report()
}

func benchCollect(b *testing.B, r *tableRun, entries int) {
	for b.Loop() {
		runtime.GC()
	}
	r.check(b, entries)
	held, own := r.len(), int64(0)
	if t, ok := r.table.(*radpoolTable); ok {
		own = int64(t.c.Stats().Bytes)
	}
	with := reachable()
	runtime.KeepAlive(r)
	r.table = nil
	octets := int64(with) - int64(reachable())
	if own > 0 {
		octets = own
	}
	b.ReportMetric(float64(octets)/float64(held), "octets/entry")
}

// reachable is the octets of the heap that are. Twice, since a sync.Pool lets go at the second.
func reachable() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
