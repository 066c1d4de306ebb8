package grants_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/grants"
	"github.com/radpool/radpool/radpool"
)

var nas1 = netip.MustParseAddr("192.0.2.1")

func access(user string) *billing.AccessRequest {
	return &billing.AccessRequest{
		UserName: user, Method: billing.MethodPAP, NASAddr: nas1, CallingStationID: "02-00-00-00-00-01", NASPort: 7, NASPortID: "eth1",
	}
}

func TestLastGoodGrant(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	good := billing.Grant{Password: billing.Cleartext("pw")}
	ipoe := billing.Grant{NoPassword: true}
	reject := func(r billing.Reason) billing.Grant {
		return billing.Grant{Reason: r, Password: billing.Cleartext("pw")}
	}
	restricted := billing.Grant{Reason: billing.ReasonNoMoney, Restricted: radius.Attributes{}}
	change := func(f func(r *billing.AccessRequest)) *billing.AccessRequest {
		r := access("alice")
		f(r)
		return r
	}
	packet := func(attrs ...*radius.AVP) *billing.AccessRequest {
		return change(func(r *billing.AccessRequest) {
			r.Request = &radpool.Request{Packet: &radius.Packet{Attributes: attrs}}
		})
	}
	circuit1 := &radius.AVP{Type: 26, Attribute: []byte("circuit 1")}
	circuit2 := &radius.AVP{Type: 26, Attribute: []byte("circuit 2")}
	for what, c := range map[string]struct {
		grant billing.Grant
		first *billing.AccessRequest // nil: access("alice")
		again *billing.AccessRequest // who asks then
		after time.Duration
		then  []billing.Grant // what alice is answered meanwhile
		want  bool
	}{
		"the same again":               {grant: good, want: true},
		"in time":                      {grant: good, after: time.Hour, want: true},
		"too old":                      {grant: good, after: time.Hour + 1},
		"another port":                 {grant: good, again: change(func(r *billing.AccessRequest) { r.NASPort, r.NASPortID = 8, "eth2" }), want: true},
		"another port, no password":    {grant: ipoe, again: change(func(r *billing.AccessRequest) { r.NASPort = 8 })},
		"no password":                  {grant: ipoe, want: true},
		"no password, another circuit": {grant: ipoe, first: packet(circuit1), again: packet(circuit2)},
		"no password, the same circuit": {grant: ipoe, first: packet(circuit1, &radius.AVP{Type: 44, Attribute: []byte("s1")}),
			again: packet(circuit1, &radius.AVP{Type: 44, Attribute: []byte("s2")}), want: true},
		"another user":          {grant: good, again: access("bob")},
		"another spelling":      {grant: good, again: access("Alice")},
		"another station":       {grant: good, again: change(func(r *billing.AccessRequest) { r.CallingStationID = "x" })},
		"another NAS":           {grant: good, again: change(func(r *billing.AccessRequest) { r.NASAddr = netip.MustParseAddr("192.0.2.2") })},
		"another method":        {grant: good, again: change(func(r *billing.AccessRequest) { r.Method = billing.MethodNone })},
		"another service":       {grant: good, again: change(func(r *billing.AccessRequest) { r.ServiceType = 6 })},
		"unknown":               {grant: reject(billing.ReasonUnknownUser)},
		"blocked since":         {grant: good, then: []billing.Grant{reject(billing.ReasonBlocked)}},
		"out of money":          {grant: good, then: []billing.Grant{reject(billing.ReasonNoMoney)}},
		"restricted":            {grant: restricted, want: true},
		"blocked and unblocked": {grant: good, then: []billing.Grant{reject(billing.ReasonBlocked), good}, want: true},
	} {
		g := grants.New(10, time.Hour)
		first := c.first
		if first == nil {
			first = access("alice")
		}
		g.Answered(now, first, &c.grant)
		for _, grant := range c.then {
			g.Answered(now, access("ALICE "), &grant) // a spelling that some databases take for the same
			if grant.Reason == billing.ReasonNone {
				g.Answered(now, first, &grant)
			}
		}
		again := c.again
		if again == nil {
			again = first
		}
		if _, _, got := g.Find(now.Add(c.after), again); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

func TestGrantsAreBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	g := grants.New(3, time.Hour)
	good := billing.Grant{Password: billing.Cleartext("pw")}
	for i := range 10 {
		g.Answered(now, access(fmt.Sprint("user", i)), &good)
		g.Answered(now, access("user0"), &good) // asks again and again
	}
	for i, want := range []bool{true, false, false, false, false, false, false, false, true, true} {
		if _, _, got := g.Find(now, access(fmt.Sprint("user", i))); got != want {
			t.Errorf("user%d: %v, want %v", i, got, want)
		}
	}
	if g.Len() != 3 {
		t.Errorf("%d are remembered, want 3", g.Len())
	}
}
