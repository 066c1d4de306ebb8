package udp_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/udp"
)

// TestConn runs one table over every implementation and every kind of address: the implementations differ in
// speed and in what they know of a wildcard socket, not in behaviour.
func TestConn(t *testing.T) {
	for _, impl := range constructors {
		for _, family := range families {
			t.Run(impl.name+"/"+family.name, func(t *testing.T) {
				for _, tc := range behaviours {
					t.Run(tc.name, func(t *testing.T) {
						pair := [2]udp.Conn{}
						for i := range pair {
							pair[i] = newConn(t, impl.make, listenUDP(t, family.bind))
						}
						tc.run(t, family.at, pair[0], pair[1])
					})
				}
			})
		}
	}
}

// A behaviour is what two sockets that reach each other at addr must do.
type behaviour struct {
	name string
	run  func(t *testing.T, addr string, a, b udp.Conn)
}

var behaviours = []behaviour{
	{"exchange and reply", testExchange},
	{"a batch longer than MaxBatch", testLongBatch},
	{"empty batches", testEmptyBatch},
	{"what cannot be sent stops nothing", testBadMessages},
	{"deadlines", testDeadlines},
	{"a deadline ends a blocked read", testDeadlineUnblocks},
	{"close ends a blocked read", testCloseUnblocks},
	{"what is there, without waiting", testReadReady},
	{"closed", testClosed},
	{"many writers", testManyWriters},
}

func testExchange(t *testing.T, addr string, a, b udp.Conn) {
	write(t, a, messages(at(addr, b), "Access-Request")...)
	got := read(t, b, 1)
	if m := got[0]; string(m.Buf[:m.N]) != "Access-Request" || m.Addr != at(addr, a) {
		t.Fatalf("%q from %v, want from %v", m.Buf[:m.N], m.Addr, at(addr, a))
	}
	if local := got[0].Local; local.IsValid() && local != netip.MustParseAddr(addr) {
		t.Errorf("Local is %v, want %v", local, addr)
	}
	if !got[0].Local.IsValid() && !b.LocalAddr().Addr().IsUnspecified() {
		t.Errorf("a socket bound to %v does not know where it was asked", b.LocalAddr())
	}
	got[0].N = copy(got[0].Buf, "Access-Accept")
	write(t, b, got...)
	reply := read(t, a, 1)[0]
	if string(reply.Buf[:reply.N]) != "Access-Accept" || reply.Addr != at(addr, b) {
		t.Errorf("%q from %v", reply.Buf[:reply.N], reply.Addr)
	}
	mapped := at(addr, b)
	mapped = netip.AddrPortFrom(netip.AddrFrom16(mapped.Addr().As16()), mapped.Port())
	write(t, a, messages(mapped, "to the mapped address")...)
	equal(t, "mapped", payloads(read(t, b, 1)), []string{"to the mapped address"})
}

func testLongBatch(t *testing.T, addr string, a, b udp.Conn) {
	var want []string
	for i := range 2*udp.MaxBatch + 5 {
		want = append(want, fmt.Sprint("datagram ", i))
	}
	write(t, a, messages(at(addr, b), want...)...)
	equal(t, "one batch", payloads(read(t, b, len(want))), want)
}

func testEmptyBatch(t *testing.T, _ string, a, _ udp.Conn) {
	if n, err := a.WriteBatch(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
	if n, err := a.ReadBatch(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// errPortZero is what sending to port 0 fails with; nil where systems differ.
var errPortZero = map[string]error{"linux": syscall.EINVAL}[runtime.GOOS]

func testBadMessages(t *testing.T, addr string, a, b udp.Conn) {
	to := at(addr, b)
	ms := messages(to, "first", "no address", "too short", "negative", "port 0", "too long", "last")
	ms[1].Addr = netip.AddrPort{}
	ms[2].N = len(ms[2].Buf) + 1
	ms[3].N = -1
	ms[4].Addr = netip.AddrPortFrom(to.Addr(), 0)
	ms[5].Buf = make([]byte, 70000)
	ms[5].N = len(ms[5].Buf)
	n, err := a.WriteBatch(ms)
	if n != 2 || err == nil || !strings.Contains(err.Error(), "Message.Addr") {
		t.Errorf("%d sent, %v; want 2 and the error of the second message", n, err)
	}
	equal(t, "read", payloads(read(t, b, 2)), []string{"first", "last"})

	n, err = a.WriteBatch(ms[2:4])
	if n != 0 || err == nil || !strings.Contains(err.Error(), "Message.N is 10: must be from 0 to len(Buf), 9") {
		t.Errorf("%d sent, %v", n, err)
	}
	for i, want := range map[int]error{4: errPortZero, 5: syscall.EMSGSIZE} {
		n, err = a.WriteBatch(ms[i:])
		var op *net.OpError
		if n != 1 || want != nil && !errors.Is(err, want) || !errors.As(err, &op) || op.Op != "write" {
			t.Errorf("message %d: %d sent, %v, want %v", i, n, err, want)
		}
		read(t, b, 1)
	}
	if a.LocalAddr().Addr().Is4() {
		ms[5] = messages(netip.MustParseAddrPort("[::1]:9"), "other family")[0]
		if n, err = a.WriteBatch(ms[5:]); n != 1 || err == nil {
			t.Errorf("other family: %d sent, %v", n, err)
		}
		equal(t, "read", payloads(read(t, b, 1)), []string{"last"})
	}
}

func testDeadlines(t *testing.T, addr string, a, b udp.Conn) {
	write(t, a, messages(at(addr, b), "waits")...)
	past := time.Unix(1, 0)
	for _, step := range []struct {
		deadline time.Time
		fails    bool
	}{{past, true}, {time.Now().Add(time.Hour), false}, {time.Now().Add(time.Millisecond), true}} {
		if err := b.SetReadDeadline(step.deadline); err != nil {
			t.Fatal(err)
		}
		n, err := b.ReadBatch(room(1))
		if errors.Is(err, os.ErrDeadlineExceeded) != step.fails || (n == 0) != step.fails {
			t.Errorf("deadline %v: %d, %v", step.deadline, n, err)
		}
	}
	write(t, b, messages(at(addr, a), "a read deadline is none for writes")...)
	_ = b.SetReadDeadline(time.Time{})
	write(t, a, messages(at(addr, b), "again")...)
	read(t, b, 1)
}

func blockedRead(t *testing.T, c udp.Conn, unblock func() error) error {
	t.Helper()
	started, ended := make(chan struct{}), make(chan error)
	go func() {
		close(started)
		_, err := c.ReadBatch(room(2))
		ended <- err
	}()
	<-started
	if err := unblock(); err != nil {
		t.Fatal(err)
	}
	return <-ended
}

func testDeadlineUnblocks(t *testing.T, _ string, a, _ udp.Conn) {
	err := blockedRead(t, a, func() error { return a.SetReadDeadline(time.Unix(1, 0)) })
	if timeout := net.Error(nil); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
}

func testCloseUnblocks(t *testing.T, _ string, a, _ udp.Conn) {
	if err := blockedRead(t, a, a.Close); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func testReadReady(t *testing.T, addr string, a, b udp.Conn) {
	if err := b.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	ready := func() (got []string) {
		for ms := room(2); ; {
			n, err := b.ReadReady(ms)
			if err != nil || n == 0 {
				if err != nil {
					t.Error(err)
				}
				return got
			}
			got = append(got, payloads(ms[:n])...)
		}
	}
	equal(t, "nothing yet", ready(), nil)
	want := []string{"1", "2", "3", "4", "5"}
	write(t, a, messages(at(addr, b), want...)...)
	equal(t, "ready", ready(), want)
	if n, err := b.ReadReady(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func testClosed(t *testing.T, addr string, a, b udp.Conn) {
	_ = a.Close()
	n, read := a.ReadBatch(room(1))
	if n, err := a.ReadReady(room(1)); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("what is ready: %d, %v", n, err)
	}
	sent, write := a.WriteBatch(messages(at(addr, b), "x", "y"))
	if n != 0 || sent != 0 {
		t.Errorf("read %d, sent %d", n, sent)
	}
	for op, err := range map[string]error{"read": read, "write": write, "close": a.Close(), "deadline": a.SetReadDeadline(time.Time{})} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// testManyWriters has several goroutines write at once to one reader, each no faster than it is read.
func testManyWriters(t *testing.T, addr string, a, b udp.Conn) {
	const writers, rounds, batch = 8, 30, 5
	var writing sync.WaitGroup
	defer writing.Wait()
	credit := make([]chan struct{}, writers)
	for w := range writers {
		credit[w] = make(chan struct{}, 1)
		writing.Go(func() {
			for round := range rounds {
				var out []string
				for i := range batch {
					out = append(out, fmt.Sprintf("%d %d", w, round*batch+i))
				}
				if n, err := a.WriteBatch(messages(at(addr, b), out...)); n != batch || err != nil {
					t.Errorf("%d sent, %v", n, err)
				}
				<-credit[w]
			}
		})
	}
	next := [writers]int{}
	ms := room(2 * udp.MaxBatch)
	for total := 0; total < writers*rounds*batch; {
		n, err := b.ReadBatch(ms)
		if err != nil {
			t.Fatal(err)
		}
		total += n
		for _, m := range ms[:n] {
			var w, seq int
			if _, err := fmt.Sscan(string(m.Buf[:m.N]), &w, &seq); err != nil || seq != next[w] {
				t.Fatalf("%q: %v; want number %d of this writer", m.Buf[:m.N], err, next[w])
			}
			if next[w]++; next[w]%batch == 0 {
				credit[w] <- struct{}{}
			}
		}
	}
}
