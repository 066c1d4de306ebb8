package simnet_test

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/simnet"
)

// socket is what simnet.Conn shares with net.UDPConn.
type socket interface {
	net.PacketConn
	ReadFromUDPAddrPort([]byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort([]byte, netip.AddrPort) (int, error)
}

// host opens sockets of one kind.
type host struct {
	listen func(t *testing.T, port uint16) (socket, error)
	other  netip.AddrPort // an address of the other family
}

func simHost(addr, other string) func(*testing.T) host {
	return func(t *testing.T) host {
		n := newNetwork(t, simnet.Config{})
		return host{other: netip.MustParseAddrPort(other), listen: func(_ *testing.T, port uint16) (socket, error) {
			c, err := n.Listen(netip.AddrPortFrom(netip.MustParseAddr(addr), port))
			if err != nil {
				return nil, err // a nil *Conn in a socket would not be nil
			}
			return c, nil
		}}
	}
}

var hosts = map[string]func(*testing.T) host{
	"sim4": simHost("192.0.2.1", "[2001:db8::1]:1812"),
	"sim6": simHost("2001:db8::1", "192.0.2.1:1812"),
}

// TestConformance runs one table over the sockets of this package and those of the operating system, which are
// the reference.
func TestConformance(t *testing.T) {
	for name, newHost := range hosts {
		t.Run(name, func(t *testing.T) {
			for _, tc := range conformance {
				t.Run(tc.name, func(t *testing.T) { tc.run(t, newHost(t)) })
			}
		})
	}
}

var conformance = []struct {
	name string
	run  func(*testing.T, host)
}{
	{"exchange", testExchange},
	{"exchange through net.Addr", testExchangeNetAddr},
	{"truncation and empty datagram", testTruncation},
	{"address taken, then freed", testAddressTaken},
	{"closed", testClosed},
	{"close ends a blocked read", testCloseUnblocks},
	{"deadline in the past ends a blocked read", testDeadlineUnblocks},
	{"deadlines", testDeadlines},
	{"bad destinations", testBadDestinations},
}

func open(t *testing.T, h host) (socket, netip.AddrPort) {
	t.Helper()
	c, err := h.listen(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	addr := c.LocalAddr().(*net.UDPAddr).AddrPort()
	return c, netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

func testExchange(t *testing.T, h host) {
	a, addrA := open(t, h)
	b, addrB := open(t, h)
	if addrA == addrB || addrA.Port() == 0 {
		t.Fatalf("addresses %v and %v", addrA, addrB)
	}
	payload := []byte("ping")
	if n, err := a.WriteToUDPAddrPort(payload, addrB); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	copy(payload, "gone") // the socket must have taken a copy
	var buf [16]byte
	n, from, err := b.ReadFromUDPAddrPort(buf[:])
	if err != nil || string(buf[:n]) != "ping" || from.Addr().Unmap() != addrA.Addr() || from.Port() != addrA.Port() {
		t.Fatalf("%q from %v, %v", buf[:n], from, err)
	}
}

func testExchangeNetAddr(t *testing.T, h host) {
	a, addrA := open(t, h)
	b, _ := open(t, h)
	if n, err := a.WriteTo([]byte("ping"), b.LocalAddr()); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	var buf [16]byte
	n, from, err := b.ReadFrom(buf[:])
	if err != nil || string(buf[:n]) != "ping" || from.String() != addrA.String() || from.Network() != "udp" {
		t.Fatalf("%q from %v, %v", buf[:n], from, err)
	}
}

func testTruncation(t *testing.T, h host) {
	a, _ := open(t, h)
	b, addrB := open(t, h)
	for _, payload := range []string{"a long one", "", "next"} {
		if _, err := a.WriteToUDPAddrPort([]byte(payload), addrB); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"a lo", "", "next"} {
		buf := bytes.Repeat([]byte("."), 4)
		if n, _, err := b.ReadFromUDPAddrPort(buf); err != nil || string(buf[:n]) != want {
			t.Fatalf("%q, %v; want %q", buf[:n], err, want)
		}
	}
}

func testAddressTaken(t *testing.T, h host) {
	a, addr := open(t, h)
	_, err := h.listen(t, addr.Port())
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("second socket at %v: %v", addr, err)
	}
	if op := (*net.OpError)(nil); !errors.As(err, &op) || op.Op != "listen" {
		t.Errorf("not a net.OpError of listen: %#v", err)
	}
	_ = a.Close()
	if _, err := h.listen(t, addr.Port()); err != nil {
		t.Fatalf("after Close: %v", err)
	}
}

func testClosed(t *testing.T, h host) {
	a, addr := open(t, h)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, read := a.ReadFrom(make([]byte, 1))
	_, write := a.WriteTo([]byte("x"), a.LocalAddr())
	_, write2 := a.WriteToUDPAddrPort([]byte("x"), addr)
	for op, err := range map[string]error{
		"read": read, "WriteTo": write, "WriteToUDPAddrPort": write2, "Close": a.Close(),
		"SetDeadline": a.SetDeadline(time.Time{}), "SetReadDeadline": a.SetReadDeadline(time.Time{}),
		"SetWriteDeadline": a.SetWriteDeadline(time.Time{}),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// blockedRead returns what a read that found nothing ended with after unblock.
func blockedRead(t *testing.T, c socket, unblock func() error) error {
	t.Helper()
	started, ended := make(chan struct{}), make(chan error)
	go func() {
		close(started)
		_, _, err := c.ReadFrom(make([]byte, 1))
		ended <- err
	}()
	<-started
	if err := unblock(); err != nil {
		t.Fatal(err)
	}
	return <-ended
}

func testCloseUnblocks(t *testing.T, h host) {
	a, _ := open(t, h)
	if err := blockedRead(t, a, a.Close); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
}

func testDeadlineUnblocks(t *testing.T, h host) {
	a, _ := open(t, h)
	err := blockedRead(t, a, func() error { return a.SetReadDeadline(time.Unix(1, 0)) })
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("%v is not a timeout", err)
	}
}

func testDeadlines(t *testing.T, h host) {
	a, addr := open(t, h)
	past := time.Unix(1, 0)
	send := func() error { _, err := a.WriteToUDPAddrPort([]byte("x"), addr); return err }
	read := func() error { _, _, err := a.ReadFrom(make([]byte, 1)); return err }
	for i, step := range []struct {
		set   func(time.Time) error
		to    time.Time
		do    func() error
		fails bool
	}{
		{a.SetReadDeadline, past, send, false},
		{a.SetReadDeadline, past, read, true}, // though a datagram waits
		{a.SetReadDeadline, time.Time{}, read, false},
		{a.SetWriteDeadline, past, send, true},
		{a.SetDeadline, time.Time{}, send, false},
		{a.SetDeadline, past, send, true},
		{a.SetDeadline, past, read, true},
		{a.SetDeadline, time.Now().Add(time.Hour), read, false},
		{a.SetReadDeadline, time.Now().Add(time.Millisecond), read, true},
	} {
		if err := step.set(step.to); err != nil {
			t.Fatal(err)
		}
		if err := step.do(); errors.Is(err, os.ErrDeadlineExceeded) != step.fails {
			t.Errorf("step %d: %v, wants a timeout: %v", i, err, step.fails)
		}
	}
}

func testBadDestinations(t *testing.T, h host) {
	a, addr := open(t, h)
	for name, to := range map[string]netip.AddrPort{
		"none":         {},
		"port 0":       netip.AddrPortFrom(addr.Addr(), 0),
		"other family": h.other,
	} {
		n, err := a.WriteToUDPAddrPort([]byte("x"), to)
		if op := (*net.OpError)(nil); n != 0 || !errors.As(err, &op) || op.Op != "write" {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if _, err := a.WriteTo([]byte("x"), &net.IPAddr{}); err == nil {
		t.Error("an address without a port was taken")
	}
	if _, err := a.WriteTo([]byte("x"), nil); err == nil {
		t.Error("no address was taken")
	}
	tooLong := make([]byte, 65536)
	if _, err := a.WriteToUDPAddrPort(tooLong, addr); !errors.Is(err, syscall.EMSGSIZE) {
		t.Errorf("%d octets: %v", len(tooLong), err)
	}
}
