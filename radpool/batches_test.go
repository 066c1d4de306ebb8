package radpool_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/radpool"
)

// batches is a socket of which a test says what comes in one batch.
type batches struct {
	t     *testing.T
	local netip.AddrPort
	in    chan [][]byte
	until chan struct{} // closed by SetReadDeadline
	done  chan struct{} // closed by Close

	// What the kernel would tell, if it tells.
	tells   bool
	drops   atomic.Uint64
	arrived atomic.Int64
	deaf    bool // what comes is not read before the end
	reading atomic.Int32
	close   func()
	expire  func()

	mu      sync.Mutex
	sent    map[byte]int          // replies by Identifier
	buffers map[*udp.Message]bool // what was read into
	bad     []string              // what should not have been sent
	wants   func(id byte) bool    // whether the Identifier is of a request to this socket
}

func newBatches(t *testing.T, port uint16) *batches {
	b := &batches{
		t: t, local: netip.AddrPortFrom(authAddr.Addr(), port), in: make(chan [][]byte, 64),
		until: make(chan struct{}), done: make(chan struct{}), sent: make(map[byte]int), buffers: make(map[*udp.Message]bool),
	}
	b.close = sync.OnceFunc(func() { close(b.done) })
	b.expire = sync.OnceFunc(func() { close(b.until) })
	return b
}

func (b *batches) ReadBatch(ms []udp.Message) (int, error) {
	if b.reading.Add(1) > 1 {
		b.t.Error("two readers read one socket")
	}
	defer b.reading.Add(-1)
	b.mu.Lock()
	b.buffers[&ms[0]] = true
	b.mu.Unlock()
	select {
	case <-b.done:
		return 0, net.ErrClosed
	case <-b.until:
		return 0, os.ErrDeadlineExceeded
	default:
	}
	select {
	case <-b.done:
		return 0, net.ErrClosed
	case <-b.until:
		return 0, os.ErrDeadlineExceeded
	case in := <-b.read():
		for i, d := range in {
			ms[i].N, ms[i].Addr = copy(ms[i].Buf, d), nasAddr
		}
		return len(in), nil
	}
}

// read is where ReadBatch reads from.
func (b *batches) read() chan [][]byte {
	if b.deaf {
		return nil
	}
	return b.in
}

func (b *batches) ReadReady(ms []udp.Message) (int, error) {
	select {
	case in := <-b.in:
		for i, d := range in {
			ms[i].N, ms[i].Addr = copy(ms[i].Buf, d), nasAddr
		}
		return len(in), nil
	default:
		return 0, nil
	}
}

func (b *batches) Arrived() (int64, bool) { return b.arrived.Load(), b.tells }
func (b *batches) Drops() (uint64, bool)  { return b.drops.Load(), b.tells }

func (b *batches) WriteBatch(ms []udp.Message) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range ms {
		id := ms[i].Buf[1]
		b.sent[id]++
		if b.wants != nil && !b.wants(id) {
			b.bad = append(b.bad, fmt.Sprint(id))
		}
	}
	return len(ms), nil
}

func (b *batches) LocalAddr() netip.AddrPort              { return b.local }
func (b *batches) SetReadDeadline(time.Time) error        { b.expire(); return nil }
func (b *batches) Close() error                           { b.close(); return nil }
func (b *batches) ReadFrom([]byte) (int, net.Addr, error) { panic("not read by the datagram") }
func (b *batches) WriteTo([]byte, net.Addr) (int, error)  { panic("not written by the datagram") }
func (b *batches) SetDeadline(time.Time) error            { return nil }
func (b *batches) SetWriteDeadline(time.Time) error       { return nil }

// pc is a PacketConn to go with it.
type packetConn struct{ *batches }

func (p packetConn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(p.local) }

// send puts a batch of Access-Requests in, the Identifiers from first on.
func (b *batches) send(first byte, users ...string) {
	var in [][]byte
	for i, user := range users {
		in = append(in, access(first+byte(i), uint64(first)+uint64(i), user))
	}
	b.in <- in
}

// answered fails the test unless each of the Identifiers was answered once.
func (b *batches) answered(when string, ids ...byte) {
	b.t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if b.sent[id] != 1 {
			b.t.Errorf("%s: %d replies with Identifier %d, want 1", when, b.sent[id], id)
		}
	}
}

// inBatches runs f in a bubble with a server that reads batches, whose workers
// have been idle for a second, and ends the server.
func inBatches(t *testing.T, s *radpool.Server, f func(t *testing.T, b *batches)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.Clients = clients(t, radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(testSecret)})
		b := newBatches(t, authAddr.Port())
		served := serveBatches(s, b, radpool.Auth|radpool.Acct)
		time.Sleep(time.Second)
		synctest.Wait()
		f(t, b)
		_ = s.Close()
		if err := <-served; !errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
		st := s.Stats()
		if checkIdentity(t, st); st.InFlight != 0 || st.Pool.Running+st.Pool.Queued+st.Pool.Workers != 0 {
			t.Errorf("left over: %+v", st)
		}
	})
}

func serveBatches(s *radpool.Server, b *batches, services radpool.Services) chan error {
	served := make(chan error, 1)
	go func() { served <- s.ServeConn(packetConn{b}, b, services) }()
	synctest.Wait()
	return served
}
