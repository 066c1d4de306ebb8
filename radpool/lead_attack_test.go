package radpool_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius/rfc2865"

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

// exits is a Handler that ends its goroutine for the user "exit", and takes five
// seconds for "blocks".
func exits(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	switch rfc2865.UserName_GetString(req.Packet) {
	case "exit":
		runtime.Goexit()
	case "blocks":
		time.Sleep(5 * time.Second)
	case "10ms":
		time.Sleep(10 * time.Millisecond)
	}
	accept(ctx, req, resp)
}

// A handler that ends the reader's goroutine costs its own request, not the
// replies that were ready, nor what came with it.
func TestExitInAReaderLosesNoOther(t *testing.T) {
	inBatches(t, withReaders(radpool.Config{}, exits), func(_ *testing.T, b *batches) {
		for i := range byte(10) {
			b.send(i*10, "a", "b", "exit", "c", "d")
			b.answered("at once", i*10, i*10+1, i*10+3, i*10+4)
			time.Sleep(time.Second)
		}
	})
}

// A lent worker that is replaced does not keep what waits from the idle ones for
// as long as that takes.
func TestReplacementOfALentWorkerHoldsUpNobody(t *testing.T) {
	for _, most := range []int{1, 2} {
		s := withReaders(radpool.Config{MaxRequestsPerServer: most, StartServers: 8, MinSpareServers: 8}, exits)
		s.Hooks.WorkerStop = func(int) { time.Sleep(time.Second) }
		inBatches(t, s, func(_ *testing.T, b *batches) {
			b.send(0, "a", "b", "c", "d", "e")
			b.answered("at once", 0, 1, 2, 3, 4)
		})
	}
}

// Also when the server has begun to end, a handler that blocks holds up nobody.
func TestShutdownWhileAReaderIsHeldUp(t *testing.T) {
	s := withReaders(radpool.Config{}, exits)
	s.Policy = radpool.Fixed(4) // so that no worker that is being started helps
	inBatches(t, s, func(t *testing.T, b *batches) {
		b.send(0, "before", "blocks", "with", "with")
		synctest.Wait()
		ended := make(chan error, 1)
		go func() { ended <- s.Shutdown(context.Background()) }()
		time.Sleep(holdUpLimit)
		b.answered("after 15 ms", 0, 2, 3)
		if err := <-ended; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		b.answered("at the end", 0, 1, 2, 3)
	})
}

// A Drop hook that ends its goroutine, as t.FailNow does, is misuse, and yet the
// server ends.
func TestExitInDropHookLosesNoWorker(t *testing.T) {
	s := withReaders(radpool.Config{MaxQueueSize: 2}, exits)
	s.Hooks.Drop = func(i radpool.DropInfo) {
		if i.Outcome == radpool.QueueFull {
			runtime.Goexit()
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s.Clients = clients(t, radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(testSecret)})
		b := newBatches(t, authAddr.Port())
		served := serveBatches(s, b, radpool.Auth)
		time.Sleep(time.Second)
		b.send(0, "a", "b", "c", "d", "e")
		b.answered("at once", 0, 1)
		b.send(10, "a")
		b.answered("afterwards", 10)
		_ = s.Close()
		if err := <-served; !errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

// Readers that are held up hold no memory for datagrams: who takes over has it.
func TestDeposedReadersHoldNoBuffers(t *testing.T) {
	inBatches(t, withReaders(radpool.Config{}, exits), func(t *testing.T, b *batches) {
		for i := range byte(20) {
			b.send(i*10, "before", "blocks", "with")
			time.Sleep(holdUpLimit)
			b.answered("after 15 ms", i*10, i*10+2)
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		if len(b.buffers) != 1 {
			t.Errorf("%d readers have memory of their own", len(b.buffers))
		}
		b.answered("at the end", 1, 11, 191)
	})
}

// What one reader runs of the requests to another's socket is answered by that.
func TestReaderAnswersOnTheRightSocket(t *testing.T) {
	s := withReaders(radpool.Config{MaxServers: 1}, func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		if req.LocalAddr.Port() != authAddr.Port() != (req.Identifier >= 100) {
			resp.Fail(errors.New("at the wrong socket"))
			return
		}
		time.Sleep(100 * time.Microsecond)
		accept(ctx, req, resp)
	})
	inBatches(t, s, func(t *testing.T, a *batches) {
		b := newBatches(t, authAddr.Port()+1)
		a.wants = func(id byte) bool { return id < 100 }
		b.wants = func(id byte) bool { return id >= 100 }
		served := serveBatches(s, b, radpool.Auth)
		for i := range byte(9) {
			a.send(i*10, "a", "b", "c", "d", "e")
			b.send(100+i*10, "a", "b", "c", "d", "e")
			time.Sleep(20 * time.Millisecond)
			a.answered("on the first", i*10, i*10+1, i*10+2, i*10+3, i*10+4)
			b.answered("on the second", 100+i*10, 101+i*10, 102+i*10, 103+i*10, 104+i*10)
		}
		if len(a.bad)+len(b.bad) > 0 {
			t.Errorf("on the wrong socket: %v %v", a.bad, b.bad)
		}
		b.close() // by its owner
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

// manyAtOnce counts the requests that came in batches.
type manyAtOnce struct {
	radpool.HandlerFunc
	batched atomic.Int32
}

func (m *manyAtOnce) BatchSize() int { return 0 }

func (m *manyAtOnce) HandleBatch(batch []*radpool.Exchange) {
	m.batched.Add(int32(len(batch)))
	exit := false
	for _, x := range batch {
		exit = exit || rfc2865.UserName_GetString(x.Request.Packet) == "exit"
		accept(x.Ctx, x.Request, x.Response)
	}
	if exit {
		runtime.Goexit()
	}
}

func TestReaderRunsBatches(t *testing.T) {
	h := &manyAtOnce{HandlerFunc: accept}
	s := &radpool.Server{Handler: h, Config: radpool.Config{RunInReader: radpool.Yes, MaxRequestsPerServer: 7}}
	inBatches(t, s, func(t *testing.T, b *batches) {
		for i := range byte(12) {
			b.send(i*10, "a", "b", "c", "d", "e")
			b.answered("at once", i*10, i*10+1, i*10+2, i*10+3, i*10+4)
			b.send(i*10+5, "a", "exit", "c")
			synctest.Wait()
			time.Sleep(time.Second)
		}
		if st := s.Stats(); h.batched.Load() < 60 || st.RunInReader < 60 || st.Failed == 0 || st.Replied+st.Failed != 12*8 {
			t.Errorf("%d in batches: %+v", h.batched.Load(), st)
		}
	})
}

// The socket is closed by its owner while a handler holds its reader up.
func TestSocketClosedUnderAReader(t *testing.T) {
	for _, wait := range []time.Duration{0, 9 * time.Millisecond, holdUpLimit} {
		s := withReaders(radpool.Config{}, exits)
		inBatches(t, s, func(t *testing.T, _ *batches) {
			b := newBatches(t, authAddr.Port()+1)
			served := serveBatches(s, b, radpool.Auth)
			b.send(0, "before", "blocks", "with")
			synctest.Wait()
			time.Sleep(wait)
			b.close()
			if err := <-served; !errors.Is(err, net.ErrClosed) {
				t.Errorf("Serve: %v", err)
			}
			time.Sleep(10 * time.Second)
			b.answered("before the end", 0, 1, 2)
		})
	}
}

// A handler that blocks begins at the moment in which the watchdog, having seen
// nothing for a while, goes to sleep.
func TestHandlerBlocksAsTheWatchdogSleeps(t *testing.T) {
	s := withReaders(radpool.Config{}, exits)
	s.Policy = radpool.Fixed(40)
	inBatches(t, s, func(_ *testing.T, b *batches) {
		for i := range byte(30) {
			id := i * 8
			b.send(id, "a") // wakes it, and for 20 looks it sees nothing more
			synctest.Wait()
			time.Sleep(21 * 5 * time.Millisecond)
			b.send(id+1, "before", "blocks", "with")
			time.Sleep(holdUpLimit)
			b.answered("after 15 ms", id, id+1, id+3)
			time.Sleep(10 * time.Second)
		}
	})
}

// A handler comes back in the very moment in which the watchdog finds that it has
// held its reader up, and the next one blocks: whoever was first, there is one
// reader, and nobody is held up.
func TestHandlerComesBackAsItsReaderIsDeposed(t *testing.T) {
	s := withReaders(radpool.Config{}, exits)
	s.Policy = radpool.Fixed(40)
	inBatches(t, s, func(_ *testing.T, b *batches) {
		for i := range byte(25) {
			id := i * 10
			b.send(id, "before", "10ms", "blocks", "with")
			b.send(id+4, "blocks", "with")
			time.Sleep(10*time.Millisecond + holdUpLimit)
			b.answered("in time", id, id+1, id+3, id+5)
			time.Sleep(20 * time.Second)
		}
	})
}
