package benchmarks

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// A jam is a server whose workers are stuck, as behind a database that hangs,
// until release is closed.
type jam struct {
	conn    *memConn
	release chan struct{}
	stuck   func() int // how many requests wait or are being handled
	kept    func() int // how many requests and replies the server remembers
	end     func()
}

var jams = []struct {
	name  string
	start func(b *testing.B, j *jam)
}{
	{"radpool", jamRadpool},
	{"layeh", jamLayeh},
}

func jamRadpool(b *testing.B, j *jam) {
	s := newServer(b, radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		<-j.release
		native(ctx, req, resp)
	}))
	s.Policy = radpool.Fixed(1)
	s.Config = radpool.Config{MaxRequestTime: 2 * time.Minute, CleanupDelay: time.Second, RunInReader: radpool.No}
	j.end = serveRadpool(b, j.conn, s)
	j.stuck = func() int { p := s.Stats().Pool; return p.Queued + p.Running }
	j.kept = func() int { return s.Stats().Cache.Entries }
}

// jamLayeh: a goroutine for each request, and nothing kept after the reply.
func jamLayeh(b *testing.B, j *jam) {
	var stuck atomic.Int64
	j.end = serveLayeh(b, j.conn, func(w radius.ResponseWriter, r *radius.Request) {
		stuck.Add(1)
		defer stuck.Add(-1)
		<-j.release
		forLayeh(w, r)
	})
	j.stuck = func() int { return int(stuck.Load()) }
	j.kept = func() int { return 0 }
}

// BenchmarkWaiting is so many requests that wait in a server, then are answered and
// forgotten, with as short a datagram as a login needs, and with that of a BRAS. octets/waiting is the memory of the process that one costs while it
// waits, all told: its datagram, its places in the queue and in the duplicate table.
// octets/left is what is not given back to the system when all are answered, the
// replies have expired, and the server is idle. What the process did not have
// before the first request counts, whatever it is for. How long it takes says
// nothing and is not reported.
func BenchmarkWaiting(b *testing.B) {
	sizes := []int{65_536}
	if *large {
		sizes = append(sizes, 1<<20)
	}
	var short, long [256][]byte // by Identifier
	for i := range short {
		short[i], long[i] = shortRequest(b, i), request(b, radius.CodeAccessRequest, i)
	}
	for _, requests := range sizes {
		for _, datagrams := range [][256][]byte{short, long} {
			for _, impl := range jams {
				b.Run(fmt.Sprintf("requests=%d/datagram=%d/impl=%s", requests, len(datagrams[0]), impl.name), func(b *testing.B) {
					var waiting, left float64
					for b.Loop() {
						w, l := runJam(b, requests, datagrams, impl.start)
						waiting, left = waiting+w, left+l
					}
					n := float64(requests * b.N)
					b.ReportMetric(waiting/n, "octets/waiting")
					b.ReportMetric(left/n, "octets/left")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// runJam returns the octets of memory while the requests wait, and when nothing is
// left of them.
func runJam(b *testing.B, requests int, datagrams [256][]byte, start func(b *testing.B, j *jam)) (waiting, left float64) {
	from := make([]socket, requests/len(datagrams))
	for i := range from {
		from[i] = newSocket(netip.AddrFrom4([4]byte{192, 0, 2, byte(i >> 14)}), uint16(40_000+i&0x3fff))
	}
	j := &jam{conn: newMemConn(), release: make(chan struct{})}
	start(b, j)
	defer j.end()
	before := resident(b)

	for i := range requests {
		j.conn.in <- datagram{datagrams[i%len(datagrams)], &from[i/len(datagrams)]}
	}
	waitUntil(b, "all requests wait", func() bool { return j.stuck() == requests })
	waiting = resident(b) - before

	close(j.release)
	for range requests {
		if reply := <-j.conn.out; reply[0] != byte(radius.CodeAccessAccept) {
			b.Fatalf("reply with code %d", reply[0])
		}
	}
	waitUntil(b, "nothing is left", func() bool { return j.stuck()+j.kept() == 0 })
	return waiting, resident(b) - before
}

// waitUntil fails the benchmark when it takes a minute.
func waitUntil(b *testing.B, what string, ok func() bool) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatal("not after a minute: ", what)
		}
	}
}

// resident is the octets of memory that the process has of the system, once it has
// given back what is free. Only Linux tells.
func resident(b *testing.B) float64 {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // a sync.Pool lets go at the second collection
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(statm), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return float64(pages * os.Getpagesize())
}
