package simnet_test

import (
	"testing"

	"github.com/radpool/radpool/internal/simnet"
)

func TestAllocations(t *testing.T) {
	n := newNetwork(t, simnet.Config{Duplicate: 0.5, Capacity: 16})
	a := listen(t, n, "192.0.2.1:1")
	b := listen(t, n, "192.0.2.2:1")
	payload, buf := make([]byte, 200), make([]byte, 4096)
	exchange := func() {
		if _, err := a.WriteToUDPAddrPort(payload, b.LocalAddrPort()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.ReadFromUDPAddrPort(buf); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 { // until the receive buffer is full, and every payload has been that long
		exchange()
	}
	if allocs := testing.AllocsPerRun(1000, exchange); allocs != 0 {
		t.Errorf("%v allocations a datagram", allocs)
	}
}

func BenchmarkExchange(b *testing.B) {
	n := newNetwork(b, simnet.Config{})
	c := listen(b, n, "192.0.2.1:1")
	payload, buf := make([]byte, 200), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.WriteToUDPAddrPort(payload, c.LocalAddrPort()); err != nil {
			b.Fatal(err)
		}
		if _, _, err := c.ReadFromUDPAddrPort(buf); err != nil {
			b.Fatal(err)
		}
	}
}
