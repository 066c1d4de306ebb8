package billingtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/vendors/microsoft"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/radpool"
)

// accept is a handler that lets everybody in.
var accept = radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	resp.Code = radius.CodeAccessAccept
	if req.Code == radius.CodeAccountingRequest {
		resp.Code = radius.CodeAccountingResponse
	}
})

func TestHandlerSeesWhatAServerShows(t *testing.T) {
	var (
		kept     []byte
		ctx      context.Context
		lifetime time.Duration
	)
	h := radpool.HandlerFunc(func(c context.Context, req *radpool.Request, resp *radpool.Response) {
		ctx, kept = c, req.Get(rfc2865.CallingStationID_Type)
		if deadline, ok := c.Deadline(); ok {
			lifetime = deadline.Sub(req.Received)
		}
		switch {
		case req.RemoteAddr.Addr() != netip.MustParseAddr("192.0.2.9"), req.RemoteAddr.Port() == 0, !req.LocalAddr.IsValid():
			t.Errorf("from %v to %v", req.RemoteAddr, req.LocalAddr)
		case req.Client == nil || req.Client.Prefix.String() != "192.0.2.9/32" || string(req.Client.Secret) != "s3cret":
			t.Errorf("client %+v", req.Client)
		case req.Arena() == nil || resp.Arena() != req.Arena():
			t.Error("the request has no arena, or the response another")
		case rfc2865.UserPassword_GetString(req.Packet) != "wonderland":
			t.Error("the password cannot be read")
		case req.Received.IsZero():
			t.Error("it did not arrive")
		}
		resp.Code = radius.CodeAccessAccept
		resp.AddString(rfc2865.ReplyMessage_Type, "hello")
		resp.AddString(rfc2865.ReplyMessage_Type, "again")
		resp.AddUint32(rfc2865.SessionTimeout_Type, 60)
		resp.AddAddr(rfc2865.FramedIPAddress_Type, netip.MustParseAddr("198.51.100.1"))
		resp.Add(rfc2865.VendorSpecific_Type, []byte("\x00\x00\x00\x09\x02\x04ab\x01\x05x=y"))
	})
	req := billingtest.PAP("alice", "wonderland").NAS("192.0.2.9").Secret("s3cret").CallingStation("02-00").
		Add(rfc2865.ProxyState_Type, []byte("proxy"))
	reply := billingtest.Run(t, h, req)
	if !reply.Accepted() || reply.Rejected() || reply.Failed() || reply.Silent() || reply.Outcome() != "Access-Accept" {
		t.Errorf("%v", reply)
	}
	if reply.Message() != "hello" || !slices.Equal(reply.Strings(rfc2865.ReplyMessage_Type), []string{"hello", "again"}) ||
		reply.Uint32(rfc2865.SessionTimeout_Type) != 60 || reply.Addr(rfc2865.FramedIPAddress_Type).String() != "198.51.100.1" ||
		string(reply.Vendor(9, 1)) != "x=y" || reply.Vendor(9, 3) != nil || reply.Vendor(8, 1) != nil {
		t.Errorf("%v", reply)
	}
	if reply.String(rfc2865.ProxyState_Type) != "proxy" || !reply.Has(rfc2865.ProxyState_Type) || reply.Has(rfc2865.State_Type) {
		t.Errorf("Proxy-State: %v", reply)
	}
	if string(kept) == "02-00" {
		t.Error("memory of the request is still there after it")
	}
	if ctx.Err() == nil {
		t.Error("the context is still there after the request")
	}
	if lifetime <= 0 || lifetime > 9*time.Second {
		t.Errorf("the context has %v", lifetime)
	}
}

func TestOutcomes(t *testing.T) {
	errDown := errors.New("the database is away")
	handle := func(f func(resp *radpool.Response)) radpool.Handler {
		return radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) { f(resp) })
	}
	for name, test := range map[string]struct {
		radpool.Handler
		outcome, contains string
	}{
		"silence":                  {handle(func(*radpool.Response) {}), "silence", ""},
		"nil packet":               {handle(func(r *radpool.Response) { r.Packet = nil }), "silence", ""},
		"failure":                  {handle(func(r *radpool.Response) { r.Code = radius.CodeAccessAccept; r.Fail(errDown) }), "failed", "away"},
		"failure without an error": {handle(func(r *radpool.Response) { r.Fail(nil) }), "failed", "failed"},
		"wrong code":               {handle(func(r *radpool.Response) { r.Code = radius.CodeAccountingResponse }), "failed", "Accounting-Response"},
		"long value": {handle(func(r *radpool.Response) {
			r.Code = radius.CodeAccessAccept
			r.Add(rfc2865.ReplyMessage_Type, make([]byte, 254))
		}), "failed", "Reply-Message"},
		"another packet": {handle(func(r *radpool.Response) {
			r.Packet = &radius.Packet{Code: radius.CodeAccessReject, Identifier: 99}
		}), "Access-Reject", ""},
		"challenge": {handle(func(r *radpool.Response) { r.Code = radius.CodeAccessChallenge }), "Access-Challenge", ""},
	} {
		reply := billingtest.Run(t, test.Handler, billingtest.PAP("alice", "w"))
		if reply.Outcome() != test.outcome || !strings.Contains(fmt.Sprint(reply), test.contains) {
			t.Errorf("%s: %v", name, reply)
		}
		if reply.Failed() != (test.outcome == "failed") || reply.Silent() != (test.outcome == "silence") ||
			reply.Challenged() != (test.outcome == "Access-Challenge") || reply.Acknowledged() {
			t.Errorf("%s: %v contradicts itself", name, reply)
		}
		// What there is not is the zero value, and no panic.
		if reply.Packet == nil && (reply.Message() != "" || reply.Strings(1) != nil || reply.Has(1) || reply.Vendor(1, 1) != nil) {
			t.Errorf("%s: attributes of no packet", name)
		}
		if reply.Request == nil || rfc2865.UserName_GetString(reply.Request) != "alice" {
			t.Errorf("%s: the request is %v", name, reply.Request)
		}
	}
	if reply := billingtest.Run(t, accept, billingtest.Start("alice", "1")); !reply.Acknowledged() || reply.Outcome() != "Accounting-Response" {
		t.Errorf("accounting: %v", reply)
	}
}

func TestPanicGoesThrough(t *testing.T) {
	h := radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) { panic("nil map") })
	defer func() {
		if v := recover(); v != "nil map" {
			t.Errorf("recovered %v", v)
		}
	}()
	billingtest.Run(t, h, billingtest.PAP("alice", "w"))
}

// All methods that package billing verifies are right as this package makes them,
// written apart as they are.
func TestCredentialsAgainstProcessor(t *testing.T) {
	shop := billing.NewMemory(0)
	shop.Put("alice", billing.Grant{Password: billing.Cleartext("Wünderland")})
	shop.Put(`ISP\alice`, billing.Grant{Password: billing.Cleartext("Wünderland")})
	shop.Put("02:00:5e:10:00:00", billing.Grant{NoPassword: true, CallingStationID: "02005E100000"})
	p := &billing.Processor{Handler: shop}
	for name, r := range map[string]billingtest.Request{
		"PAP":                  billingtest.PAP("alice", "Wünderland"),
		"CHAP":                 billingtest.CHAP("alice", "Wünderland"),
		"CHAP-Challenge":       billingtest.CHAPChallenge("alice", "Wünderland", []byte("challenge of its own")),
		"MS-CHAP":              billingtest.MSCHAP("alice", "Wünderland"),
		"MS-CHAPv2":            billingtest.MSCHAPv2("alice", "Wünderland"),
		"MS-CHAPv2 and domain": billingtest.MSCHAPv2(`ISP\alice`, "Wünderland"),
		"MAC":                  billingtest.MAC("02:00:5e:10:00:00"),
		"no credentials":       billingtest.AccessRequest().User("02:00:5e:10:00:00").CallingStation("0200.5e10.0000"),
	} {
		for seed := range uint64(20) {
			if reply := billingtest.Run(t, p, r.Seed(seed)); !reply.Accepted() {
				t.Errorf("%s, seed %d: %v", name, seed, reply)
			}
		}
	}
	for name, f := range map[string]func(user, password string) billingtest.Request{
		"PAP": billingtest.PAP, "CHAP": billingtest.CHAP, "MS-CHAP": billingtest.MSCHAP, "MS-CHAPv2": billingtest.MSCHAPv2,
	} {
		if reply := billingtest.Run(t, p, f("alice", "Wunderland")); !reply.Rejected() {
			t.Errorf("%s with a wrong password: %v", name, reply)
		}
	}
}

// The subscriber notices a server that does not know the password.
func TestMSCHAP2Success(t *testing.T) {
	req := billingtest.MSCHAPv2("alice", "wonderland")
	if reply, err := billingtest.Do(t.Context(), accept, req); err == nil || !strings.Contains(err.Error(), "without MS-CHAP2-Success") {
		t.Errorf("no success: %v, %v", reply, err)
	}
	forged := radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
		resp.Code = radius.CodeAccessAccept
		_ = microsoft.MSCHAP2Success_Add(resp.Packet, append([]byte{1}, "S="+strings.Repeat("0", 40)...))
	})
	if reply, err := billingtest.Do(t.Context(), forged, req); err == nil || !strings.Contains(err.Error(), "MS-CHAP2-Success is wrong") {
		t.Errorf("a wrong success: %v, %v", reply, err)
	}
}

func TestDoBatch(t *testing.T) {
	shop := newShop()
	var back billingtest.Recorder
	back.Handler = shop
	p := &billing.Processor{Handler: &back}
	replies := billingtest.RunBatch(t, p, billingtest.PAP("alice", "wonderland"), billingtest.PAP("alice", "x"),
		billingtest.Start("alice", "1"), billingtest.MSCHAPv2("alice", "wonderland"))
	var outcomes []string
	for _, r := range replies {
		outcomes = append(outcomes, r.Outcome())
	}
	if want := []string{"Access-Accept", "Access-Reject", "Accounting-Response", "Access-Accept"}; !slices.Equal(outcomes, want) {
		t.Errorf("%v, want %v", outcomes, want)
	}
	if a, r := len(back.Access()), len(back.Records()); a != 3 || r != 1 {
		t.Errorf("%d requests and %d records came through", a, r)
	}
	if _, err := billingtest.DoBatch(t.Context(), p, billingtest.PAP("a", "b"), billingtest.Request{}); err == nil || !strings.Contains(err.Error(), "request 1") {
		t.Errorf("a request that cannot be sent: %v", err)
	}
	replies, err := billingtest.DoBatch(t.Context(), acceptBatch{}, billingtest.PAP("alice", "x"), billingtest.MSCHAPv2("alice", "x"))
	if err == nil || !strings.Contains(err.Error(), "request 1") || !replies[0].Accepted() || replies[1] != nil {
		t.Errorf("one reply that the subscriber does not accept: %v, %v", replies, err)
	}
	if replies, err := billingtest.DoBatch(t.Context(), p); err != nil || len(replies) != 0 {
		t.Errorf("an empty batch: %v, %v", replies, err)
	}
}

type acceptBatch struct{}

func (acceptBatch) HandleBatch(batch []*radpool.Exchange) {
	for _, x := range batch {
		accept(x.Ctx, x.Request, x.Response)
	}
}

func FuzzVendor(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x09\x02\x04ab\x01\x05x=y"), uint32(9), byte(1))
	f.Add([]byte("\x00\x00\x00\x09\x01\x00"), uint32(9), byte(1))
	f.Add([]byte("\x00\x00\x00\x09\x01\xff"), uint32(9), byte(1))
	f.Fuzz(func(t *testing.T, value []byte, vendor uint32, typ byte) {
		reply := &billingtest.Reply{Packet: &radius.Packet{Attributes: radius.Attributes{{Type: 26, Attribute: value}}}}
		got := reply.Vendor(vendor, typ)
		if got == nil {
			return
		}
		if !strings.Contains(string(value[4:]), string(append([]byte{typ, byte(len(got) + 2)}, got...))) {
			t.Errorf("%x is not an attribute %d in %x", got, typ, value)
		}
	})
}

func BenchmarkDo(b *testing.B) {
	p := &billing.Processor{Handler: newShop()}
	req := billingtest.PAP("alice", "wonderland")
	b.ReportAllocs()
	for b.Loop() {
		billingtest.Run(b, p, req)
	}
}
