package radpool_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"layeh.com/radius"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radpool"
)

// badSocket is a socket that works as badly as its fields say.
type badSocket struct {
	*simnet.Conn
	reads, writes, deadlines error
	failing                  atomic.Bool // whether reads and writes fail
}

func (c *badSocket) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	if c.reads != nil && c.failing.Load() {
		return 0, netip.AddrPort{}, c.reads
	}
	return c.Conn.ReadFromUDPAddrPort(b)
}

func (c *badSocket) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	if c.writes != nil && c.failing.Load() {
		return 0, c.writes
	}
	return c.Conn.WriteToUDPAddrPort(b, to)
}

func (c *badSocket) SetReadDeadline(t time.Time) error {
	if c.deadlines != nil {
		return c.deadlines
	}
	return c.Conn.SetReadDeadline(t)
}

// withBadSocket serves one at another address of the world.
func (w *world) withBadSocket(c *badSocket) (addr netip.AddrPort) {
	w.t.Helper()
	addr = netip.MustParseAddrPort("192.0.2.2:1812")
	var err error
	if c.Conn, err = w.net.Listen(addr); err != nil {
		w.t.Fatal(err)
	}
	c.failing.Store(true)
	go func() { w.served <- w.server.Serve(c) }()
	synctest.Wait()
	return addr
}

// A socket that cannot be read does not occupy a processor, does not flood the
// log, does not disturb the others, is read again when it has recovered, and does
// not hold up the end.
func TestReadsThatFail(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Logger: zap.New(core)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simnet.Config{}, s)
		bad := &badSocket{reads: errors.New("no such device")}
		addr := w.withBadSocket(bad)
		n := w.nas(nasAddr)
		time.Sleep(time.Minute)
		if n.ask(access(1, 1, "ivan")) == nil {
			t.Error("the other socket does not answer")
		}
		if st := s.Stats(); st.ReadErrors < 10 || st.ReadErrors > 100 || logs.Len() > 60 || logs.Len() == 0 {
			t.Errorf("%d errors in a minute, %d lines in the log; want some 70, and 60 at most", st.ReadErrors, logs.Len())
		}
		bad.failing.Store(false)
		time.Sleep(time.Second)
		req := access(2, 2, "ivan")
		n.sendTo(req, addr)
		if n.reply(req) == nil {
			t.Error("the socket was given up")
		}
		bad.failing.Store(true)
		n.sendTo(req, addr) // wakes the reader
		time.Sleep(10 * time.Second)
		start := time.Now()
		if err := s.Shutdown(t.Context()); err != nil || time.Since(start) > 2*time.Millisecond { // a look at what is there still
			t.Errorf("Shutdown: %v, after %v", err, time.Since(start))
		}
		<-w.served
		w.close()
	})
}

// A reply that the system refuses is counted, and the NAS can have it again.
func TestWritesThatFail(t *testing.T) {
	var runs atomic.Uint32
	inWorld(t, &radpool.Server{Handler: counting(&runs)}, func(w *world) {
		bad := &badSocket{writes: errors.New("no buffer space")}
		addr := w.withBadSocket(bad)
		n := w.nas(nasAddr)
		req := access(1, 1, "ivan")
		probe := encode(&radius.Packet{Code: radius.CodeStatusServer, Identifier: 1}, testSecret)
		for range 3 {
			n.sendTo(req, addr)
			n.sendTo(probe, addr)
			if n.receive() != nil {
				t.Error("a reply came through")
			}
		}
		if st := w.server.Stats(); st.WriteErrors != 6 || st.Replied != 1 || st.Replayed != 2 || st.StatusServer != 3 {
			t.Errorf("got %+v", st)
		}
		bad.failing.Store(false)
		n.sendTo(req, addr)
		if n.reply(req) == nil || runs.Load() != 1 {
			t.Errorf("no reply after %d runs", runs.Load())
		}
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		<-w.served
	})
}

// The end does not depend on deadlines, which not every net.PacketConn has.
func TestSocketWithoutDeadlines(t *testing.T) {
	inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(accept)}, func(w *world) {
		w.withBadSocket(&badSocket{deadlines: errors.ErrUnsupported})
		if err := w.server.Shutdown(w.t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-w.served; !errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

// A socket that its owner closes ends its own Serve and nothing else.
func TestSocketClosedBehindTheServer(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		time.Sleep(time.Second)
		accept(ctx, req, resp)
	})}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		bad := new(badSocket)
		n.sendTo(access(1, 1, "ivan"), w.withBadSocket(bad))
		synctest.Wait()
		if err := bad.Close(); err != nil {
			t.Error(err)
		}
		if err := <-w.served; !errors.Is(err, net.ErrClosed) || errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
		time.Sleep(2 * time.Second)
		req := access(2, 2, "ivan")
		n.send(req)
		time.Sleep(2 * time.Second)
		if n.reply(req) == nil {
			t.Error("the other socket does not answer")
		}
		if st := s.Stats(); st.WriteErrors != 1 || st.Replied != 2 {
			t.Errorf("got %+v", st)
		}
	})
}

// A Serve that fails at once leaves nothing behind, though nobody calls Close.
func TestServeOnASocketThatCannotServe(t *testing.T) {
	closed := listenUDP(t, "127.0.0.1:0")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	connected, err := net.Dial("udp", "127.0.0.1:1812")
	if err != nil {
		t.Fatal(err)
	}
	for name, pc := range map[string]net.PacketConn{"closed": closed, "connected": connected.(*net.UDPConn), "nil": nil} {
		s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Clients: new(radpool.Clients)}
		if err := s.Serve(pc); err == nil || errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	goleak.VerifyNone(t)
}

func listenUDP(t *testing.T, addr string) *net.UDPConn {
	t.Helper()
	pc, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Skipf("no socket at %s: %v", addr, err)
	}
	return pc.(*net.UDPConn)
}
