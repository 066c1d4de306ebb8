package radclient_test

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radclient"
)

var (
	serverA = netip.MustParseAddrPort("192.0.2.1:1812")
	serverB = netip.MustParseAddrPort("192.0.2.2:1812")
	serverC = netip.MustParseAddrPort("192.0.2.3:1812")
	nasHost = netip.MustParseAddr("192.0.2.100")
)

// secretOf is another one for each server.
func secretOf(addr netip.AddrPort) []byte { return []byte("secret of " + addr.String()) }

// world is a network with servers that a test writes itself, in a bubble of synctest.
type world struct {
	t   *testing.T
	net *simnet.Network
	wg  sync.WaitGroup
	mu  sync.Mutex // held while a server's function runs
}

// sync is between what the servers' functions have done and what the test does, and the other way round.
func (w *world) sync() {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
}

func inWorld(t *testing.T, cfg simnet.Config, f func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network, err := simnet.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, net: network}
		f(t, w)
		network.Close()
		w.wg.Wait()
	})
}

// incoming is a verified request, as a server sees it.
type incoming struct {
	datagram []byte
	shape    wire.Shape
	packet   *radius.Packet
	from     netip.AddrPort
	secret   *wire.Secret
}

// reply is the answer with this code and these attributes.
func (in *incoming) reply(code radius.Code, attributes ...*radius.AVP) []byte {
	b, err := wire.Encode(nil, &radius.Packet{Code: code, Attributes: attributes}, in.datagram, &in.shape, in.secret)
	if err != nil {
		panic(err) // a test that cannot be meant
	}
	return b
}

// serve runs a server whose replies h returns: none, one or several datagrams.
func (w *world) serve(addr netip.AddrPort, h func(*incoming) [][]byte) *simnet.Conn {
	w.t.Helper()
	conn, err := w.net.Listen(addr)
	if err != nil {
		w.t.Fatal(err)
	}
	secret := wire.NewSecret(secretOf(addr))
	w.wg.Go(func() {
		for {
			b := make([]byte, 4096)
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			in := &incoming{datagram: b[:n], from: from, secret: secret}
			var fault wire.Malformed
			if in.shape, fault = wire.Parse(in.datagram, 0); fault != wire.WellFormed || !wire.Verify(in.datagram, &in.shape, secret) {
				w.t.Errorf("%v received what does not verify: %v", addr, fault)
				continue
			}
			if in.packet, err = radius.Parse(in.datagram, secretOf(addr)); err != nil {
				w.t.Error(err)
				continue
			}
			w.mu.Lock()
			replies := h(in)
			w.mu.Unlock()
			for _, reply := range replies {
				if _, err := conn.WriteToUDPAddrPort(reply, from); err != nil {
					return
				}
			}
		}
	})
	return conn
}

// client makes one of this network.
func (w *world) client(cfg radclient.Config, servers ...netip.AddrPort) *radclient.Client {
	w.t.Helper()
	for _, s := range servers {
		cfg.Servers = append(cfg.Servers, radclient.Server{Addr: s, Secret: secretOf(s)})
	}
	cfg.Listen = func() (net.PacketConn, error) { return w.net.Listen(netip.AddrPortFrom(nasHost, 0)) }
	c, err := radclient.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// check fails the test when a request has ended in no counter, or in two.
func check(t *testing.T, c *radclient.Client) radclient.Stats {
	t.Helper()
	st := c.Stats()
	if st.Requests != st.Answered+st.TimedOut+st.Cancelled+uint64(st.InFlight) {
		t.Errorf("the counters do not add up: %+v", st)
	}
	return st
}

func access(user string) *radius.Packet {
	p := radclient.NewRequest(radius.CodeAccessRequest)
	rfc2865.UserName_SetString(p, user)
	rfc2865.UserPassword_SetString(p, "password of "+user)
	return p
}

// echo accepts a user with the right password, and says who it was.
func echo(in *incoming) [][]byte {
	if in.packet.Code == radius.CodeStatusServer {
		return [][]byte{in.reply(radius.CodeAccessAccept)}
	}
	user := rfc2865.UserName_Get(in.packet)
	if !bytes.Equal(rfc2865.UserPassword_Get(in.packet), append([]byte("password of "), user...)) {
		return [][]byte{in.reply(radius.CodeAccessReject)}
	}
	return [][]byte{in.reply(radius.CodeAccessAccept, &radius.AVP{Type: rfc2865.ReplyMessage_Type, Attribute: user})}
}

func silent(*incoming) [][]byte { return nil }

// ask asks and expects the echo.
func ask(ctx context.Context, t *testing.T, c *radclient.Client, user string) *radclient.Reply {
	t.Helper()
	r, err := c.Do(ctx, access(user))
	if err != nil {
		t.Errorf("%s: %v", user, err)
		return nil
	}
	if got := rfc2865.ReplyMessage_GetString(r.Packet); r.Code != radius.CodeAccessAccept || got != user {
		t.Errorf("%s: %v for %q", user, r.Code, got)
	}
	return r
}

const second = time.Second
