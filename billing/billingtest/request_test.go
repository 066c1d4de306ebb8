package billingtest_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

func datagram(t *testing.T, r billingtest.Request) []byte {
	t.Helper()
	b, err := billingtest.Datagram(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packet is what r sends, as layeh's decoder reads it.
func packet(t *testing.T, r billingtest.Request) *radius.Packet {
	t.Helper()
	p, err := radius.Parse(datagram(t, r), []byte(billingtest.Secret))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The example of RFC 2759 section 9.2.
func TestMSCHAPv2Vectors(t *testing.T) {
	authenticator, peer := unhex(t, "5B5D7C7D7B3F2F3E3C2C602132262628"), unhex(t, "21402324255E262A28295F2B3A337C7E")
	hash, err := billingtest.NTHash("clientPass")
	if err != nil || !bytes.Equal(hash, unhex(t, "44EBBA8D5312B8D611474411F56989AE")) {
		t.Errorf("NT hash %X, %v", hash, err)
	}
	challenge := billingtest.ChallengeHash(peer, authenticator, "User")
	if !bytes.Equal(challenge, unhex(t, "D02E4386BCE91226")) {
		t.Errorf("challenge %X", challenge)
	}
	response := billingtest.ChallengeResponse(challenge, hash)
	if !bytes.Equal(response, unhex(t, "82309ECD8D708B5EA08FAA3981CD83544233114A3D85D6DF")) {
		t.Errorf("response %X", response)
	}
	if s := billingtest.AuthenticatorResponse(hash, response, challenge); s != "S=407A5589115FD0D6209F510FE9C04566932CDA56" {
		t.Errorf("authenticator response %s", s)
	}
}

func TestAccessRequestAttributes(t *testing.T) {
	r := billingtest.PAP("alice", "wonderland").CallingStation("02-00").CalledStation("isp").Port(7).
		NASIdentifier("bras1").NAS("192.0.2.9").Addr(rfc2865.FramedIPAddress_Type, netip.MustParseAddr("198.51.100.1")).
		Vendor(9, 1, []byte("x=y")).Identifier(200).Class("c").
		With(func(p *radius.Packet) error { return rfc2869.ConnectInfo_SetString(p, "54000") })
	p := packet(t, r)
	if p.Code != radius.CodeAccessRequest || p.Identifier != 200 || r.Code() != p.Code {
		t.Errorf("code %v, identifier %d", p.Code, p.Identifier)
	}
	for what, pair := range map[string][2]string{
		"User-Name":          {rfc2865.UserName_GetString(p), "alice"},
		"User-Password":      {rfc2865.UserPassword_GetString(p), "wonderland"},
		"Calling-Station-Id": {rfc2865.CallingStationID_GetString(p), "02-00"},
		"Called-Station-Id":  {rfc2865.CalledStationID_GetString(p), "isp"},
		"NAS-Identifier":     {rfc2865.NASIdentifier_GetString(p), "bras1"},
		"NAS-IP-Address":     {rfc2865.NASIPAddress_Get(p).String(), "192.0.2.9"},
		"Framed-IP-Address":  {rfc2865.FramedIPAddress_Get(p).String(), "198.51.100.1"},
		"Connect-Info":       {rfc2869.ConnectInfo_GetString(p), "54000"},
		"Class":              {rfc2865.Class_GetString(p), "c"},
		"Vendor-Specific":    {string(p.Get(rfc2865.VendorSpecific_Type)), "\x00\x00\x00\x09\x01\x05x=y"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %q, want %q", what, pair[0], pair[1])
		}
	}
	if rfc2865.NASPort_Get(p) != 7 {
		t.Errorf("NAS-Port is %d", rfc2865.NASPort_Get(p))
	}
	if p.Attributes[0].Type != rfc2869.MessageAuthenticator_Type {
		t.Errorf("the first attribute is %d", p.Attributes[0].Type)
	}
}

func TestNASAddress(t *testing.T) {
	if a := rfc2865.NASIPAddress_Get(packet(t, billingtest.AccessRequest())).String(); a != billingtest.DefaultNAS.String() {
		t.Errorf("by default %s", a)
	}
	if p := packet(t, billingtest.AccessRequest().NAS("2001:db8::1")); len(p.Get(95)) != 16 || p.Get(4) != nil {
		t.Errorf("an IPv6 NAS: %v", p.Attributes)
	}
	own := billingtest.AccessRequest().Addr(rfc2865.NASIPAddress_Type, netip.MustParseAddr("203.0.113.1"))
	if p := packet(t, own); rfc2865.NASIPAddress_Get(p).String() != "203.0.113.1" {
		t.Errorf("its own: %v", rfc2865.NASIPAddress_Get(p))
	}
}

func TestAccountingAttributes(t *testing.T) {
	when := time.Unix(1_700_000_000, 0)
	r := billingtest.Stop("alice", "5AC0").Octets(5<<32+7, 9).Packets(3, 4).SessionTime(90*time.Second + time.Millisecond).
		EventTime(when).Delay(3 * time.Second).Cause(rfc2866.AcctTerminateCause_Value_LostCarrier).FramedAddr("198.51.100.7")
	p := packet(t, r)
	for what, pair := range map[string][2]uint32{
		"Acct-Status-Type":      {uint32(rfc2866.AcctStatusType_Get(p)), uint32(billing.Stop)},
		"Acct-Input-Octets":     {uint32(rfc2866.AcctInputOctets_Get(p)), 7},
		"Acct-Input-Gigawords":  {uint32(rfc2869.AcctInputGigawords_Get(p)), 5},
		"Acct-Output-Octets":    {uint32(rfc2866.AcctOutputOctets_Get(p)), 9},
		"Acct-Input-Packets":    {uint32(rfc2866.AcctInputPackets_Get(p)), 3},
		"Acct-Output-Packets":   {uint32(rfc2866.AcctOutputPackets_Get(p)), 4},
		"Acct-Session-Time":     {uint32(rfc2866.AcctSessionTime_Get(p)), 90},
		"Acct-Delay-Time":       {uint32(rfc2866.AcctDelayTime_Get(p)), 3},
		"Acct-Terminate-Cause":  {uint32(rfc2866.AcctTerminateCause_Get(p)), 2},
		"Event-Timestamp":       {uint32(rfc2869.EventTimestamp_Get(p).Unix()), 1_700_000_000},
		"no Output-Gigawords":   {uint32(len(p.Get(rfc2869.AcctOutputGigawords_Type))), 0},
		"gigawords taken back":  {uint32(len(packet(t, r.Octets(1, 1)).Get(rfc2869.AcctInputGigawords_Type))), 0},
		"session of Acct-On":    {uint32(len(packet(t, billingtest.On("192.0.2.3")).Get(rfc2866.AcctSessionID_Type))), 0},
		"status of an Interim":  {uint32(rfc2866.AcctStatusType_Get(packet(t, billingtest.Interim("a", "b")))), 3},
		"status of Acct-Off":    {uint32(rfc2866.AcctStatusType_Get(packet(t, billingtest.Off("192.0.2.3")))), 8},
		"status of its Start":   {uint32(rfc2866.AcctStatusType_Get(packet(t, billingtest.Start("a", "b")))), 1},
		"one Acct-Input-Octets": {uint32(strings.Count(types(p), ",42,")), 1},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %d, want %d", what, pair[0], pair[1])
		}
	}
	if !radius.IsAuthenticRequest(datagram(t, r), []byte(billingtest.Secret)) {
		t.Error("the Request Authenticator is wrong")
	}
}

// types are the attribute types of p, ",1,2,".
func types(p *radius.Packet) string {
	var b strings.Builder
	for _, a := range p.Attributes {
		fmt.Fprintf(&b, ",%d", a.Type)
	}
	return b.String() + ","
}

// The rows of a table start from a common Request: none may change another.
func TestRequestIsAValue(t *testing.T) {
	base := billingtest.PAP("alice", "w").String(rfc2865.FilterID_Type, "a").Add(rfc2865.FilterID_Type, []byte("b"))
	before := datagram(t, base)
	x, y := base.Class("x").CallingStation("1"), base.Class("y").CallingStation("2")
	_ = base.User("bob")
	_ = base.Without(rfc2865.FilterID_Type)
	_ = base.With(func(p *radius.Packet) error { p.Attributes[0].Attribute[0] = 'X'; return nil })
	_ = datagram(t, base.With(func(p *radius.Packet) error { p.Attributes[0].Attribute[0] = 'X'; return nil }))
	if !bytes.Equal(datagram(t, base), before) {
		t.Error("the common Request has changed")
	}
	if a, b := rfc2865.Class_GetString(packet(t, x)), rfc2865.Class_GetString(packet(t, y)); a != "x" || b != "y" {
		t.Errorf("Classes %q and %q", a, b)
	}
	if n := strings.Count(types(packet(t, base)), ",11,11,"); n != 1 {
		t.Errorf("not two Filter-Ids: %s", types(packet(t, base)))
	}
}

func TestRequestsAreRepeatable(t *testing.T) {
	for name, f := range map[string]func() billingtest.Request{
		"PAP":       func() billingtest.Request { return billingtest.PAP("alice", "w") },
		"CHAP":      func() billingtest.Request { return billingtest.CHAP("alice", "w") },
		"MS-CHAP":   func() billingtest.Request { return billingtest.MSCHAP("alice", "w") },
		"MS-CHAPv2": func() billingtest.Request { return billingtest.MSCHAPv2("alice", "w") },
		"Start":     func() billingtest.Request { return billingtest.Start("alice", "1") },
	} {
		first := datagram(t, f())
		if !bytes.Equal(first, datagram(t, f())) {
			t.Errorf("%s: two runs differ", name)
		}
		if bytes.Equal(first[4:], datagram(t, f().Seed(1))[4:]) && name != "Start" {
			t.Errorf("%s: another seed makes no difference", name)
		}
	}
	if a, b := packet(t, billingtest.PAP("alice", "w")), packet(t, billingtest.PAP("bob", "w")); a.Authenticator == b.Authenticator {
		t.Error("different requests have the same Request Authenticator")
	}
	if id := packet(t, billingtest.PAP("a", "b").Seed(300)).Identifier; id != 300-256 {
		t.Errorf("the Identifier of seed 300 is %d", id)
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	errWith := errors.New("of the edit")
	for name, test := range map[string]struct {
		billingtest.Request
		want string
	}{
		"zero":             {billingtest.Request{}, "zero Request"},
		"long password":    {billingtest.PAP("alice", strings.Repeat("x", 129)), "User-Password"},
		"long value":       {billingtest.PAP(strings.Repeat("x", 254), "w"), "User-Name"},
		"long packet":      {many(billingtest.AccessRequest(), 20, 253), "4096"},
		"many attributes":  {many(billingtest.AccessRequest(), 201, 1), "too many attributes"},
		"not UTF-8":        {billingtest.MSCHAPv2("alice", "\xff"), "UTF-8"},
		"not UTF-8, v1":    {billingtest.MSCHAP("alice", "\xff"), "UTF-8"},
		"edit":             {billingtest.AccessRequest().With(func(*radius.Packet) error { return errWith }), "of the edit"},
		"both EAP and PAP": {billingtest.PAP("a", "b").Bytes(rfc2869.EAPMessage_Type, []byte{2, 1, 0, 4}), "EAP-Message"},
	} {
		reply, err := billingtest.Do(t.Context(), accept, test.Request)
		if reply != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v", name, reply, err)
		}
	}
	for name, f := range map[string]func(){
		"NAS":        func() { billingtest.AccessRequest().NAS("bras1") },
		"FramedAddr": func() { billingtest.AccessRequest().FramedAddr("10.0.0.0/8") },
	} {
		func() {
			defer func() {
				if v, ok := recover().(string); !ok || !strings.HasPrefix(v, "billingtest: Request."+name) {
					t.Errorf("%s: %v", name, v)
				}
			}()
			f()
		}()
	}
}

// A failed test prints its requests: passwords and secrets must not be in it.
func TestRequestFormat(t *testing.T) {
	for want, r := range map[string]billingtest.Request{
		`Access-Request of user "alice" with PAP`: billingtest.PAP("alice", "hidden-1").Secret("hidden-2"),
		`Accounting-Request of user "alice"`:      billingtest.Start("alice", "1").Secret("hidden-2"),
		"zero Request":                            {},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
			if got := fmt.Sprintf(verb, r); got != want {
				t.Errorf("%s: %s, want %s", verb, got, want)
			}
		}
		if got := fmt.Sprintf("%+v", struct{ R billingtest.Request }{r}); strings.Contains(got, "hidden") {
			t.Errorf("within a struct: %s", got)
		}
	}
}

func many(r billingtest.Request, n, size int) billingtest.Request {
	for range n {
		r = r.Add(rfc2865.ProxyState_Type, bytes.Repeat([]byte("p"), size))
	}
	return r
}
