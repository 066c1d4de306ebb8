package udp_test

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/internal/udp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// constructors are the implementations that every test of behaviour runs over.
var constructors = []struct {
	name string
	make func(net.PacketConn) (udp.Conn, error)
}{
	{"system", udp.New},
	{"portable", udp.NewPortable},
	{"portable over net.Addr", func(pc net.PacketConn) (udp.Conn, error) { return udp.NewPortable(plain{pc}) }},
}

// plain hides the methods of a socket that work with netip.
type plain struct{ net.PacketConn }

// families are the addresses that sockets are bound to; sockets reach each other at "at".
var families = []struct{ name, bind, at string }{
	{"IPv4", "127.0.0.1", "127.0.0.1"},
	{"IPv6", "::1", "::1"},
	{"IPv4 wildcard", "0.0.0.0", "127.0.0.1"},
	{"IPv6 wildcard", "::", "::1"},
	{"IPv4 on an IPv6 socket", "::", "127.0.0.1"},
}

func listenUDP(t testing.TB, addr string) *net.UDPConn {
	t.Helper()
	ip := netip.MustParseAddr(addr)
	network := "udp"
	if ip == netip.IPv4Unspecified() {
		network = "udp4" // "udp" makes an IPv6 socket of 0.0.0.0
	}
	pc, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, 0)))
	if err != nil {
		if ip.Is6() {
			t.Skipf("no IPv6 here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.Close() })
	return pc
}

func newConn(t testing.TB, construct func(net.PacketConn) (udp.Conn, error), pc net.PacketConn) udp.Conn {
	t.Helper()
	c, err := construct(pc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// at is where a socket on this host that is bound to c's port is reached through addr.
func at(addr string, c udp.Conn) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(addr), c.LocalAddr().Port())
}

func messages(to netip.AddrPort, payloads ...string) []udp.Message {
	ms := make([]udp.Message, len(payloads))
	for i, p := range payloads {
		ms[i] = udp.Message{Buf: []byte(p), N: len(p), Addr: to}
	}
	return ms
}

func room(n int) []udp.Message {
	ms := make([]udp.Message, n)
	for i := range ms {
		ms[i].Buf = make([]byte, 4097)
	}
	return ms
}

// read collects n datagrams, in their order. It returns them without buffers shared with later reads.
func read(t testing.TB, c udp.Conn, n int) []udp.Message {
	t.Helper()
	ms := room(n)
	for got := 0; got < n; {
		k, err := c.ReadBatch(ms[got:])
		if err != nil || k < 1 {
			t.Fatalf("after %d of %d datagrams: %d, %v", got, n, k, err)
		}
		got += k
	}
	return ms
}

func payloads(ms []udp.Message) []string {
	var out []string
	for _, m := range ms {
		out = append(out, string(m.Buf[:m.N]))
	}
	return out
}

func write(t testing.TB, c udp.Conn, ms ...udp.Message) {
	t.Helper()
	if n, err := c.WriteBatch(ms); n != len(ms) || err != nil {
		t.Fatalf("%d of %d sent, %v", n, len(ms), err)
	}
}

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}
