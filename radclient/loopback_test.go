package radclient_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

// lossy is a socket that loses and repeats what is written to it.
type lossy struct {
	net.PacketConn
	loss, duplicate float64
	lost, repeated  atomic.Uint64
}

func (l *lossy) WriteTo(b []byte, to net.Addr) (int, error) {
	if rand.Float64() < l.loss {
		l.lost.Add(1)
		return len(b), nil
	}
	if rand.Float64() < l.duplicate {
		l.repeated.Add(1)
		if n, err := l.PacketConn.WriteTo(b, to); err != nil {
			return n, err
		}
	}
	return l.PacketConn.WriteTo(b, to)
}

// SetReadBuffer is what makes room for a burst.
func (l *lossy) SetReadBuffer(octets int) error {
	return l.PacketConn.(*net.UDPConn).SetReadBuffer(octets)
}

// echoServer is a real server of this module, which says in its reply who was asked for.
func echoServer(tb testing.TB, pc net.PacketConn) *radpool.Server {
	tb.Helper()
	server := &radpool.Server{Handler: radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		resp.Code = radius.CodeAccessAccept
		name, _ := req.Lookup(rfc2865.UserName_Type)
		resp.Add(rfc2865.ReplyMessage_Type, name)
	})}
	tb.Cleanup(serve(server, pc, radpool.Auth|radpool.Acct))
	return server
}

// serve runs a server on a socket, for this machine and for what is on a network in memory, until end is called.
func serve(server *radpool.Server, pc net.PacketConn, services radpool.Services) (end func()) {
	clients, err := radpool.NewClients(
		radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("testing123")},
		radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte("testing123"), EventTimestamp: radpool.Yes},
	)
	if err != nil {
		panic(err) // examples have no testing.TB
	}
	server.Clients = clients
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.ServeServices(pc, services) }) // says nothing but that it was closed
	return func() {
		_ = server.Close()
		wg.Wait()
	}
}

// listenUDP opens a socket of the system.
func listenUDP(tb testing.TB) net.PacketConn {
	tb.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return pc
}

func addrOf(pc net.PacketConn) netip.AddrPort { return pc.LocalAddr().(*net.UDPAddr).AddrPort() }

// exchangeMany runs n exchanges, so many at once, each for a user of its own, and fails the test where one is not
// answered, or with the answer to another.
func exchangeMany(tb testing.TB, c *radclient.Client, n, atOnce int) {
	tb.Helper()
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			var r radclient.Reply
			p := radclient.NewRequest(radius.CodeAccessRequest)
			name := &radius.AVP{Type: rfc2865.UserName_Type}
			p.Attributes = radius.Attributes{name}
			var buf []byte
			for {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				buf = strconv.AppendInt(append(buf[:0], "user "...), i, 10)
				name.Attribute = buf
				err := c.Exchange(context.Background(), p, &r)
				if err == nil {
					if got, _ := r.Lookup(rfc2865.ReplyMessage_Type); bytes.Equal(got, buf) {
						continue
					}
				}
				if failed.Add(1) < 10 {
					tb.Errorf("%s: error %v, or the reply to another", buf, err)
				}
			}
		})
	}
	wg.Wait()
}

// The promise: 100,000 exchanges, 4,096 in flight, a tenth of the datagrams lost and a tenth sent twice in both directions,
// over sockets of the system and a real server.
func TestHundredThousandOverALossyNetwork(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	serverSocket := &lossy{PacketConn: listenUDP(t), loss: 0.1, duplicate: 0.1}
	server := echoServer(t, serverSocket)
	var mu sync.Mutex
	var sockets []*lossy
	c, err := radclient.New(radclient.Config{
		Servers:        []radclient.Server{{Addr: addrOf(serverSocket), Secret: []byte("testing123"), Protection: radclient.RequireMessageAuthenticatorFirst}},
		IdentifierRest: 500 * time.Millisecond,
		Retransmission: radclient.Retransmission{IRT: 100 * time.Millisecond, MRT: time.Second, MRC: radclient.Unlimited, MRD: 10 * time.Minute},
		Listen: func() (net.PacketConn, error) {
			pc, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				return nil, err
			}
			l := &lossy{PacketConn: pc, loss: 0.1, duplicate: 0.1}
			mu.Lock()
			defer mu.Unlock()
			sockets = append(sockets, l)
			return l, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	exchangeMany(t, c, n, 4096)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	st := check(t, c)
	lost, repeated := serverSocket.lost.Load(), serverSocket.repeated.Load()
	mu.Lock()
	defer mu.Unlock()
	for _, s := range sockets {
		lost += s.lost.Load()
		repeated += s.repeated.Load()
	}
	t.Logf("%d sockets, %d datagrams lost and %d repeated, %+v; server: %d received, %d run", st.Sockets, lost, repeated, st, server.Stats().Received, server.Stats().Replied)
	if st.Answered != uint64(n) || st.TimedOut+st.Cancelled != 0 || lost < uint64(n)/10 || repeated < uint64(n)/10 {
		t.Errorf("%+v; %d datagrams were lost, %d repeated", st, lost, repeated)
	}
}
