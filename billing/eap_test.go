package billing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/eap"
)

// eapPeers are the methods, by their names in AuthResult.
var eapPeers = map[billing.Method]func(user, password string) *billingtest.EAPPeer{
	billing.MethodEAPMD5:      billingtest.EAPMD5,
	billing.MethodEAPMSCHAPv2: billingtest.EAPMSCHAPv2,
}

// TestEAPMatrix lets both methods meet forms of password, right and wrong.
func TestEAPMatrix(t *testing.T) {
	nt := mustParse(t, billing.FormNT, sumOf(billing.FormNT, ""))
	for method, peer := range eapPeers {
		for _, c := range []struct {
			name  string
			grant billing.Grant
			given string
			want  billing.Reason
		}{
			{"right", billing.Grant{Password: billing.Cleartext(thePassword)}, thePassword, billing.ReasonNone},
			{"wrong", billing.Grant{Password: billing.Cleartext(thePassword)}, "wrong", billing.ReasonWrongPassword},
			{"empty", billing.Grant{Password: billing.Cleartext("")}, "", billing.ReasonNoPassword},
			{"none", billing.Grant{}, thePassword, billing.ReasonNoPassword},
			{"no password wanted, but given", billing.Grant{NoPassword: true}, "x", billing.ReasonNoPassword},
			{"NT hash", billing.Grant{Password: nt}, thePassword, billing.ReasonNone},
			{"SHA", billing.Grant{Password: mustParse(t, billing.FormSHA, sumOf(billing.FormSHA, ""))}, thePassword, billing.ReasonPasswordForm},
			{"unknown", billing.Grant{Reason: billing.ReasonUnknownUser}, thePassword, billing.ReasonUnknownUser},
			{"blocked", billing.Grant{Reason: billing.ReasonBlocked, Password: nt}, thePassword, billing.ReasonBlocked},
			{"expired", billing.Grant{Password: billing.Cleartext("x"), Expires: someTime()}, "x", billing.ReasonExpired},
			{"any password", billing.Grant{AnyPassword: true, NoPassword: true}, "x", billing.ReasonNone},
			{"too many", billing.Grant{Password: billing.Cleartext("x"), SimultaneousUse: 1, OpenSessions: 1}, "x", billing.ReasonTooManySessions},
		} {
			want := c.want
			switch {
			case method == billing.MethodEAPMD5 && c.grant.Password.Form() == billing.FormNT && want != billing.ReasonPasswordForm:
				want = billing.ReasonPasswordForm
			case method == billing.MethodEAPMSCHAPv2 && c.grant.AnyPassword:
				want = billing.ReasonNoPassword
			}
			back := granting(c.grant)
			p := &billing.Processor{Handler: back}
			reply := billingtest.RunEAP(t, p, peer("User", c.given))
			got := back.last(t)
			if got.Reason != want || back.lastAsk.Method != method || reply.Accepted() != (want == billing.ReasonNone) {
				t.Errorf("%v, %s: %v, %v by %v, want %v", method, c.name, reply, got.Reason, back.lastAsk.Method, want)
			}
			if back.asked != 1 || len(back.results) != 1 || got.Message != "" || len(got.Password) != 0 {
				t.Errorf("%v, %s: asked %d times, %d results, %q", method, c.name, back.asked, len(back.results), got.Message)
			}
			if s := p.Stats(); s.EAPWaiting != 0 || s.Challenged < 2 {
				t.Errorf("%v, %s: %+v", method, c.name, s)
			}
		}
	}
}

// TestEAPReply: what the NAS gets at the end.
func TestEAPReply(t *testing.T) {
	grant := billing.Grant{
		Password: billing.Cleartext("pw"),
		Reply:    radius.Attributes{attr(rfc2865.ReplyMessage_Type, "hello"), attr(rfc2865.FilterID_Type, "10mbit")},
		Hidden:   []billing.Hidden{},
	}
	p := &billing.Processor{Handler: granting(grant), EAP: billing.EAPConfig{ResponseTime: 20 * time.Second}}
	peer := billingtest.EAPMSCHAPv2("alice", "pw")
	first, _, err := peer.Next(nil)
	if err != nil {
		t.Fatal(err)
	}
	challenge := billingtest.Run(t, p, first)
	if !challenge.Challenged() || challenge.Uint32(rfc2865.SessionTimeout_Type) != 20 || len(challenge.Bytes(rfc2865.State_Type)) != 16 {
		t.Errorf("%v", challenge)
	}
	for method, peer := range eapPeers {
		reply := billingtest.RunEAP(t, p, peer("alice", "pw"))
		keys := reply.Vendor(311, 16) != nil && reply.Vendor(311, 17) != nil
		if reply.String(rfc2865.FilterID_Type) != "10mbit" || reply.String(rfc2865.UserName_Type) != "alice" || keys != (method == billing.MethodEAPMSCHAPv2) {
			t.Errorf("%v: %v", method, reply)
		}
	}
	if len(grant.Reply) != 2 {
		t.Errorf("the Grant was changed: %v", grant.Reply)
	}
	off := &billing.Processor{Handler: granting(grant), MPPE: billing.MPPEOff}
	if reply := billingtest.RunEAP(t, off, billingtest.EAPMSCHAPv2("alice", "pw")); reply.Vendor(311, 16) != nil || reply.Vendor(311, 7) != nil {
		t.Errorf("keys without MPPE: %v", reply)
	}
	// A name that the back end gives stays the only one.
	named := billing.Grant{Password: billing.Cleartext("pw"), Reply: radius.Attributes{attr(rfc2865.UserName_Type, "other")}}
	reply := billingtest.RunEAP(t, &billing.Processor{Handler: granting(named)}, billingtest.EAPMD5("alice", "pw"))
	if got := reply.Strings(rfc2865.UserName_Type); len(got) != 1 || got[0] != "other" {
		t.Errorf("%q", got)
	}
}

// TestEAPRestricted lets in who is out of money with the other profile; rejects have
// no Reply-Message.
func TestEAPRestricted(t *testing.T) {
	g := billing.Grant{
		Reason: billing.ReasonNoMoney, Password: billing.Cleartext("pw"),
		Restricted: radius.Attributes{attr(rfc2865.FilterID_Type, "pay")},
	}
	back := granting(g)
	p := &billing.Processor{Handler: back}
	reply := billingtest.RunEAP(t, p, billingtest.EAPMSCHAPv2("alice", "pw"))
	if got := back.last(t); reply.String(rfc2865.FilterID_Type) != "pay" || !got.Restricted {
		t.Errorf("%v, %+v", reply, got)
	}
	reject := radius.Attributes{attr(rfc2865.ReplyMessage_Type, "go away"), intAttr(101, 503)}
	p = &billing.Processor{Handler: granting(billing.Grant{Reason: billing.ReasonBlocked, Password: billing.Cleartext("pw"), RejectReply: reject}), ShowReasons: true}
	if reply := billingtest.RunEAP(t, p, billingtest.EAPMD5("alice", "pw")); !reply.Rejected() || reply.Uint32(101) != 503 {
		t.Errorf("%v", reply)
	}
}

// TestEAPMAC is a device that has nothing but its address, in a switch that speaks EAP
// for it.
func TestEAPMAC(t *testing.T) {
	const mac = "020000000001"
	for method, peer := range eapPeers {
		back := granting(billing.Grant{NoPassword: true})
		p := &billing.Processor{Handler: back}
		if reply := billingtest.RunEAP(t, p, peer(mac, mac)); !reply.Accepted() {
			t.Errorf("%v: %v, %v", method, reply, back.last(t).Reason)
		}
		if reply := billingtest.RunEAP(t, p, peer(mac, "other")); !reply.Rejected() {
			t.Errorf("%v: %v", method, reply)
		}
	}
}

// TestEAPDomain: the response is over the name without a Windows domain.
func TestEAPDomain(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")})}
	if reply := billingtest.RunEAP(t, p, billingtest.EAPMSCHAPv2(`OFFICE\alice`, "pw")); !reply.Accepted() {
		t.Errorf("%v", reply)
	}
}

// TestEAPSimultaneousUse: the session is reserved at the end, not before.
func TestEAPSimultaneousUse(t *testing.T) {
	back := granting(billing.Grant{Password: billing.Cleartext("pw"), SimultaneousUse: 1})
	p := &billing.Processor{Handler: back}
	peers := make([]*billingtest.EAPPeer, 2)
	last := make([]*billingtest.Reply, 2)
	for i := range peers {
		peers[i] = billingtest.EAPMSCHAPv2("alice", "pw")
		peers[i].Request = peers[i].Request.CallingStation(fmt.Sprintf("02:00:00:00:00:%02x", i)).Port(uint32(i))
	}
	for round := range 3 {
		for i, peer := range peers {
			next, _, err := peer.Next(last[i])
			if err != nil {
				t.Fatal(err)
			}
			if last[i] = billingtest.Run(t, p, next); round < 2 && p.Stats().Reservations != 0 {
				t.Errorf("round %d: reserved", round)
			}
		}
	}
	if !last[0].Accepted() || !last[1].Rejected() || back.last(t).Reason != billing.ReasonTooManySessions {
		t.Errorf("%v, %v", last[0], last[1])
	}
}

// converse goes through a whole conversation, of which do answers each Access-Request.
func converse(t *testing.T, peer *billingtest.EAPPeer, do func(billingtest.Request) *billingtest.Reply) *billingtest.Reply {
	t.Helper()
	var last *billingtest.Reply
	for {
		next, more, err := peer.Next(last)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return last
		}
		last = do(next)
	}
}

// TestEAPErrors: while the back end is away there is no answer, and the packet that
// comes again goes on where it was.
func TestEAPErrors(t *testing.T) {
	for method, peer := range eapPeers {
		down := true
		back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
			if down {
				return billing.Grant{}, errors.New("database is away")
			}
			return billing.Grant{Password: billing.Cleartext("pw")}, nil
		}}
		p := &billing.Processor{Handler: back}
		last := converse(t, peer("alice", "pw"), func(next billingtest.Request) *billingtest.Reply {
			reply := billingtest.Run(t, p, next)
			for reply.Failed() { // the same State
				down = back.asked < 3
				reply = billingtest.Run(t, p, next)
			}
			return reply
		})
		if !last.Accepted() || back.asked != 4 || p.Stats().EAPWaiting != 0 {
			t.Errorf("%v: %v, asked %d times, %+v", method, last, back.asked, p.Stats())
		}
	}
	// FailReject ends it.
	back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) { return billing.Grant{}, errors.New("away") }}
	p := &billing.Processor{Handler: back, OnError: billing.FailReject}
	if reply := billingtest.RunEAP(t, p, billingtest.EAPMD5("alice", "pw")); !reply.Rejected() || p.Stats().EAPWaiting != 0 {
		t.Errorf("%v, %+v", reply, p.Stats())
	}
}

// leasing is a back end with a pool that fails at first.
type leasing struct {
	*fake
	failures int
}

func (l *leasing) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	for _, lease := range leases {
		if l.failures--; l.failures >= 0 {
			lease.Err = errors.New("away")
			continue
		}
		lease.Addr = serverAddress
	}
}

// TestEAPLease: the address is leased at the end, and what fails then comes again.
func TestEAPLease(t *testing.T) {
	for method, peer := range eapPeers {
		back := &leasing{fake: granting(billing.Grant{Password: billing.Cleartext("pw"), Pool: "main"}), failures: 2}
		p := &billing.Processor{Handler: back}
		last := converse(t, peer("alice", "pw"), func(next billingtest.Request) *billingtest.Reply {
			reply := billingtest.Run(t, p, next)
			for range 2 {
				if reply.Failed() {
					reply = billingtest.Run(t, p, next)
				}
			}
			return reply
		})
		if !last.Accepted() || last.Addr(rfc2865.FramedIPAddress_Type) != serverAddress || len(back.results) != 1 || back.asked != 1 {
			t.Errorf("%v: %v, %d results, asked %d times", method, last, len(back.results), back.asked)
		}
	}
}

// TestEAPValidate names the fields.
func TestEAPValidate(t *testing.T) {
	err := (&billing.Processor{Handler: granting(billing.Grant{}), EAP: billing.EAPConfig{
		Methods: []eap.Method{nil}, MaxRounds: -1, Timeout: 2 * time.Hour, MaxConversations: -1, ResponseTime: time.Millisecond,
	}}).Validate()
	for _, field := range []string{"Methods[0]", "MaxRounds", "Timeout", "MaxConversations", "ResponseTime"} {
		if err == nil || !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
}
