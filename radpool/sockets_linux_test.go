package radpool_test

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/radpool"
)

// gated is a socket that is not read before it is opened.
type gated struct {
	udp.Conn
	open   chan struct{}
	opened sync.Once
}

func (g *gated) ReadBatch(ms []udp.Message) (int, error) {
	<-g.open
	return g.Conn.ReadBatch(ms)
}

func (g *gated) release() { g.opened.Do(func() { close(g.open) }) }

func (g *gated) SetReadDeadline(t time.Time) error {
	defer g.release()
	return g.Conn.SetReadDeadline(t)
}

// serveGated serves a real socket that is not read yet, and returns a NAS.
func serveGated(t *testing.T, s *radpool.Server) (g *gated, n *net.UDPConn, served chan error) {
	t.Helper()
	s.Clients = clients(t, radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte(testSecret)})
	pc := listenUDP(t, "127.0.0.1:0")
	conn, err := udp.New(pc)
	if err != nil {
		t.Fatal(err)
	}
	g = &gated{Conn: conn, open: make(chan struct{})}
	started := make(chan struct{}, 1000)
	s.Hooks.WorkerStart = func(int) { started <- struct{}{} }
	served = make(chan error, 1)
	go func() { served <- s.ServeConn(pc, g, radpool.Auth) }()
	<-started
	for s.Stats().ReceiveBuffer == 0 { // it is served from then on
		runtime.Gosched()
	}
	n, err = net.DialUDP("udp4", nil, pc.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return g, n, served
}

// What a real socket could not hold is counted, to the last datagram.
func TestSocketDrops(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Config: radpool.Config{ReceiveBuffer: 4096}}
	g, n, served := serveGated(t, s)
	const sent = 500
	for i := range sent {
		if _, err := n.Write(access(byte(i), uint64(i), "ivan")); err != nil {
			t.Fatal(err)
		}
	}
	g.release()
	var st radpool.Stats
	for st.Received+st.SocketDrops != sent {
		runtime.Gosched()
		st = s.Stats()
	}
	if st.Received == 0 || st.SocketDrops == 0 || st.SocketsUncounted != 0 || st.ReceiveBuffer != 4096 {
		t.Errorf("%d received, %d dropped of %d; the buffer has %d octets", st.Received, st.SocketDrops, sent, st.ReceiveBuffer)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-served
	if end := s.Stats(); end.SocketDrops != st.SocketDrops {
		t.Errorf("%d dropped at the end, %d before it", end.SocketDrops, st.SocketDrops)
	}
	checkIdentity(t, s.Stats())
	goleak.VerifyNone(t)
}

// Shutdown answers what waits in a real socket's buffer.
func TestShutdownDrainsUDP(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept)}
	_, n, served := serveGated(t, s)
	const sent = 200
	for i := range sent {
		if _, err := n.Write(access(byte(i), uint64(i), "ivan")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-served
	if st := s.Stats(); st.Replied != sent || st.ReceiveBuffer < 4096 {
		t.Errorf("%d of %d answered, buffer of %d octets", st.Replied, sent, st.ReceiveBuffer)
	}
	goleak.VerifyNone(t)
}

// Several readers of one address are one server to its clients: they answer all,
// and recognise what another of them has answered.
func TestReadersOfOneAddress(t *testing.T) {
	const readers, nases, each = 4, 32, 20
	conns, err := udp.Listen("udp", "127.0.0.1:0", readers)
	if err != nil {
		t.Fatal(err)
	}
	to := conns[0].LocalAddr().(*net.UDPAddr)
	s := &radpool.Server{
		Handler: radpool.HandlerFunc(accept),
		Clients: clients(t, radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte(testSecret)}),
	}
	served := make(chan error, readers)
	for _, pc := range conns {
		go func() { served <- s.Serve(pc) }()
	}
	var asking sync.WaitGroup
	for range nases {
		n, err := net.DialUDP("udp4", nil, to)
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		asking.Go(func() {
			b := make([]byte, 4096)
			for i := range each {
				req := access(byte(i), uint64(i), "ivan")
				if _, err := n.Write(req); err != nil {
					t.Error(err)
					return
				}
				size, err := n.Read(b)
				if err != nil {
					t.Error(err)
					return
				}
				parseReply(t, b[:size], req)
			}
		})
	}
	asking.Wait()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	for range readers {
		<-served
	}
	st := s.Stats()
	if checkIdentity(t, st); st.Replied != nases*each || st.SocketsUncounted != 0 {
		t.Errorf("%d answered of %d; %d sockets do not count what they drop", st.Replied, nases*each, st.SocketsUncounted)
	}
	goleak.VerifyNone(t)
}

// A retransmission is one on whichever socket of its address it arrives, and only there.
func TestRetransmissionToAnotherReader(t *testing.T) {
	shared, err := udp.Listen("udp", "127.0.0.1:0", 2)
	if err != nil {
		t.Fatal(err)
	}
	alone := listenUDP(t, "127.0.0.1:0")
	defer alone.Close()
	defer shared[0].Close()
	defer shared[1].Close()
	for name, c := range map[string]struct {
		sockets [2]net.PacketConn
		runs    uint64
	}{
		"one address":           {[2]net.PacketConn{shared[0], shared[1]}, 1},
		"two addresses":         {[2]net.PacketConn{shared[0], alone}, 2},
		"nothing of their kind": {[2]net.PacketConn{alone, alone}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Config: radpool.Config{RunInReader: radpool.No}}
			inBatches(t, s, func(t *testing.T, _ *batches) {
				var served [2]chan error
				for i, pc := range c.sockets {
					b := newBatches(t, authAddr.Port()) // both say the same address
					served[i] = make(chan error, 1)
					go func() { served[i] <- s.ServeConn(pc, b, radpool.Auth) }()
					b.send(1, "ivan")
					time.Sleep(time.Millisecond)
				}
				if st := s.Stats(); st.Replied != c.runs || st.Replied+st.Replayed != 2 {
					t.Errorf("%d ran, %d were recognised; want %d to run", st.Replied, st.Replayed, c.runs)
				}
				_ = s.Shutdown(context.Background())
				<-served[0]
				<-served[1]
			})
		})
	}
}

// A socket that a service manager has opened comes as a file.
func TestServeSocketOfAFile(t *testing.T) {
	original := listenUDP(t, "127.0.0.1:0")
	file, err := original.File()
	if err != nil {
		t.Fatal(err)
	}
	// What comes before the server is there waits for it.
	n, err := net.DialUDP("udp4", nil, original.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	req := access(1, 1, "ivan")
	if _, err := n.Write(req); err != nil {
		t.Fatal(err)
	}
	pc, err := net.FilePacketConn(file)
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	_ = original.Close()
	s := &radpool.Server{
		Handler: radpool.HandlerFunc(accept),
		Clients: clients(t, radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte(testSecret)}),
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(pc) }()
	b := make([]byte, 4096)
	size, err := n.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	parseReply(t, b[:size], req)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-served
	goleak.VerifyNone(t)
}
