package billing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
)

// TestBadRequests are rejected without the back end being asked.
func TestBadRequests(t *testing.T) {
	with := func(p *radius.Packet, avps ...*radius.AVP) *radius.Packet {
		p.Attributes = append(p.Attributes, avps...)
		return p
	}
	micro := func(typ byte, n int) *radius.AVP {
		return &radius.AVP{Type: rfc2865.VendorSpecific_Type, Attribute: vsa(typ, make([]byte, n))}
	}
	for name, packet := range map[string]*radius.Packet{
		"User-Name":         with(request("alice"), attr(rfc2865.UserName_Type, "bob")),
		"User-Password":     with(request("alice"), attr(rfc2865.UserPassword_Type, "short")),
		"CHAP-Password":     with(request("alice"), attr(rfc2865.CHAPPassword_Type, "short")),
		"CHAP-Challenge":    with(withCHAP(request("alice"), "x", []byte("y")), attr(rfc2865.CHAPChallenge_Type, "z")),
		"MS-CHAP-Response":  with(request("alice"), micro(11, 8), micro(1, 49)),
		"MS-CHAP2-Response": with(request("alice"), micro(11, 16), micro(25, 51)),
		"MS-CHAP-Challenge": with(request("alice"), micro(11, 16), micro(1, 50)),
		"more than one":     with(withCHAP(request("alice"), "x", nil), attr(rfc2865.UserPassword_Type, "0123456789abcdef")),
		"NAS-IP-Address":    with(request("alice"), attr(rfc2865.NASIPAddress_Type, "123")),
		"NAS-Port":          with(request("alice"), attr(rfc2865.NASPort_Type, "12345")),
	} {
		core, logs := observer.New(zap.InfoLevel)
		back := granting(billing.Grant{NoPassword: true})
		p := &billing.Processor{Handler: back, Logger: zap.New(core)}
		resp := handle(p, packet)
		if got := back.last(t); resp.Code != radius.CodeAccessReject || got.Reason != billing.ReasonBadRequest || back.asked != 0 {
			t.Errorf("%s: %v, %v, asked %d times", name, resp.Code, got.Reason, back.asked)
		}
		if message(resp.Packet) != billing.ReasonBadRequest.Text() {
			t.Errorf("%s: %q", name, message(resp.Packet))
		}
		lines := logs.All()
		if len(lines) != 1 || !strings.HasPrefix(lines[0].ContextMap()["attribute"].(string), name) {
			t.Errorf("%s: log %+v", name, lines)
		}
	}
}

// TestEAPOff is rejected with an EAP-Failure.
func TestEAPOff(t *testing.T) {
	back := granting(billing.Grant{NoPassword: true})
	p := &billing.Processor{Handler: back, EAP: billing.EAPConfig{Off: true}}
	packet := request("alice")
	packet.Add(rfc2869.EAPMessage_Type, radius.Attribute("\x02\x37\x00\x0a\x01alice"))
	resp := handle(p, packet)
	if resp.Code != radius.CodeAccessReject || back.asked != 0 {
		t.Errorf("%v, asked %d times", resp.Code, back.asked)
	}
	if got := resp.Get(rfc2869.EAPMessage_Type); string(got) != "\x04\x37\x00\x04" {
		t.Errorf("EAP-Message %x", got)
	}
}

// TestErrors are no answer, or a reject where that is wanted.
func TestErrors(t *testing.T) {
	down := errors.New("database is away")
	back := &fake{
		grant:   func(*billing.AccessRequest) (billing.Grant, error) { return billing.Grant{NoPassword: true}, down },
		account: func(*billing.AccountingRecord) error { return down },
	}
	p := &billing.Processor{Handler: back}
	resp := handle(p, request("alice"))
	if resp.Code != 0 || !errors.Is(resp.Err(), down) {
		t.Errorf("%v, %v", resp.Code, resp.Err())
	}
	resp = handle(p, accounting(intAttr(rfc2866.AcctStatusType_Type, 1), attr(rfc2866.AcctSessionID_Type, "s")))
	if resp.Code != 0 || !errors.Is(resp.Err(), down) {
		t.Errorf("%v, %v", resp.Code, resp.Err())
	}
	if s := p.Stats(); s.AuthorizeErrors != 1 || s.AccountErrors != 1 || len(back.results) != 0 {
		t.Errorf("%+v, %d results", s, len(back.results))
	}

	p = &billing.Processor{Handler: back, OnError: billing.FailReject}
	resp = handle(p, request("alice"))
	if got := back.last(t); resp.Code != radius.CodeAccessReject || resp.Err() != nil || got.Reason != billing.ReasonUnavailable {
		t.Errorf("%v, %v, %v", resp.Code, resp.Err(), got.Reason)
	}
	if got := message(resp.Packet); got != "Temporarily unavailable" {
		t.Errorf("%q", got)
	}
}

// TestKeysNeedASecret fails a request whose keys cannot be hidden.
func TestKeysNeedASecret(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")})}
	packet := withMSCHAPv2(request("User"), "User", "pw")
	packet.Secret = nil
	if resp := handle(p, packet); resp.Err() == nil {
		t.Errorf("%v", resp.Code)
	}
}

func TestOtherCodes(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{})}
	for _, code := range []radius.Code{radius.CodeStatusServer, radius.CodeCoARequest, radius.CodeAccessAccept, 0, 99} {
		if resp := handle(p, radius.New(code, []byte(secret))); resp.Code != 0 || resp.Err() != nil {
			t.Errorf("%v: %v, %v", code, resp.Code, resp.Err())
		}
	}
	if s := p.Stats(); s.Ignored != 5 {
		t.Errorf("%+v", s)
	}
}

func TestValidate(t *testing.T) {
	if err := (&billing.Processor{Handler: billing.NewMemory(0)}).Validate(); err != nil {
		t.Error(err)
	}
	wrong := &billing.Processor{
		OnError: 2, MPPE: 9, ReservationTime: 2 * time.Hour, MaxReservations: -1,
	}
	err := wrong.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, field := range []string{"Handler", "OnError", "MPPE", "ReservationTime", "MaxReservations"} {
		if !strings.Contains(err.Error(), "billing: Processor: "+field+" ") {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
	if resp := handle(wrong, request("alice")); resp.Code != 0 || resp.Err() == nil {
		t.Errorf("a wrong Processor answers: %v, %v", resp.Code, resp.Err())
	}
}
