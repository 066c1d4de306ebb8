package coa_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3576"
	"layeh.com/radius/rfc5176"

	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

// A nas is one with sessions, and their filters, by Acct-Session-Id.
type nas struct {
	mu       sync.Mutex
	sessions map[string]string
	done     int
	port     string // NAS-Port-Id of the last request
}

func (n *nas) Handle(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := rfc2866.AcctSessionID_GetString(req.Packet)
	n.port = rfc2869.NASPortID_GetString(req.Packet)
	if _, ok := n.sessions[id]; !ok {
		resp.NAK(rfc3576.ErrorCause_Value_SessionContextNotFound)
		return
	}
	n.done++
	if req.Code == radius.CodeDisconnectRequest {
		delete(n.sessions, id)
		resp.ACK()
		return
	}
	filter, err := rfc2865.FilterID_LookupString(req.Packet)
	if err != nil {
		resp.NAK(rfc5176.ErrorCause_Value_InvalidAttributeValue)
		return
	}
	n.sessions[id] = filter
	resp.ACK()
}

// inWorld runs a test in virtual time, over a network that loses, repeats and reorders,
// with a NAS of package radpool and a Client that finds it under the secret that is set.
func inWorld(t *testing.T, test func(t *testing.T, n *nas, c *coa.Client, secret *string)) {
	synctest.Test(t, func(t *testing.T) {
		network, err := simnet.New(simnet.Config{Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, MaxDelay: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		pc, err := network.Listen(nasAddr)
		if err != nil {
			t.Fatal(err)
		}
		clients, err := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte("testing123"), EventTimestamp: radpool.Yes})
		if err != nil {
			t.Fatal(err)
		}
		n := &nas{sessions: make(map[string]string)}
		server := &radpool.Server{Handler: n, Clients: clients, Config: radpool.Config{RunInReader: radpool.No}}
		served := make(chan error, 1)
		go func() { served <- server.ServeServices(pc, radpool.CoA) }()
		secret := "testing123"
		port := uint16(40000)
		c, err := coa.NewClient(coa.ClientConfig{
			Find: func(s *coa.Session) (coa.Target, bool) {
				profile := radclient.MikroTik
				if s.Vendor == "other" {
					profile = 0
				}
				return coa.Target{Addr: nasAddr, Secret: []byte(secret), Profile: profile}, s.NASAddr == nasAddr.Addr()
			},
			Retransmission: radclient.Retransmission{IRT: 200 * time.Millisecond, MRC: radclient.Unlimited},
			Listen: func() (net.PacketConn, error) {
				port++
				return network.Listen(netip.AddrPortFrom(netip.MustParseAddr("192.0.2.100"), port))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		test(t, n, c, &secret)
		if err := errors.Join(c.Close(), c.Close(), server.Close()); err != nil {
			t.Error(err)
		}
		<-served
		network.Close()
	})
}

// Over the network: the money of 40 sessions ends, and that of half of them is paid; each NAS
// does what it is asked for once.
func TestControllerOverTheNetwork(t *testing.T) {
	inWorld(t, func(t *testing.T, n *nas, client *coa.Client, _ *string) {
		s := newStore()
		for i := range 40 {
			key := string(rune('a'+i/10)) + string(rune('0'+i%10))
			s.add(key, "user"+key)
			if i < 39 {
				n.sessions[key] = ""
			}
		}
		c, err := coa.Start(coa.Config{Store: s, NAS: client})
		if err != nil {
			t.Fatal(err)
		}
		s.want(restricted)
		pass(3 * time.Minute)
		n.mu.Lock()
		for key, filter := range n.sessions {
			if filter != "pay" || s.state(key).Applied != coa.Restricted {
				t.Errorf("session %s has the filter %q: %+v", key, filter, s.state(key))
			}
		}
		if n.done != 39 {
			t.Errorf("39 sessions were changed %d times", n.done)
		}
		n.mu.Unlock()
		if st := s.state("d9"); st.Phase != coa.Gone {
			t.Errorf("a session that the NAS has not: %+v", st)
		}
		s.want(coa.Want{Mode: coa.Ended})
		pass(3 * time.Minute)
		n.mu.Lock()
		if len(n.sessions) != 0 || n.done != 78 {
			t.Errorf("%d sessions are left after %d changes", len(n.sessions), n.done)
		}
		n.mu.Unlock()
		if st := c.Stats(); st.Changes != 39 || st.Disconnects != 39 || st.NotFound != 1 {
			t.Errorf("%+v", st)
		}
		c.Close()
	})
}

// What a NAS answers is told by the error; a secret that was changed is used.
func TestClientErrors(t *testing.T) {
	inWorld(t, func(t *testing.T, n *nas, c *coa.Client, secret *string) {
		n.sessions["s"] = ""
		ask := func(s *coa.Session, to ...*radius.AVP) error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			return c.Change(ctx, s, to)
		}
		session := &coa.Session{SessionID: "s", UserName: "alice", NASAddr: nasAddr.Addr()}
		pay := &radius.AVP{Type: rfc2865.FilterID_Type, Attribute: radius.Attribute("pay")}
		address := &radius.AVP{Type: rfc2865.FramedIPAddress_Type, Attribute: radius.Attribute{10, 0, 0, 1}}
		if err := ask(session, pay, address); err != nil || n.sessions["s"] != "pay" {
			t.Errorf("%v, %q", err, n.sessions["s"])
		}
		if err := ask(session, address); !errors.Is(err, coa.ErrRefused) {
			t.Errorf("without a filter: %v", err)
		}
		if err := ask(&coa.Session{SessionID: "x", NASAddr: nasAddr.Addr()}, pay); !errors.Is(err, coa.ErrNotFound) {
			t.Errorf("no such session: %v", err)
		}
		if err := ask(&coa.Session{SessionID: "s", NASAddr: netip.MustParseAddr("192.0.2.77")}, pay); !errors.Is(err, coa.ErrUnreachable) {
			t.Errorf("no such NAS: %v", err)
		}
		if err := ask(&coa.Session{NASAddr: nasAddr.Addr()}, pay); !errors.Is(err, coa.ErrUnreachable) {
			t.Errorf("nothing that identifies the session: %v", err)
		}
		*secret = "wrong"
		if err := ask(session, pay); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a wrong secret: %v", err)
		}
		*secret = "testing123"
		if err := ask(session, pay); err != nil {
			t.Errorf("with the right secret again: %v", err)
		}
	})
}

func TestReplaces(t *testing.T) {
	filter := &radius.AVP{Type: rfc2865.FilterID_Type, Attribute: radius.Attribute("x")}
	vendor := func(id byte, code byte) *radius.AVP {
		return &radius.AVP{Type: rfc2865.VendorSpecific_Type, Attribute: radius.Attribute{0, 0, 0, id, code, 3, 'x'}}
	}
	message := &radius.AVP{Type: rfc2865.ReplyMessage_Type, Attribute: radius.Attribute("hello")}
	for _, c := range []struct {
		attrs, old radius.Attributes
		want       bool
	}{
		{nil, nil, true},
		{radius.Attributes{filter}, radius.Attributes{filter, message}, true},
		{radius.Attributes{message}, radius.Attributes{filter}, false},
		{radius.Attributes{vendor(1, 2), filter}, radius.Attributes{vendor(1, 2)}, true},
		{radius.Attributes{vendor(1, 2)}, radius.Attributes{vendor(1, 3)}, false},
		{radius.Attributes{vendor(1, 2)}, radius.Attributes{vendor(2, 2)}, false},
		{radius.Attributes{vendor(1, 2)}, radius.Attributes{{Type: rfc2865.VendorSpecific_Type, Attribute: radius.Attribute{1}}}, false},
	} {
		if got := coa.Replaces(c.attrs, c.old); got != c.want {
			t.Errorf("%v after %v: %v", c.attrs, c.old, got)
		}
	}
}

// A number is a NAS-Port, and is not sent as a NAS-Port-Id, which the NAS has not told of the
// session, and would answer with Session-Context-Not-Found.
func TestNASPortIsNoNASPortID(t *testing.T) {
	inWorld(t, func(t *testing.T, n *nas, c *coa.Client, _ *string) {
		for port, want := range map[string]string{"15728643": "", "0": "", "": "", "ge-0/0/1.7": "ge-0/0/1.7", "4294967296": "4294967296"} {
			n.mu.Lock()
			n.sessions["s"] = ""
			n.mu.Unlock()
			s := &coa.Session{SessionID: "s", UserName: "alice", NASPort: port, NASAddr: nasAddr.Addr(), Vendor: "other"}
			if err := c.Disconnect(t.Context(), s); err != nil {
				t.Errorf("%q: %v", port, err)
			}
			n.mu.Lock()
			if n.port != want {
				t.Errorf("%q: NAS-Port-Id is %q, want %q", port, n.port, want)
			}
			n.mu.Unlock()
		}
	})
}

func TestSecretOfTargetIsNotPrinted(t *testing.T) {
	target := coa.Target{Addr: nasAddr, Secret: []byte("s3cret")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if got := fmt.Sprintf(verb, target); got != nasAddr.String() {
			t.Errorf("%s: %s", verb, got)
		}
	}
}
