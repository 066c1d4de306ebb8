package simnet_test

import (
	"net/netip"
	"testing"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/internal/simnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newNetwork(t testing.TB, cfg simnet.Config) *simnet.Network {
	t.Helper()
	n, err := simnet.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func listen(t testing.TB, n *simnet.Network, addr string) *simnet.Conn {
	t.Helper()
	c, err := n.Listen(netip.MustParseAddrPort(addr))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t testing.TB, c *simnet.Conn, to netip.AddrPort, payload string) {
	t.Helper()
	if n, err := c.WriteToUDPAddrPort([]byte(payload), to); err != nil || n != len(payload) {
		t.Fatalf("write of %q: %d, %v", payload, n, err)
	}
}

func receive(t testing.TB, c *simnet.Conn) string {
	t.Helper()
	var buf [2048]byte
	n, _, err := c.ReadFromUDPAddrPort(buf[:])
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// checkIdentity holds Stats to the equation that it documents.
func checkIdentity(t testing.TB, s simnet.Stats) {
	t.Helper()
	if in, out := s.Sent+s.Duplicated, s.Delivered+s.Lost+s.Overflowed+s.Unreachable+s.InFlight; in != out {
		t.Errorf("%d datagrams in, %d accounted for: %+v", in, out, s)
	}
}
