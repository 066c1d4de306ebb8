//go:build !race

package udp_test

import (
	"testing"

	"github.com/radpool/radpool/internal/udp"
)

// TestAllocations is not for the race detector, under which sync.Pool drops what is put into it, at random.
func TestAllocations(t *testing.T) {
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
