package billing_test

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/eap"
)

var serverAddress = netip.MustParseAddr("10.0.0.1")

// challenged begins a conversation, and returns the request that would go on with it.
func challenged(t *testing.T, p *billing.Processor, peer *billingtest.EAPPeer) (next billingtest.Request, last *billingtest.Reply) {
	t.Helper()
	first, _, err := peer.Next(nil)
	if err != nil {
		t.Fatal(err)
	}
	last = billingtest.Run(t, p, first)
	if next, _, err = peer.Next(last); err != nil {
		t.Fatal(err)
	}
	return next, last
}

// TestEAPAttacks sends what does not go on with the conversation. None of it is an
// Access-Accept, and it says why in the log.
func TestEAPAttacks(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(next billingtest.Request, last *billingtest.Reply) billingtest.Request
		want string // in the log
	}{
		"no State": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.Without(rfc2865.State_Type)
		}, "State names no conversation"},
		"a guessed State": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.Bytes(rfc2865.State_Type, bytes.Repeat([]byte{1}, 16))
		}, "State names no conversation"},
		"a short State": {func(r billingtest.Request, last *billingtest.Reply) billingtest.Request {
			return r.Bytes(rfc2865.State_Type, last.Bytes(rfc2865.State_Type)[:15])
		}, "State names no conversation"},
		"another client": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.NAS("192.0.2.9")
		}, "State names no conversation"},
		"another user": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.User("bob")
		}, "User-Name is not the EAP identity"},
		"an empty User-Name": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.User("")
		}, "User-Name is not the EAP identity"},
		"cut off": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.Bytes(rfc2869.EAPMessage_Type, []byte{2, 1, 0, 22, 4, 16, 1, 2})
		}, "cut off"},
		"three octets": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.Bytes(rfc2869.EAPMessage_Type, []byte{2, 1, 0})
		}, "cut off"},
		"an unknown Code": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.Bytes(rfc2869.EAPMessage_Type, []byte{9, 1, 0, 4})
		}, "unknown Code"},
		"a long identity": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			b := eap.Packet{Code: eap.CodeResponse, Type: eap.TypeIdentity, Data: make([]byte, 3500)}.Append(nil)
			r = r.Without(rfc2869.EAPMessage_Type)
			eap.Fragments(b, func(v []byte) { r = r.Add(rfc2869.EAPMessage_Type, v) })
			return r
		}, "identity has not 1 to 253"},
		"an identity of another": {func(r billingtest.Request, _ *billingtest.Reply) billingtest.Request {
			return r.Bytes(rfc2869.EAPMessage_Type, eap.Packet{Code: eap.CodeResponse, Type: eap.TypeIdentity, Data: []byte("bob")}.Append(nil))
		}, "User-Name is not the EAP identity"},
	} {
		core, logs := observer.New(zap.InfoLevel)
		back := granting(billing.Grant{Password: billing.Cleartext("pw")})
		p := &billing.Processor{Handler: back, Logger: zap.New(core)}
		next, last := challenged(t, p, billingtest.EAPMD5("alice", "pw"))
		if last.Bytes(rfc2865.State_Type) == nil {
			t.Fatal("no State")
		}
		reply := billingtest.Run(t, p, c.edit(next, last))
		if !reply.Rejected() || back.asked != 0 || back.last(t).Reason != billing.ReasonEAP {
			t.Errorf("%s: %v, %v", name, reply, back.last(t).Reason)
		}
		if e, err := eap.Parse(reply.Bytes(rfc2869.EAPMessage_Type)); err != nil || e.Code != eap.CodeFailure {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		lines := logs.All()
		if len(lines) != 1 || !strings.Contains(lines[0].ContextMap()["eap"].(string), c.want) {
			t.Errorf("%s: log %+v", name, lines)
		}
	}
}

// TestEAPOtherClientChangesNothing: the conversation goes on with its own client.
func TestEAPOtherClientChangesNothing(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")})}
	peer := billingtest.EAPMSCHAPv2("alice", "pw")
	next, _ := challenged(t, p, peer)
	if reply := billingtest.Run(t, p, next.NAS("192.0.2.9")); !reply.Rejected() {
		t.Fatalf("%v", reply)
	}
	last := billingtest.Run(t, p, next)
	for last.Challenged() {
		n, _, err := peer.Next(last)
		if err != nil {
			t.Fatal(err)
		}
		last = billingtest.Run(t, p, n)
	}
	if s := p.Stats(); !last.Accepted() || s.EAPUnknown != 1 {
		t.Errorf("%v, %+v", last, s)
	}
}

// TestEAPReplay: a packet that was answered is not taken again, in whatever way it
// went.
func TestEAPReplay(t *testing.T) {
	for method, peer := range eapPeers {
		p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")})}
		var sent []billingtest.Request
		last := converse(t, peer("alice", "pw"), func(next billingtest.Request) *billingtest.Reply {
			sent = append(sent, next)
			return billingtest.Run(t, p, next)
		})
		if !last.Accepted() {
			t.Fatalf("%v: %v", method, last)
		}
		for i, r := range sent[1:] { // the first begins another conversation
			if reply := billingtest.Run(t, p, r.Seed(999)); !reply.Rejected() {
				t.Errorf("%v: packet %d again: %v", method, i+1, reply)
			}
		}
	}
}

// TestEAPIgnores: a forged packet of somebody on the wire does not end the
// conversation.
func TestEAPIgnores(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")})}
	peer := billingtest.EAPMSCHAPv2("alice", "pw")
	next, challenge := challenged(t, p, peer)
	forged := next.Bytes(rfc2869.EAPMessage_Type, []byte{2, 77, 0, 6, 26, 3})
	reply := billingtest.Run(t, p, forged)
	if !reply.Challenged() || reply.Uint32(101) != 202 || !bytes.Equal(reply.Bytes(rfc2869.EAPMessage_Type), challenge.Bytes(rfc2869.EAPMessage_Type)) {
		t.Fatalf("%v", reply)
	}
	next = next.Bytes(rfc2865.State_Type, reply.Bytes(rfc2865.State_Type))
	for last := billingtest.Run(t, p, next); ; last = billingtest.Run(t, p, next) {
		var more bool
		var err error
		if next, more, err = peer.Next(last); err != nil {
			t.Fatal(err)
		}
		if !more {
			if s := p.Stats(); !last.Accepted() || s.EAPIgnored != 1 {
				t.Errorf("%v, %+v", last, s)
			}
			return
		}
	}
}

// TestEAPStart asks for the identity, without a conversation.
func TestEAPStart(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")})}
	peer := billingtest.EAPMD5("alice", "pw")
	first, _, _ := peer.Next(nil)
	last := billingtest.Run(t, p, first.Bytes(rfc2869.EAPMessage_Type, nil).Without(rfc2865.UserName_Type))
	if e, err := eap.Parse(last.Bytes(rfc2869.EAPMessage_Type)); err != nil || e.Type != eap.TypeIdentity || p.Stats().EAPWaiting != 0 {
		t.Fatalf("%v", last)
	}
	for last.Challenged() {
		next, _, err := peer.Next(last)
		if err != nil {
			t.Fatal(err)
		}
		last = billingtest.Run(t, p, next)
	}
	if !last.Accepted() {
		t.Errorf("%v", last)
	}
}

// TestEAPWithoutUserName: the identity is the name.
func TestEAPWithoutUserName(t *testing.T) {
	back := granting(billing.Grant{Password: billing.Cleartext("pw")})
	p := &billing.Processor{Handler: back}
	peer := billingtest.EAPMD5("alice", "pw")
	peer.Request = billingtest.AccessRequest()
	if reply := billingtest.RunEAP(t, p, peer); !reply.Accepted() || back.lastAsk.UserName != "alice" || reply.String(rfc2865.UserName_Type) != "alice" {
		t.Errorf("%v, asked for %q", reply, back.lastAsk.UserName)
	}
}

// TestEAPFragments: a packet in several attributes, in order and out of it.
func TestEAPFragments(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")})}
	long := strings.Repeat("x", 253)
	peer := billingtest.EAPMD5(long, "pw")
	if reply := billingtest.RunEAP(t, p, peer); !reply.Accepted() {
		t.Errorf("%v", reply)
	}
	first, _, _ := peer.Next(nil)
	packet := eap.Packet{Code: eap.CodeResponse, Type: eap.TypeIdentity, Data: []byte(long)}.Append(nil)
	first = first.Without(rfc2869.EAPMessage_Type).Add(rfc2869.EAPMessage_Type, packet[253:]).Add(rfc2869.EAPMessage_Type, packet[:253])
	if reply := billingtest.Run(t, p, first); !reply.Rejected() {
		t.Errorf("out of order: %v", reply)
	}
}

// TestEAPBounds: conversations that nobody goes on with give way, and end.
func TestEAPBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &billing.Processor{
			Handler: granting(billing.Grant{Password: billing.Cleartext("pw")}),
			EAP:     billing.EAPConfig{MaxConversations: 10, Timeout: 20 * time.Second},
		}
		first, _, err := billingtest.EAPMD5("alice", "pw").Next(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 25 {
			billingtest.Run(t, p, first.Seed(uint64(i)))
		}
		if s := p.Stats(); s.EAPWaiting != 10 || s.EAPPushed != 15 {
			t.Errorf("%+v", s)
		}
		next, _ := challenged(t, p, billingtest.EAPMD5("alice", "pw"))
		time.Sleep(20 * time.Second)
		if reply := billingtest.Run(t, p, next); !reply.Rejected() {
			t.Errorf("too late: %v", reply)
		}
		if s := p.Stats(); s.EAPWaiting != 0 || s.EAPTimedOut != 10 || s.EAPPushed != 16 {
			t.Errorf("%+v", s)
		}
	})
}

// TestEAPKeepsGrantShortly: a peer that takes its time has the back end asked again.
func TestEAPKeepsGrantShortly(t *testing.T) {
	for wait, want := range map[time.Duration]int{5 * time.Second: 1, 6 * time.Second: 2} {
		synctest.Test(t, func(t *testing.T) {
			back := granting(billing.Grant{Password: billing.Cleartext("pw")})
			p := &billing.Processor{Handler: back}
			peer := billingtest.EAPMSCHAPv2("alice", "pw")
			next, _ := challenged(t, p, peer)
			last := billingtest.Run(t, p, next)
			time.Sleep(wait)
			next, _, err := peer.Next(last)
			if err != nil {
				t.Fatal(err)
			}
			if last = billingtest.Run(t, p, next); !last.Accepted() || back.asked != want {
				t.Errorf("%v: %v, asked %d times", wait, last, back.asked)
			}
		})
	}
}
