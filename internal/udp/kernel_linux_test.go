package udp_test

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/udp"
)

// TestDrops fills small receive buffers: what was not read was dropped, and all of it counted.
func TestDrops(t *testing.T) {
	for _, family := range families {
		t.Run(family.name, func(t *testing.T) {
			pc := listenUDP(t, family.bind)
			if _, err := udp.SetReadBuffer(pc, 4096); err != nil {
				t.Fatal(err)
			}
			client := batchConn(t, family.bind)
			lost := func(c udp.Conn) uint64 {
				n, ok := c.Drops()
				if !ok {
					t.Fatal("this kernel does not tell what it drops")
				}
				return n
			}
			server := newConn(t, udp.New, pc)
			out := messages(at(family.at, server), slices.Repeat([]string{"full"}, 500)...)
			var read, sent uint64
			for range 3 {
				write(t, client, out...)
				sent += uint64(len(out))
				for ms := room(udp.MaxBatch); read+lost(server) < sent; runtime.Gosched() {
					n, err := server.ReadReady(ms)
					if err != nil {
						t.Fatal(err)
					}
					read += uint64(n)
				}
			}
			if dropped := lost(server); read == 0 || dropped == 0 || read+dropped != sent {
				t.Errorf("%d sent, %d read, %d dropped", sent, read, dropped)
			}

			// Whoever takes over a socket counts from there, and a closed one tells what it was.
			write(t, client, out...)
			before := lost(server)
			again := newConn(t, udp.New, pc)
			if n := lost(again); n != 0 {
				t.Errorf("%d dropped since the beginning", n)
			}
			_ = server.Close()
			if n := lost(server); n < before {
				t.Errorf("%d dropped at the end, %d before it", n, before)
			}
		})
	}
}

func TestDropsWrap(t *testing.T) {
	c := batchConn(t, "127.0.0.1")
	count, known := uint32(math.MaxUint32-1), true
	udp.SetDrops(c, count, func() (uint32, bool) { return count, known })
	for _, step := range []struct {
		count uint32
		known bool
		want  uint64
	}{
		{math.MaxUint32 - 1, true, 0}, {1, true, 3}, {0, false, 3}, {math.MaxUint32, true, math.MaxUint32 + 2}, {0, true, math.MaxUint32 + 3},
	} {
		count, known = step.count, step.known
		if n, ok := c.Drops(); n != step.want || !ok {
			t.Errorf("the kernel says %d: %d, %v; want %d", count, n, ok, step.want)
		}
	}
}

// TestArrived: the kernel tells when a datagram came, not when it was read.
func TestArrived(t *testing.T) {
	for _, family := range families {
		t.Run(family.name, func(t *testing.T) {
			c := newConn(t, udp.New, listenUDP(t, family.bind))
			if at, ok := c.Arrived(); ok {
				t.Errorf("nothing has arrived, at %d", at)
			}
			for {
				before := time.Now().UnixNano()
				write(t, c, messages(at(family.at, c), "x", "y", "z")...)
				sent := time.Now().UnixNano()
				read(t, c, 3)
				arrived, ok := c.Arrived()
				if after := time.Now().UnixNano(); !ok || arrived < before || arrived > after {
					t.Fatalf("arrived at %d (%v), sent from %d, read until %d", arrived, ok, before, after)
				}
				// The kernel may begin to take the time only a while after it was asked to.
				if arrived <= sent {
					break
				}
			}
			if again, ok := c.Arrived(); !ok || again == 0 {
				t.Error("asked twice, it does not know")
			}
			_ = c.Close()
			if _, ok := c.Arrived(); ok {
				t.Error("of a closed socket")
			}
		})
	}
}

// TestOrdinary: what a process without privileges is granted goes up to a limit of the system's.
func TestOrdinary(t *testing.T) {
	if got := udp.Ordinary(65536); got != 65536 {
		t.Errorf("%d granted of 65536", got)
	}
	if limit := udp.Ordinary(1 << 29); limit < 65536 || limit > 1<<29 || udp.Ordinary(limit) != limit {
		t.Errorf("at most %d, and of that %d", limit, udp.Ordinary(limit))
	}
}

// BenchmarkArrived is what it costs to ask, once a batch at most.
func BenchmarkArrived(b *testing.B) {
	c := batchConn(b, "127.0.0.1")
	write(b, c, messages(c.LocalAddr(), "x")...)
	read(b, c, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Arrived(); !ok {
			b.Fatal("it does not know")
		}
	}
}
