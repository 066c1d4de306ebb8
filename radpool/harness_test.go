package radpool_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

const testSecret = "testing123"

var (
	authAddr = netip.MustParseAddrPort("192.0.2.1:1812")
	nasAddr  = netip.MustParseAddrPort("192.0.2.10:40000")
)

// world is a server with its network, all in one synctest bubble.
type world struct {
	t      *testing.T
	server *radpool.Server
	net    *simnet.Network
	served chan error
}

// inWorld runs f with a server for h on a perfect network, and ends the server.
func inWorld(t *testing.T, s *radpool.Server, f func(*world)) {
	inNetwork(t, simnet.Config{}, s, f)
}

func inNetwork(t *testing.T, cfg simnet.Config, s *radpool.Server, f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, cfg, s)
		f(w)
		w.close()
	})
}

func newWorld(t *testing.T, cfg simnet.Config, s *radpool.Server) *world {
	t.Helper()
	network, err := simnet.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if s.Config.RunInReader == radpool.Auto {
		// A reader that a handler holds up reads on only when some time has passed,
		// and in a bubble none passes by itself. Tests of that say Yes.
		s.Config.RunInReader = radpool.No
	}
	if s.Clients == nil {
		s.Clients = clients(t, radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(testSecret)})
	}
	w := &world{t: t, server: s, net: network, served: make(chan error, 4)}
	w.serve(authAddr, radpool.Auth|radpool.Acct)
	return w
}

func (w *world) serve(addr netip.AddrPort, services radpool.Services) {
	w.t.Helper()
	conn, err := w.net.Listen(addr)
	if err != nil {
		w.t.Fatal(err)
	}
	go func() { w.served <- w.server.ServeServices(conn, services) }()
	synctest.Wait()
}

func (w *world) close() {
	w.t.Helper()
	if err := w.server.Close(); err != nil {
		w.t.Errorf("Close: %v", err)
	}
	if err := <-w.served; !errors.Is(err, radpool.ErrServerClosed) {
		w.t.Errorf("Serve returned %v, want ErrServerClosed", err)
	}
	if err := w.net.Close(); err != nil {
		w.t.Errorf("closing the network: %v", err)
	}
	checkIdentity(w.t, w.server.Stats())
}

// checkIdentity fails the test when a datagram has ended in no counter, or in
// two.
func checkIdentity(t *testing.T, st radpool.Stats) {
	t.Helper()
	if got := st.Ended() + st.InFlight; got != st.Received {
		t.Errorf("received %d datagrams, but the outcomes and those in flight add up to %d: %+v", st.Received, got, st)
	}
}

func clients(t *testing.T, list ...radpool.Client) *radpool.Clients {
	t.Helper()
	c, err := radpool.NewClients(list...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// nas is a NAS with one socket.
type nas struct {
	w    *world
	conn *simnet.Conn
}

func (w *world) nas(addr netip.AddrPort) *nas {
	w.t.Helper()
	conn, err := w.net.Listen(addr)
	if err != nil {
		w.t.Fatal(err)
	}
	return &nas{w, conn}
}

func (n *nas) send(datagram []byte) { n.sendTo(datagram, authAddr) }

func (n *nas) sendTo(datagram []byte, addr netip.AddrPort) {
	n.w.t.Helper()
	if _, err := n.conn.WriteToUDPAddrPort(datagram, addr); err != nil {
		n.w.t.Fatal(err)
	}
}

// receive returns the next datagram, or nil when none has come by the time that
// everything has come to rest.
func (n *nas) receive() []byte {
	n.w.t.Helper()
	synctest.Wait()
	if err := n.conn.SetReadDeadline(time.Now().Add(time.Nanosecond)); err != nil {
		n.w.t.Fatal(err)
	}
	b := make([]byte, wire.MaxPacketLength)
	size, _, err := n.conn.ReadFromUDPAddrPort(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	if err != nil {
		n.w.t.Fatal(err)
	}
	return b[:size]
}

// ask sends the request and returns the verified reply to it, or nil.
func (n *nas) ask(request []byte) *radius.Packet {
	n.w.t.Helper()
	n.send(request)
	return n.reply(request)
}

func (n *nas) reply(request []byte) *radius.Packet {
	n.w.t.Helper()
	b := n.receive()
	if b == nil {
		return nil
	}
	return parseReply(n.w.t, b, request)
}

func parseReply(t *testing.T, b, request []byte) *radius.Packet {
	t.Helper()
	shape, fault := wire.Parse(b, 0)
	if fault != wire.WellFormed {
		t.Fatalf("malformed reply: %s", shape.Explain(fault))
	}
	if !wire.VerifyResponse(b, &shape, wire.Authenticator(request), wire.NewSecret([]byte(testSecret))) {
		t.Fatal("the reply's authenticators are wrong")
	}
	p, err := radius.Parse(b, []byte(testSecret))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// access returns an Access-Request as a NAS would send it. seed makes the
// Request Authenticator: the same one for a retransmission.
func access(id byte, seed uint64, user string, more ...*radius.AVP) []byte {
	p := &radius.Packet{Code: radius.CodeAccessRequest, Identifier: id, Secret: []byte(testSecret)}
	binary.BigEndian.PutUint64(p.Authenticator[:], seed)
	p.Add(rfc2865.UserName_Type, radius.Attribute(user))
	p.Attributes = append(p.Attributes, more...)
	return encode(p, testSecret)
}

// accounting returns an Accounting-Request. The session makes it unique.
func accounting(id byte, status rfc2866.AcctStatusType, session string, more ...*radius.AVP) []byte {
	p := &radius.Packet{Code: radius.CodeAccountingRequest, Identifier: id, Secret: []byte(testSecret)}
	p.Add(rfc2866.AcctStatusType_Type, radius.NewInteger(uint32(status)))
	p.Add(rfc2866.AcctSessionID_Type, radius.Attribute(session))
	p.Attributes = append(p.Attributes, more...)
	return encode(p, testSecret)
}

func encode(p *radius.Packet, secret string) []byte {
	b, err := wire.EncodeRequest(nil, p, wire.NewSecret([]byte(secret)))
	if err != nil {
		panic(err) // a test that cannot be meant
	}
	return b
}

func avp(t radius.Type, value string) *radius.AVP {
	return &radius.AVP{Type: t, Attribute: radius.Attribute(value)}
}

// unsigned is the same Access-Request without its Message-Authenticator, which
// EncodeRequest puts first.
func unsigned(b []byte) []byte {
	const ma = 18
	out := append(append([]byte(nil), b[:20]...), b[20+ma:]...)
	binary.BigEndian.PutUint16(out[2:], uint16(len(out)))
	return out
}

// accept answers each request positively.
func accept(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	resp.Code = radius.CodeAccessAccept
	if req.Code == radius.CodeAccountingRequest {
		resp.Code = radius.CodeAccountingResponse
	}
}
