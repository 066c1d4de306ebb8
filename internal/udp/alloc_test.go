package udp_test

import (
	"fmt"
	"testing"

	"github.com/radpool/radpool/internal/udp"
)

// raceEnabled: under the race detector sync.Pool drops what is put into it, at random.
var raceEnabled bool

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool is not itself under the race detector")
	}
	for _, impl := range constructors[:2] { // the third is for sockets that allocate an address themselves
		for _, family := range families {
			t.Run(impl.name+"/"+family.name, func(t *testing.T) {
				c := newConn(t, impl.make, listenUDP(t, family.bind))
				out := messages(at(family.at, c), "one", "two", "three", "four")
				in := room(len(out))
				exchange := func() { exchange(t, c, out, in) }
				exchange()
				if allocs := testing.AllocsPerRun(200, exchange); allocs != 0 {
					t.Errorf("%v allocations for %d datagrams there and back", allocs, len(out))
				}
			})
		}
	}
}

// exchange sends out to c itself, and answers what it reads.
func exchange(t testing.TB, c udp.Conn, out, in []udp.Message) {
	for _, ms := range [2][]udp.Message{out, in} {
		if _, err := c.WriteBatch(ms); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < len(in); {
			n, err := c.ReadBatch(in[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
	}
}

// BenchmarkDatagrams writes a batch to the loopback and reads it; ns/op are those of one datagram.
func BenchmarkDatagrams(b *testing.B) {
	for _, impl := range constructors {
		for _, bind := range []string{"127.0.0.1", "0.0.0.0", "::"} {
			for _, batch := range []int{1, 8, 64} {
				b.Run(fmt.Sprintf("%s/%s/batch %d", impl.name, bind, batch), func(b *testing.B) {
					c := newConn(b, impl.make, listenUDP(b, bind))
					out := make([]udp.Message, batch)
					for i := range out {
						out[i] = udp.Message{Buf: make([]byte, 200), N: 200, Addr: at("127.0.0.1", c)}
					}
					in := room(batch)
					b.ReportAllocs()
					left := 0
					for b.Loop() {
						if left > 0 {
							left--
							continue
						}
						if n, err := c.WriteBatch(out); n != batch || err != nil {
							b.Fatal(n, err)
						}
						for got := 0; got < batch; {
							n, err := c.ReadBatch(in[got:])
							if err != nil {
								b.Fatal(err)
							}
							got += n
						}
						left = batch - 1
					}
				})
			}
		}
	}
}
