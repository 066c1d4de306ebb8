package radclient_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3576"
	"layeh.com/radius/rfc5176"

	"github.com/radpool/radpool/internal/need"
	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

// nas is one with sessions, by Acct-Session-Id: it changes or ends one that fits all that identifies it.
type nas struct {
	mu       sync.Mutex
	sessions map[string]string // User-Name
	filters  map[string]string // Filter-Id
}

func (n *nas) Handle(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := rfc2866.AcctSessionID_GetString(req.Packet)
	if id == "" {
		resp.NAK(rfc3576.ErrorCause_Value_MissingAttribute)
		return
	}
	user, ok := n.sessions[id]
	if name, given := req.Lookup(rfc2865.UserName_Type); !ok || given && string(name) != user {
		resp.NAK(rfc3576.ErrorCause_Value_SessionContextNotFound)
		return
	}
	if req.Code == radius.CodeDisconnectRequest {
		delete(n.sessions, id)
		resp.ACK()
		return
	}
	filter := rfc2865.FilterID_GetString(req.Packet)
	if filter == "" {
		resp.NAK(rfc5176.ErrorCause_Value_InvalidAttributeValue)
		return
	}
	n.filters[id] = filter
	resp.ACK()
}

func newNAS() *nas {
	return &nas{sessions: map[string]string{"s1": "alice", "s2": "bob"}, filters: map[string]string{}}
}

// serveCoA runs it on a socket.
func (n *nas) serveCoA(tb testing.TB, pc net.PacketConn) *radpool.Server {
	tb.Helper()
	server := &radpool.Server{Handler: n, Config: radpool.Config{RunInReader: radpool.No}}
	tb.Cleanup(serve(server, pc, radpool.CoA))
	return server
}

// Over a network that loses, repeats and reorders: what was asked for is done, once, and the answer is the NAS's.
func TestChangesOfSessions(t *testing.T) {
	inWorld(t, simnet.Config{Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, MaxDelay: 50 * time.Millisecond}, func(t *testing.T, w *world) {
		addr := netip.MustParseAddrPort("192.0.2.9:3799")
		pc, err := w.net.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		n := newNAS()
		server := n.serveCoA(t, pc)
		c := w.client(radclient.Config{
			Others:         []radclient.Server{{Addr: addr, Secret: []byte("testing123")}},
			Retransmission: radclient.Retransmission{IRT: 200 * time.Millisecond, MRC: radclient.Unlimited},
		})
		ctx := context.Background()
		alice := radclient.Session{SessionID: "s1", UserName: "alice", FramedAddr: netip.MustParseAddr("10.0.0.2")}
		filter := radius.Attributes{{Type: rfc2865.FilterID_Type, Attribute: radius.Attribute("slow")}}
		if err := c.ChangeAuthorization(ctx, addr, radclient.MikroTik, alice, filter); err != nil {
			t.Error(err)
		}
		nak := func(what string, err error, code radius.Code, cause rfc3576.ErrorCause) {
			t.Helper()
			if e, ok := errors.AsType[*radclient.NAKError](err); !ok || e.Code != code || e.Cause != cause || e.Server != addr ||
				e.NotFound() != (cause == 503) {
				t.Errorf("%s: got %v, want %v with Error-Cause %d", what, err, code, cause)
			}
		}
		nak("no filter", c.ChangeAuthorization(ctx, addr, 0, alice, nil), radius.CodeCoANAK, 407)
		nak("another's session", c.Disconnect(ctx, addr, 0, radclient.Session{SessionID: "s2", UserName: "alice"}), radius.CodeDisconnectNAK, 503)
		nak("by name alone", c.Disconnect(ctx, addr, radclient.ByUserName, alice), radius.CodeDisconnectNAK, 402)
		for range 2 {
			err = errors.Join(err, c.Disconnect(ctx, addr, 0, alice))
		}
		nak("the second time", err, radius.CodeDisconnectNAK, 503)
		c.Close()
		server.Close()
		check(t, c)
		if len(n.sessions) != 1 || n.sessions["s2"] != "bob" || n.filters["s1"] != "slow" {
			t.Errorf("sessions %v, filters %v", n.sessions, n.filters)
		}
	})
}

// What identifies a session is sent, and nothing without.
func TestSessionAttributes(t *testing.T) {
	full := radclient.Session{
		SessionID: "s1", UserName: "alice", FramedAddr: netip.MustParseAddr("::ffff:10.0.0.2"),
		FramedIPv6Addr: netip.MustParseAddr("2001:db8::2"), CallingStationID: "00-11-22-33-44-55", NASPortID: "ether1",
		NASAddr: netip.MustParseAddr("192.0.2.9"), NASIdentifier: "bras1",
	}
	v6 := radclient.Session{UserName: "alice", NASAddr: netip.MustParseAddr("2001:db8::9")}
	const stamp = rfc2869.EventTimestamp_Type
	for _, c := range []struct {
		name    string
		profile radclient.Profile
		session radclient.Session
		want    []radius.Type // nil: ErrNoSession
	}{
		{"all", 0, full, []radius.Type{4, 32, 1, 44, 8, 168, 31, 87, stamp}},
		{"MikroTik", radclient.MikroTik, full, []radius.Type{4, 1, 44, 8, 168, stamp}},
		{"Cisco", radclient.Cisco, full, []radius.Type{1, 44, 8, 168, 31, stamp}},
		{"the number alone", radclient.BySessionID, full, []radius.Type{44, stamp}},
		{"IPv6", radclient.MikroTik, v6, []radius.Type{95, 1, stamp}},
		{"the NAS alone", 0, radclient.Session{NASIdentifier: "bras1", NASAddr: full.NASAddr}, nil},
		{"nothing that the profile sends", radclient.BySessionID, v6, nil},
	} {
		inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
			var got []radius.Type
			w.serve(serverA, func(in *incoming) [][]byte {
				for _, a := range in.packet.Attributes {
					got = append(got, a.Type)
				}
				if at := rfc2869.EventTimestamp_Get(in.packet); !at.Equal(time.Now().Truncate(second)) {
					t.Errorf("%s: Event-Timestamp is %v", c.name, at)
				}
				return [][]byte{in.reply(radius.CodeDisconnectACK)}
			})
			client := w.client(radclient.Config{}, serverA)
			err := client.Disconnect(context.Background(), serverA, c.profile, c.session)
			w.sync()
			if fmt.Sprint(got) != fmt.Sprint(c.want) || errors.Is(err, radclient.ErrNoSession) != (c.want == nil) {
				t.Errorf("%s: sent %v, want %v; %v", c.name, got, c.want, err)
			}
			client.Close()
		})
	}
}

func TestSessionAddressesOfTheWrongFamily(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		c := w.client(radclient.Config{}, serverA)
		for field, s := range map[string]radclient.Session{
			"FramedAddr":     {FramedAddr: netip.MustParseAddr("2001:db8::2")},
			"FramedIPv6Addr": {FramedIPv6Addr: netip.MustParseAddr("10.0.0.2")},
		} {
			if err := c.Disconnect(context.Background(), serverA, 0, s); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: %v", field, err)
			}
		}
		c.Close()
	})
}

// What an operator sends by hand: CoA and Disconnect by radclient, against the server's NAS side.
func TestCoAAndDisconnectByRadclient(t *testing.T) {
	program := need.Command(t, "radclient", "apt-get install freeradius-utils")
	pc := listenUDP(t)
	n := newNAS()
	server := n.serveCoA(t, pc)
	send := func(kind, secret, attributes string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, "-x", "-t", "1", "-r", "1", addrOf(pc).String(), kind, secret)
		cmd.Stdin = strings.NewReader(attributes)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) { // a NAK, or silence, is an exit code
			t.Fatalf("radclient: %v\n%s", err, out)
		}
		return string(out)
	}
	now := fmt.Sprint(time.Now().Unix())
	for _, c := range []struct {
		kind, secret, attributes string
		want                     []string // in what radclient prints
	}{
		{"coa", "testing123", "Acct-Session-Id=s1,User-Name=alice,Filter-Id=slow", []string{"Received CoA-ACK"}},
		{"coa", "testing123", "Acct-Session-Id=s1,Filter-Id=fast,Event-Timestamp=" + now, []string{"Received CoA-ACK"}},
		{"coa", "testing123", "Acct-Session-Id=s3,Filter-Id=slow", []string{"Received CoA-NAK", "Error-Cause = Session-Context-Not-Found"}},
		{"coa", "testing123", "User-Name=alice,Filter-Id=slow", []string{"Received CoA-NAK", "Error-Cause = Missing-Attribute"}},
		{"disconnect", "testing123", "Acct-Session-Id=s1,User-Name=bob", []string{"Received Disconnect-NAK", "Error-Cause = Session-Context-Not-Found"}},
		{"disconnect", "wrong", "Acct-Session-Id=s2,User-Name=bob", []string{"No reply from server"}},
		{"disconnect", "testing123", "Acct-Session-Id=s2,User-Name=bob,Event-Timestamp=1000000000", []string{"No reply from server"}},
		{"disconnect", "testing123", "Acct-Session-Id=s1,User-Name=alice,Message-Authenticator=0x00", []string{"Received Disconnect-ACK"}},
	} {
		out := send(c.kind, c.secret, c.attributes)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s of %s under secret %s: want %q in\n%s", c.kind, c.attributes, c.secret, want, out)
			}
		}
	}
	st := server.Stats()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.sessions) != 1 || n.sessions["s2"] != "bob" || n.filters["s1"] != "fast" || len(n.filters) != 1 {
		t.Errorf("sessions %v, filters %v", n.sessions, n.filters)
	}
	if st.ACKs != 3 || st.NAKs != 3 || st.Unauthentic == 0 || st.Stale == 0 {
		t.Errorf("%+v", st)
	}
}

func ExampleClient_Disconnect() {
	bras, end := serveExample(newNAS(), radpool.CoA) // 192.0.2.9:3799
	defer end()

	c, err := radclient.New(radclient.Config{Others: []radclient.Server{{Addr: bras, Secret: []byte("testing123")}}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	session := radclient.Session{SessionID: "s1", UserName: "alice"}
	for range 2 {
		err := c.Disconnect(context.Background(), bras, radclient.MikroTik, session)
		if nak, ok := errors.AsType[*radclient.NAKError](err); ok && nak.NotFound() {
			fmt.Println("it has ended already:", nak.Cause)
		} else if err != nil {
			log.Fatal(err)
		} else {
			fmt.Println("disconnected")
		}
	}
	// Output:
	// disconnected
	// it has ended already: Session-Context-Not-Found
}
