package udp_test

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/radpool/radpool/internal/udp"
)

func batchConn(t testing.TB, bind string) udp.Conn {
	t.Helper()
	c := newConn(t, udp.New, listenUDP(t, bind))
	if !udp.IsBatch(c) {
		t.Fatal("this kernel, or a sandbox on it, does not offer recvmmsg and sendmmsg")
	}
	return c
}

// TestReplySource asks a wildcard socket at several addresses. A reply must come from the one that was asked.
func TestReplySource(t *testing.T) {
	for name, tc := range map[string]struct {
		bind   string
		client string
		asked  []string
	}{
		"IPv4":                   {"0.0.0.0", "127.0.0.1", []string{"127.0.0.1", "127.0.0.2", "127.9.9.9"}},
		"IPv4 on an IPv6 socket": {"::", "127.0.0.1", []string{"127.0.0.1", "127.0.0.2", "127.9.9.9"}},
		"IPv6":                   {"::", "::", otherIPv6(t)},
	} {
		t.Run(name, func(t *testing.T) {
			server := batchConn(t, tc.bind)
			client := batchConn(t, tc.client)
			for _, asked := range tc.asked {
				write(t, client, messages(at(asked, server), asked)...)
			}
			requests := read(t, server, len(tc.asked))
			for i, m := range requests {
				if m.Local != netip.MustParseAddr(tc.asked[i]) {
					t.Errorf("asked at %v, Local is %v", tc.asked[i], m.Local)
				}
			}
			write(t, server, requests...)
			for i, m := range read(t, client, len(tc.asked)) {
				if m.Addr != at(tc.asked[i], server) {
					t.Errorf("asked at %v, answered from %v", tc.asked[i], m.Addr)
				}
			}
			// Without Local the kernel chooses.
			requests[0].Local = netip.Addr{}
			write(t, server, requests[0])
			read(t, client, 1)
		})
	}
}

// otherIPv6 lists the IPv6 addresses of this host that are not link-local.
func otherIPv6(t *testing.T) []string {
	out := []string{"::1"}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is6() && p.Addr().IsGlobalUnicast() {
			out = append(out, p.Addr().String())
		}
	}
	return out
}

// TestLinkLocal exchanges datagrams through a link-local address, which has a zone.
func TestLinkLocal(t *testing.T) {
	var addr netip.Addr
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
				addr = p.Addr().WithZone(i.Name)
			}
		}
	}
	if !addr.IsValid() {
		t.Skip("no interface with a link-local IPv6 address")
	}
	for _, bind := range []string{"::", addr.String()} {
		for _, impl := range constructors {
			t.Run(bind+" "+impl.name, func(t *testing.T) {
				server := newConn(t, impl.make, listenUDP(t, bind))
				client := newConn(t, impl.make, listenUDP(t, addr.String()))
				write(t, client, messages(netip.AddrPortFrom(addr, server.LocalAddr().Port()), "ask")...)
				got := read(t, server, 1)
				if got[0].Addr != client.LocalAddr() {
					t.Errorf("from %v, want %v", got[0].Addr, client.LocalAddr())
				}
				if local := got[0].Local; local.IsValid() && local != addr.WithZone("") {
					t.Errorf("Local is %v", local)
				}
				write(t, server, got...)
				if reply := read(t, client, 1)[0]; reply.Addr.Addr() != addr {
					t.Errorf("answered from %v", reply.Addr)
				}
			})
		}
	}
}

func TestForeignSource(t *testing.T) {
	for name, tc := range map[string]struct{ bind, to, local string }{
		"not of this host":    {"0.0.0.0", "127.0.0.1", "192.0.2.200"},
		"IPv6 on IPv4":        {"0.0.0.0", "127.0.0.1", "2001:db8::1"},
		"IPv6 for an IPv4":    {"::", "127.0.0.1", "2001:db8::1"},
		"IPv4 for an IPv6":    {"::", "::1", "127.0.0.1"},
		"IPv6 not of this":    {"::", "::1", "2001:db8::1"},
		"mapped, not of this": {"::", "127.0.0.1", "192.0.2.200"},
	} {
		t.Run(name, func(t *testing.T) {
			c := batchConn(t, tc.bind)
			ms := messages(at(tc.to, c), "foreign", "fine")
			ms[0].Local = netip.MustParseAddr(tc.local)
			if n, err := c.WriteBatch(ms); n != 1 || err == nil {
				t.Errorf("%d sent, %v", n, err)
			}
			equal(t, "read", payloads(read(t, c, 1)), []string{"fine"})
		})
	}
}

// TestBoundSocketIgnoresLocal: a socket with an address of its own has nothing to choose.
func TestBoundSocketIgnoresLocal(t *testing.T) {
	c := batchConn(t, "127.0.0.1")
	ms := messages(c.LocalAddr(), "x")
	ms[0].Local = netip.MustParseAddr("127.0.0.2")
	write(t, c, ms...)
	if m := read(t, c, 1)[0]; m.Addr != c.LocalAddr() || m.Local != c.LocalAddr().Addr() {
		t.Errorf("from %v at %v", m.Addr, m.Local)
	}
}

// TestSurvivesICMP sends to a port where nobody listens, with a socket that asks to be told of ICMP errors.
func TestSurvivesICMP(t *testing.T) {
	for _, impl := range constructors {
		t.Run(impl.name, func(t *testing.T) {
			pc := listenUDP(t, "127.0.0.1")
			rc, err := pc.SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			var optErr error
			if err := rc.Control(func(fd uintptr) {
				optErr = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVERR, 1)
			}); err != nil || optErr != nil {
				t.Fatal(err, optErr)
			}
			server := newConn(t, impl.make, pc)
			client := newConn(t, impl.make, listenUDP(t, "127.0.0.1"))
			gone := newConn(t, impl.make, listenUDP(t, "127.0.0.1"))
			nobody := gone.LocalAddr()
			_ = gone.Close()

			var ms []udp.Message
			var want []string
			for i := range 10 {
				want = append(want, "to the client "+strconv.Itoa(i))
				ms = append(ms, messages(nobody, "to nobody")...)
				ms = append(ms, messages(client.LocalAddr(), want[i])...)
			}
			write(t, server, ms...) // errors of the ones to nobody must not fall upon the others
			equal(t, "client", payloads(read(t, client, len(want))), want)

			write(t, server, messages(nobody, "leaves an error for the read")...)
			write(t, client, messages(server.LocalAddr(), "read after the error")...)
			equal(t, "server", payloads(read(t, server, 1)), []string{"read after the error"})
		})
	}
}

// TestSendFaults puts faults between WriteBatch and the kernel.
func TestSendFaults(t *testing.T) {
	type fault struct {
		send  int // messages of those offered to really send
		errno syscall.Errno
	}
	many := 1 << 20
	for name, tc := range map[string]struct {
		faults []fault // in turn, then none
		lost   []int   // messages, of 5, that fail
		want   error
	}{
		"none":                   {nil, nil, nil},
		"part of the batch":      {[]fault{{2, 0}, {1, 0}}, nil, nil},
		"interrupted":            {[]fault{{0, unix.EINTR}, {2, 0}, {0, unix.EINTR}}, nil, nil},
		"buffer full":            {[]fault{{2, 0}, {0, unix.EAGAIN}, {0, unix.EAGAIN}}, nil, nil},
		"stale error":            {[]fault{{1, 0}, {0, unix.ECONNREFUSED}, {1, 0}, {0, unix.ECONNREFUSED}}, nil, nil},
		"refused":                {[]fault{{0, unix.ECONNREFUSED}, {0, unix.ECONNREFUSED}}, []int{0}, unix.ECONNREFUSED},
		"forbidden":              {[]fault{{1, 0}, {0, unix.EPERM}, {1, 0}, {0, unix.ENOBUFS}}, []int{1, 3}, unix.EPERM},
		"the last":               {[]fault{{4, 0}, {0, unix.EHOSTUNREACH}}, []int{4}, unix.EHOSTUNREACH},
		"all, each by its own":   {slices.Repeat([]fault{{0, unix.ENETUNREACH}}, 5), []int{0, 1, 2, 3, 4}, unix.ENETUNREACH},
		"a kernel without sense": {[]fault{{0, 0}}, []int{0}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := batchConn(t, "127.0.0.1")
			other := batchConn(t, "127.0.0.1")
			udp.SetSegments(c, false) // a fault a message
			pokes := 0
			faults := tc.faults
			udp.SetSend(c, func(count int, call func(int) (int, syscall.Errno)) (int, syscall.Errno) {
				f := fault{send: many}
				if len(faults) > 0 {
					f, faults = faults[0], faults[1:]
				}
				if f.errno == unix.EAGAIN {
					// The buffer is not really full, so nothing would ever tell the poller that it has room
					// again. Something that arrives makes it look at the socket.
					write(t, other, messages(c.LocalAddr(), "poke")...)
					pokes++
				}
				if f.errno != 0 || f.send == 0 {
					return 0, f.errno
				}
				return call(min(f.send, count))
			})
			all := []string{"0", "1", "2", "3", "4"}
			n, err := c.WriteBatch(messages(c.LocalAddr(), all...))
			if n != len(all)-len(tc.lost) || (err == nil) != (len(tc.lost) == 0) || !errors.Is(err, tc.want) && tc.want != nil {
				t.Errorf("%d sent, %v", n, err)
			}
			var want []string
			for i, s := range all {
				if !slices.Contains(tc.lost, i) {
					want = append(want, s)
				}
			}
			if len(want) > 0 {
				got := payloads(read(t, c, len(want)+pokes))
				equal(t, "read", slices.DeleteFunc(got, func(s string) bool { return s == "poke" }), want)
			}
			write(t, c, messages(c.LocalAddr(), "the next batch is a fresh one")...)
			read(t, c, 1)
		})
	}
}

// TestFirstErrorIsOfTheFirstMessage: the kernel fails message 1 after message 3 has been found to be malformed.
func TestFirstErrorIsOfTheFirstMessage(t *testing.T) {
	c := batchConn(t, "127.0.0.1")
	ms := messages(c.LocalAddr(), "0", "1", "2", "3")
	ms[1].Addr = netip.AddrPortFrom(ms[1].Addr.Addr(), 0)
	ms[3].N = 9
	n, err := c.WriteBatch(ms)
	var op *net.OpError
	if n != 2 || !errors.Is(err, unix.EINVAL) || !errors.As(err, &op) || op.Addr.String() != "127.0.0.1:0" {
		t.Errorf("%d sent, %v", n, err)
	}
}

func TestRecvFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		faults []syscall.Errno // in turn, then none
		want   error
	}{
		"interrupted":      {[]syscall.Errno{unix.EINTR, unix.EINTR}, nil},
		"nothing yet":      {[]syscall.Errno{unix.EAGAIN}, nil},
		"transient":        {[]syscall.Errno{unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENOBUFS}, nil},
		"broken":           {[]syscall.Errno{unix.EBADF}, unix.EBADF},
		"for ever":         {slices.Repeat([]syscall.Errno{unix.ECONNREFUSED}, udp.MaxTransient+1), unix.ECONNREFUSED},
		"not yet for ever": {slices.Repeat([]syscall.Errno{unix.ECONNREFUSED}, udp.MaxTransient), nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := batchConn(t, "127.0.0.1")
			faults := tc.faults
			udp.SetRecv(c, func(count int, call func(int) (int, syscall.Errno)) (int, syscall.Errno) {
				if len(faults) > 0 {
					f := faults[0]
					faults = faults[1:]
					if f == unix.EAGAIN {
						// The poller wakes the reader for what arrives after it has been told to wait.
						write(t, c, messages(c.LocalAddr(), "later")...)
					}
					return 0, f
				}
				return call(count)
			})
			write(t, c, messages(c.LocalAddr(), "datagram")...)
			n, err := c.ReadBatch(room(2))
			if !errors.Is(err, tc.want) || (n > 0) != (tc.want == nil) {
				t.Errorf("%d, %v; want %v", n, err, tc.want)
			}
		})
	}
}

// TestBatches: what waits is read at once.
func TestBatches(t *testing.T) {
	c := batchConn(t, "127.0.0.1")
	calls := 0
	count := func(n int, call func(int) (int, syscall.Errno)) (int, syscall.Errno) { calls++; return call(n) }
	udp.SetSegments(c, false)
	udp.SetSend(c, count)
	udp.SetRecv(c, count)
	out := make([]string, udp.MaxBatch+6)
	write(t, c, messages(c.LocalAddr(), out...)...)
	if calls != 2 {
		t.Errorf("%d calls to send %d datagrams", calls, len(out))
	}
	calls = 0
	ms := room(2 * udp.MaxBatch)
	for _, want := range []int{udp.MaxBatch, 6} {
		if n, err := c.ReadBatch(ms); n != want || err != nil {
			t.Errorf("read %d, %v; want %d", n, err, want)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls to read %d datagrams", calls, len(out))
	}
}
