package udp_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/udp"
)

// script is a net.PacketConn that does what it is told.
type script struct {
	net.PacketConn // nil: what is not scripted must not be called
	local          net.Addr
	reads          []error  // what reads end with, in turn; nil is the datagram "ok"; the last one repeats
	from           net.Addr // the sender of datagrams
	writes         []error  // as reads
	short          bool     // writes claim to have written less
	wrote          []net.Addr
}

func (s *script) LocalAddr() net.Addr { return s.local }

func next(errs *[]error) error {
	if len(*errs) == 0 {
		return nil
	}
	err := (*errs)[0]
	if len(*errs) > 1 {
		*errs = (*errs)[1:]
	}
	return err
}

func (s *script) ReadFrom(p []byte) (int, net.Addr, error) {
	if err := next(&s.reads); err != nil && !errors.Is(err, errForeigner) {
		return 0, nil, err
	} else if err != nil {
		return copy(p, "foreign"), &net.UnixAddr{Name: "/run/x", Net: "unixgram"}, nil
	}
	return copy(p, "ok"), s.from, nil
}

func (s *script) WriteTo(p []byte, to net.Addr) (int, error) {
	s.wrote = append(s.wrote, to)
	if err := next(&s.writes); err != nil {
		return 0, err
	}
	if s.short {
		return len(p) - 1, nil
	}
	return len(p), nil
}

var (
	loopback     = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1812}
	errForeigner = errors.New("a datagram from a sender that has no IP address")
	errRefused   = &net.OpError{Op: "read", Net: "udp", Err: os.NewSyscallError("recvfrom", syscall.ECONNREFUSED)}
	errBroken    = &net.OpError{Op: "read", Net: "udp", Err: os.NewSyscallError("recvfrom", syscall.EBADF)}
)

func TestPortableReadSkipsTransientErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		reads []error
		want  error
	}{
		"none":        {nil, nil},
		"refused":     {[]error{errRefused, errRefused, nil}, nil},
		"foreigner":   {[]error{errForeigner, nil}, nil},
		"broken":      {[]error{errRefused, errBroken, nil}, syscall.EBADF},
		"closed":      {[]error{net.ErrClosed, nil}, net.ErrClosed},
		"deadline":    {[]error{os.ErrDeadlineExceeded, nil}, os.ErrDeadlineExceeded},
		"for ever":    {[]error{errRefused}, syscall.ECONNREFUSED},
		"any other":   {[]error{io.ErrUnexpectedEOF, nil}, io.ErrUnexpectedEOF},
		"at the most": {append(repeat(errRefused, udp.MaxTransient), nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := udp.New(&script{local: loopback, from: loopback, reads: tc.reads})
			if err != nil {
				t.Fatal(err)
			}
			ms := room(3)
			n, err := c.ReadBatch(ms)
			if !errors.Is(err, tc.want) || (n == 1) != (tc.want == nil) {
				t.Fatalf("%d, %v; want %v", n, err, tc.want)
			}
			// net.IPv4 makes mapped addresses.
			if n == 1 && (string(ms[0].Buf[:ms[0].N]) != "ok" || ms[0].Addr != netip.MustParseAddrPort("127.0.0.1:1812")) {
				t.Errorf("%q from %v", ms[0].Buf[:ms[0].N], ms[0].Addr)
			}
		})
	}
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func TestPortableWriteErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		writes []error
		short  bool
		sent   int
		calls  int
		want   error
	}{
		"none":            {nil, false, 3, 3, nil},
		"stale":           {[]error{errRefused, nil}, false, 3, 4, nil},
		"refused twice":   {[]error{errRefused, errRefused, nil}, false, 2, 4, syscall.ECONNREFUSED},
		"broken":          {[]error{errBroken, io.EOF, nil}, false, 1, 3, syscall.EBADF},
		"closed midway":   {[]error{nil, net.ErrClosed}, false, 1, 2, net.ErrClosed},
		"deadline passed": {[]error{os.ErrDeadlineExceeded}, false, 0, 1, os.ErrDeadlineExceeded},
		"short":           {nil, true, 0, 3, io.ErrShortWrite},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{local: loopback, writes: tc.writes, short: tc.short}
			c, err := udp.New(s)
			if err != nil {
				t.Fatal(err)
			}
			n, err := c.WriteBatch(messages(netip.MustParseAddrPort("127.0.0.1:1"), "a", "b", "c"))
			if n != tc.sent || len(s.wrote) != tc.calls || !errors.Is(err, tc.want) {
				t.Errorf("%d sent with %d calls, %v; want %d, %d, %v", n, len(s.wrote), err, tc.sent, tc.calls, tc.want)
			}
		})
	}
}

// TestPortableAddresses writes to more peers than are remembered, and to each twice.
func TestPortableAddresses(t *testing.T) {
	s := &script{local: loopback}
	c, err := udp.New(s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range udp.MaxConverted + 10 {
		to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}), 1812)
		s.wrote = nil
		write(t, c, messages(to, "a", "b")...)
		if s.wrote[0].String() != to.String() || s.wrote[0] != s.wrote[1] {
			t.Fatalf("wrote to %v and %v, want %v and no second address", s.wrote[0], s.wrote[1], to)
		}
	}
}

func TestNewRejects(t *testing.T) {
	unix, err := net.ListenPacket("unixgram", "@radpool-udp-test")
	if err == nil {
		t.Cleanup(func() { _ = unix.Close() })
	} else {
		unix = &script{local: &net.UnixAddr{Name: "/run/x"}}
	}
	connected, err := net.Dial("udp4", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connected.Close() })
	for name, tc := range map[string]struct {
		pc   net.PacketConn
		want string
	}{
		"nil":       {nil, "nil"},
		"typed nil": {(*net.UDPConn)(nil), "nil"},
		"unix":      {unix, "not an IP address and port"},
		"connected": {connected.(net.PacketConn), "connected to 127.0.0.1:9"},
	} {
		for _, impl := range constructors[:2] {
			if c, err := impl.make(tc.pc); err == nil || c != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, %s: %v, %v; want an error that says %q", name, impl.name, c, err, tc.want)
			}
		}
	}
	closed := listenUDP(t, "127.0.0.1")
	_ = closed.Close()
	if c, err := udp.New(closed); err == nil {
		if _, err = c.ReadBatch(room(1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a closed socket reads: %v", err)
		}
	}
}

// TestOverSimnet runs a server on a network that exists in memory only.
func TestOverSimnet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, err := simnet.New(simnet.Config{MinDelay: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer network.Close()
		var conns [2]udp.Conn
		for i := range conns {
			pc, err := network.Listen(netip.AddrPortFrom(netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", i+1)), 1812))
			if err != nil {
				t.Fatal(err)
			}
			conns[i] = newConn(t, udp.New, pc)
		}
		server, client := conns[0], conns[1]
		ended := make(chan error)
		go func() {
			ms := room(4)
			for {
				n, err := server.ReadBatch(ms)
				if err != nil {
					ended <- err
					return
				}
				if _, err := server.WriteBatch(ms[:n]); err != nil {
					t.Error(err)
				}
			}
		}()
		start := time.Now()
		write(t, client, messages(server.LocalAddr(), "one", "two")...)
		got := read(t, client, 2)
		equal(t, "replies", payloads(got), []string{"one", "two"})
		if took := time.Since(start); took != 40*time.Millisecond || got[0].Local != netip.MustParseAddr("192.0.2.2") {
			t.Errorf("after %v, at %v", took, got[0].Local)
		}
		_ = server.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestSetReadBuffer(t *testing.T) {
	pc := listenUDP(t, "127.0.0.1")
	if granted, err := udp.SetReadBuffer(pc, 65536); err != nil || granted != 65536 {
		t.Errorf("granted %d, %v", granted, err)
	}
	for _, octets := range []int{0, -1, 1 << 30} {
		if _, err := udp.SetReadBuffer(pc, octets); err == nil || !strings.Contains(err.Error(), "must be from 1 to 1073741823") {
			t.Errorf("%d octets: %v", octets, err)
		}
	}
	if _, err := udp.SetReadBuffer(&script{}, 65536); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if granted, err := udp.SetReadBuffer(settable{}, 65536); err != nil || granted != 65536 {
		t.Errorf("granted %d, %v", granted, err)
	}
	if runtime.GOOS == "linux" {
		for _, octets := range []int{4096, 65536, 100_000} {
			if granted, err := udp.GrowReadBuffer(pc, octets); err != nil || granted != max(octets, 65536) {
				t.Errorf("%d octets at least: granted %d, %v", octets, granted, err)
			}
		}
		if granted, err := udp.SetReadBuffer(pc, 4096); err != nil || granted != 4096 {
			t.Errorf("made smaller: granted %d, %v", granted, err)
		}
	}
	_ = pc.Close()
	if _, err := udp.SetReadBuffer(pc, 65536); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// settable is a wrapper of a socket that passes the option on.
type settable struct{ net.PacketConn }

func (settable) SetReadBuffer(int) error { return nil }
