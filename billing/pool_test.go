package billing_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
)

// poolFake is a back end with pools: "one" has 10.0.0.1, "broken" cannot be asked,
// "odd" has a row that is no address, "six" an IPv6 address, the others are full.
type poolFake struct {
	*fake
	calls  int
	leases []billing.AddressLease
}

func (f *poolFake) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	f.calls++
	for _, l := range leases {
		switch l.Pool {
		case "one":
			l.Addr = netip.MustParseAddr("10.0.0.1")
		case "six":
			l.Addr = netip.MustParseAddr("2001:db8::1")
		case "broken":
			l.Err = errors.New("the database is away")
		case "odd":
			l.Err = fmt.Errorf("no address (%w)", billing.ErrSubscriber)
		}
		f.leases = append(f.leases, *l)
	}
}

func (f *poolFake) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	billing.AuthorizeAll(ctx, f.fake, reqs, grants, errs)
}

func (f *poolFake) AccountBatch(context.Context, []*billing.AccountingRecord, []error) {}

// pooled are the subscribers of the tests below; their password is right.
func pooled() *poolFake {
	framed := attr(rfc2865.FramedIPAddress_Type, "\x0a\x09\x09\x09")
	grants := map[string]billing.Grant{
		"one": {Pool: "one"}, "full": {Pool: "full"}, "six": {Pool: "six"}, "broken": {Pool: "broken"}, "odd": {Pool: "odd"},
		"none":       {},
		"static":     {Pool: "one", Reply: radius.Attributes{framed}},
		"renamed":    {Pool: "one", Reply: radius.Attributes{attr(rfc2865.UserName_Type, "other")}},
		"blocked":    {Pool: "one", Reason: billing.ReasonBlocked},
		"restricted": {Pool: "one", Reason: billing.ReasonNoMoney, Reply: radius.Attributes{framed}, Restricted: radius.Attributes{}},
		"garden":     {Pool: "one", Reason: billing.ReasonNoMoney, Restricted: radius.Attributes{attr(rfc2869.FramedPool_Type, "garden")}},
		"walled":     {Pool: "one", Reason: billing.ReasonNoMoney, Restricted: radius.Attributes{framed}},
	}
	return &poolFake{fake: &fake{grant: func(r *billing.AccessRequest) (billing.Grant, error) {
		g := grants[r.UserName]
		g.Password = billing.Cleartext("right")
		return g, nil
	}}}
}

const (
	withAddr    = "Access-Accept <nil> 8 [10 0 0 1]"
	withoutAddr = "Access-Accept <nil>"
)

var poolCases = []struct{ user, want string }{
	{"one", withAddr},
	{"none", withoutAddr},
	{"static", "Access-Accept <nil> 8 [10 9 9 9]"},
	{"renamed", "Access-Accept <nil> 1 [111 116 104 101 114] 8 [10 0 0 1]"},
	{"full", withoutAddr},
	{"six", withoutAddr},
	{"restricted", withAddr},
	{"garden", "Access-Accept <nil> 88 [103 97 114 100 101 110]"},
	{"walled", "Access-Accept <nil> 8 [10 9 9 9]"},
	{"broken", `Code(0) billing: address of the pool "broken": the database is away`},
}

func TestPool(t *testing.T) {
	back := pooled()
	p := &billing.Processor{Handler: back}
	for _, c := range poolCases {
		if got := outcome(handle(p, withPAP(request(c.user), "right"))); got != c.want {
			t.Errorf("%s: %s, want %s", c.user, got, c.want)
		}
	}
	asked := back.calls
	for _, user := range []string{"one", "blocked"} {
		password := map[string]string{"one": "wrong", "blocked": "right"}[user]
		if resp := handle(p, withPAP(request(user), password)); resp.Code != radius.CodeAccessReject {
			t.Errorf("%s: %s", user, outcome(resp))
		}
	}
	if asked != back.calls {
		t.Error("an address was leased to somebody who is rejected")
	}
	if resp := handle(p, withPAP(request("odd"), "right")); resp.Code != radius.CodeAccessReject || back.last(t).Reason != billing.ReasonUnavailable {
		t.Error("a row that cannot be used:", outcome(resp))
	}
	if l := back.leases[1]; l.UserName != "other" || l.Access.UserName != "renamed" || l.Pool != "one" {
		t.Errorf("%+v", l)
	}
	if s := p.Stats(); s.Leased != 3 || s.PoolFull != 2 || s.AuthorizeErrors != 2 || s.Accepted != 6 || s.Restricted != 3 {
		t.Errorf("%+v", s)
	}
}

// A full pool is one line a second in the log, and a reject where that is wanted.
func TestPoolFull(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	back := pooled()
	p := &billing.Processor{Handler: back, Logger: zap.New(core)}
	for range 50 {
		handle(p, withPAP(request("full"), "right"))
	}
	if n := logs.FilterMessage("the pool has no address left").Len(); n < 1 || n > 5 {
		t.Errorf("%d lines", n)
	}
	reject := &billing.Processor{Handler: back, PoolFull: billing.PoolFullReject}
	resp := handle(reject, withPAP(request("full"), "right"))
	if message(resp.Packet) != billing.ReasonNoAddress.Text() || back.last(t).Reason != billing.ReasonNoAddress || back.last(t).Accepted {
		t.Errorf("%s, %+v", outcome(resp), back.last(t))
	}
	if s := reject.Stats(); s.Rejected[billing.ReasonNoAddress] != 1 || s.Accepted != 0 || s.PoolFull != 1 {
		t.Errorf("%+v", s)
	}
	// A Handler without pools has no address either.
	for full, want := range map[billing.PoolFullPolicy]radius.Code{
		billing.PoolFullAccept: radius.CodeAccessAccept, billing.PoolFullReject: radius.CodeAccessReject,
	} {
		p := &billing.Processor{Handler: back.fake, PoolFull: full}
		if resp := handle(p, withPAP(request("one"), "right")); resp.Code != want {
			t.Errorf("without pools: %s", outcome(resp))
		}
	}
	rejecting := &billing.Processor{Handler: back, OnError: billing.FailReject}
	if resp := handle(rejecting, withPAP(request("broken"), "right")); resp.Code != radius.CodeAccessReject {
		t.Error("OnError:", outcome(resp))
	}
	if err := (&billing.Processor{Handler: back, PoolFull: 2}).Validate(); err == nil {
		t.Error("PoolFull has no bound")
	}
}

// The addresses of a batch are asked for together, and each request gets its own
// answer.
func TestPoolBatch(t *testing.T) {
	back := pooled()
	p := &billing.Processor{Handler: back}
	for range 2 { // the memory of a batch is used again
		back.calls = 0
		var packets []*radius.Packet
		for _, c := range poolCases {
			packets = append(packets, withPAP(request(c.user), "right"))
		}
		batch := exchanges(packets)
		p.HandleBatch(batch)
		for i, c := range poolCases {
			if got := outcome(batch[i].Response); got != c.want {
				t.Errorf("%s: %s, want %s", c.user, got, c.want)
			}
		}
		if back.calls != 1 {
			t.Errorf("the back end was asked %d times", back.calls)
		}
	}
}
