package billing_test

import (
	"math"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
)

func message(p *radius.Packet) string {
	var b strings.Builder
	for _, avp := range p.Attributes {
		if avp.Type == rfc2865.ReplyMessage_Type {
			b.Write(avp.Attribute)
		}
	}
	return b.String()
}

// TestReasons runs what a back end can say past a right and a wrong password, and
// wants strangers to learn nothing.
func TestReasons(t *testing.T) {
	right := billing.Cleartext("right")
	restricted := radius.Attributes{attr(rfc2865.FilterID_Type, "walled-garden")}
	now := time.Now()
	for _, c := range []struct {
		name  string
		grant billing.Grant
		want  billing.Reason // with the right password
		text  string
	}{
		{"accept", billing.Grant{Password: right}, billing.ReasonNone, ""},
		{"unknown", billing.Grant{Reason: billing.ReasonUnknownUser}, billing.ReasonUnknownUser, billing.StrangerText},
		{"unknown, with a password for the time's sake", billing.Grant{Reason: billing.ReasonUnknownUser, Password: right}, billing.ReasonUnknownUser, billing.StrangerText},
		{"nothing", billing.Grant{}, billing.ReasonNoPassword, billing.StrangerText},
		{"blocked", billing.Grant{Reason: billing.ReasonBlocked, Password: right}, billing.ReasonBlocked, "Account blocked"},
		{"blocked, own words", billing.Grant{Reason: billing.ReasonBlocked, Password: right, Message: "Call us"}, billing.ReasonBlocked, "Call us"},
		{"blocked, no password known", billing.Grant{Reason: billing.ReasonBlocked, Message: "Call us"}, billing.ReasonBlocked, billing.StrangerText},
		{"expired", billing.Grant{Expires: now.Add(-time.Second), Password: right}, billing.ReasonExpired, "Account expired"},
		{"no money", billing.Grant{Reason: billing.ReasonNoMoney, Password: right}, billing.ReasonNoMoney, "Out of money"},
		{"no money, no password known", billing.Grant{Reason: billing.ReasonNoMoney, Restricted: restricted}, billing.ReasonNoMoney, billing.StrangerText},
		{"no money and expired", billing.Grant{Reason: billing.ReasonNoMoney, Password: right, Restricted: restricted, Expires: now.Add(-time.Second)}, billing.ReasonExpired, "Account expired"},
		{"another device", billing.Grant{CallingStationID: "02:00:00:00:00:99", Password: right}, billing.ReasonCallingStation, "Not allowed from this device"},
		{"too many", billing.Grant{SimultaneousUse: 2, OpenSessions: 2, Password: right}, billing.ReasonTooManySessions, "Too many sessions"},
		{"other reason", billing.Grant{Reason: billing.Reason(200), Password: right}, billing.ReasonRejected, "Rejected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			back := granting(c.grant)
			p := &billing.Processor{Handler: back}
			resp := handle(p, withPAP(request("alice"), "right"))
			if got := back.last(t); got.Reason != c.want || got.Accepted != (c.want == 0) || got.Message != c.text {
				t.Errorf("right password: %+v, want %v, %q", got, c.want, c.text)
			}
			if got := message(resp.Packet); got != c.text {
				t.Errorf("right password: Reply-Message %q, want %q", got, c.text)
			}
			if s := p.Stats(); c.want != 0 && s.Rejected[c.want] != 1 || c.want == 0 && s.Accepted != 1 {
				t.Errorf("Stats: %+v", s)
			}

			resp = handle(p, withPAP(request("alice"), "wrong"))
			if resp.Code != radius.CodeAccessReject || message(resp.Packet) != billing.StrangerText || len(resp.Attributes) != 1 {
				t.Errorf("wrong password: %v, %q, %d attributes", resp.Code, message(resp.Packet), len(resp.Attributes))
			}

			open := &billing.Processor{Handler: back, ShowReasons: true}
			handle(open, withPAP(request("alice"), "wrong"))
			if got := back.last(t); got.Message == billing.StrangerText || got.Message == "" {
				t.Errorf("ShowReasons: %q", got.Message)
			}
		})
	}
}

// TestNoMoney lets a subscriber without money in with the restricted profile.
func TestNoMoney(t *testing.T) {
	back := granting(billing.Grant{
		Reason:     billing.ReasonNoMoney,
		Password:   billing.Cleartext("right"),
		Reply:      radius.Attributes{attr(rfc2865.FilterID_Type, "full")},
		Restricted: radius.Attributes{attr(rfc2865.FilterID_Type, "walled-garden")},
	})
	p := &billing.Processor{Handler: back}
	resp := handle(p, withPAP(request("alice"), "right"))
	if got := rfc2865.FilterID_GetString(resp.Packet); resp.Code != radius.CodeAccessAccept || got != "walled-garden" {
		t.Errorf("%v, Filter-Id %q", resp.Code, got)
	}
	if got := back.last(t); !got.Accepted || !got.Restricted || got.Reason != billing.ReasonNoMoney || got.Message != "" {
		t.Errorf("%+v", got)
	}
	if s := p.Stats(); s.Restricted != 1 || s.Accepted != 0 {
		t.Errorf("%+v", s)
	}
	if resp := handle(p, withPAP(request("alice"), "wrong")); resp.Code != radius.CodeAccessReject {
		t.Errorf("with a wrong password: %v", resp.Code)
	}
	empty := &billing.Processor{Handler: granting(billing.Grant{
		Reason: billing.ReasonNoMoney, Password: billing.Cleartext("right"), Restricted: radius.Attributes{},
	})}
	if resp := handle(empty, withPAP(request("alice"), "right")); resp.Code != radius.CodeAccessAccept || len(resp.Attributes) != 0 {
		t.Errorf("an empty profile: %v, %d attributes", resp.Code, len(resp.Attributes))
	}
}

// TestExpires holds Session-Timeout against the end of the subscription.
func TestExpires(t *testing.T) {
	timeout := func(seconds uint32) *radius.AVP { return intAttr(rfc2865.SessionTimeout_Type, seconds) }
	filter := attr(rfc2865.FilterID_Type, "f")
	const never = time.Duration(math.MinInt64)
	for _, c := range []struct {
		name  string
		left  time.Duration
		reply radius.Attributes
		want  []uint32 // nil: rejected
	}{
		{"never", never, radius.Attributes{filter}, []uint32{}},
		{"never, with a timeout", never, radius.Attributes{timeout(60), filter}, []uint32{60}},
		{"now", 0, nil, nil},
		{"past", -time.Nanosecond, nil, nil},
		{"a nanosecond", time.Nanosecond, nil, []uint32{1}},
		{"nearly two seconds", 2*time.Second - 1, nil, []uint32{1}},
		{"an hour", time.Hour, radius.Attributes{filter}, []uint32{3600}},
		{"later than the timeout", time.Hour, radius.Attributes{filter, timeout(60), filter}, []uint32{60}},
		{"before the timeout", time.Minute, radius.Attributes{timeout(3600), filter}, []uint32{60}},
		{"several timeouts", time.Hour, radius.Attributes{timeout(50), filter, timeout(40)}, []uint32{40}},
		{"a timeout of 0 is none", time.Hour, radius.Attributes{timeout(0)}, []uint32{3600}},
		{"a malformed timeout", time.Hour, radius.Attributes{attr(rfc2865.SessionTimeout_Type, "x")}, []uint32{3600}},
		{"200 years", 200 * 365 * 24 * time.Hour, nil, []uint32{math.MaxInt32}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := billing.Grant{Password: billing.Cleartext("right"), Reply: c.reply}
				if c.left != never {
					g.Expires = time.Now().Add(c.left)
				}
				back := granting(g)
				resp := handle(&billing.Processor{Handler: back}, withPAP(request("alice"), "right"))
				if c.want == nil {
					if got := back.last(t).Reason; resp.Code != radius.CodeAccessReject || got != billing.ReasonExpired {
						t.Errorf("%v, %v", resp.Code, got)
					}
					return
				}
				got := uint32Attr(resp.Packet, rfc2865.SessionTimeout_Type)
				if resp.Code != radius.CodeAccessAccept || len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
					t.Errorf("%v, Session-Timeout %d, want %d", resp.Code, got, c.want)
				}
				filters := func(attrs radius.Attributes) (n int) {
					for _, a := range attrs {
						if a == filter {
							n++
						}
					}
					return n
				}
				if filters(resp.Attributes) != filters(c.reply) {
					t.Error("the other attributes are not there as they were")
				}
			})
		})
	}
}

// TestNoPassword is IPoE and the login by MAC address.
func TestNoPassword(t *testing.T) {
	free := billing.Grant{NoPassword: true}
	bound := billing.Grant{NoPassword: true, CallingStationID: "0200.0000.00AB"}
	anything := billing.Grant{AnyPassword: true, Password: billing.Cleartext("right")}
	both := billing.Grant{NoPassword: true, Password: billing.Cleartext("right")}
	const mac = "02:00:00:00:00:ab"
	from := func(p *radius.Packet, station string) *radius.Packet {
		p.Add(rfc2865.CallingStationID_Type, radius.Attribute(station))
		return p
	}
	for _, c := range []struct {
		name   string
		grant  billing.Grant
		packet *radius.Packet
		want   billing.Reason
	}{
		{"no credentials", free, request("port-7"), billing.ReasonNone},
		{"no name either", free, request(""), billing.ReasonNone},
		{"an empty password is none", free, withPAP(request("port-7"), ""), billing.ReasonNone},
		{"a password that nobody knows", free, withPAP(request("port-7"), "x"), billing.ReasonNoPassword},
		{"not granted", billing.Grant{Password: billing.Cleartext("x")}, request("port-7"), billing.ReasonNoPassword},
		{"the MAC address", free, withPAP(request(mac), mac), billing.ReasonNone},
		{"the MAC address, written otherwise", free, withPAP(request("0200-0000-00AB"), "02000000.00ab"), billing.ReasonNone},
		{"another MAC address", free, withPAP(request(mac), "02:00:00:00:00:ac"), billing.ReasonNoPassword},
		{"the name, but no MAC address", free, withPAP(request("port-7"), "port-7"), billing.ReasonNoPassword},
		{"the MAC address by CHAP", free, withCHAP(request(mac), mac, nil), billing.ReasonNone},
		{"the MAC address by MS-CHAP", free, withMSCHAP(request(mac), mac), billing.ReasonNone},
		{"the MAC address by MS-CHAPv2", free, withMSCHAPv2(request(mac), mac, mac), billing.ReasonNone},
		{"another by MS-CHAPv2", free, withMSCHAPv2(request(mac), mac, "02"), billing.ReasonNoPassword},
		{"the MAC address, not granted", billing.Grant{Password: billing.Cleartext("x")}, withPAP(request(mac), mac), billing.ReasonWrongPassword},
		{"a password as well, right", both, withPAP(request("alice"), "right"), billing.ReasonNone},
		{"a password as well, wrong", both, withPAP(request("alice"), "wrong"), billing.ReasonWrongPassword},
		{"a password as well, none given", both, request("alice"), billing.ReasonNone},
		{"any password, none", anything, request("alice"), billing.ReasonNone},
		{"any password, wrong", anything, withPAP(request("alice"), "wrong"), billing.ReasonNone},
		{"any password, wrong by CHAP", anything, withCHAP(request("alice"), "wrong", nil), billing.ReasonNone},
		{"any password, wrong by MS-CHAPv2", anything, withMSCHAPv2(request("alice"), "alice", "wrong"), billing.ReasonWrongPassword},
		{"any password, right by MS-CHAPv2", anything, withMSCHAPv2(request("alice"), "alice", "right"), billing.ReasonNone},
		{"any password, blocked", billing.Grant{AnyPassword: true, Reason: billing.ReasonBlocked}, withPAP(request("alice"), "wrong"), billing.ReasonBlocked},
		{"bound to a station", bound, from(request("alice"), "02-00-00-00-00-AB"), billing.ReasonNone},
		{"bound, another", bound, from(request("alice"), "02-00-00-00-00-AC"), billing.ReasonCallingStation},
		{"bound, none", bound, request("alice"), billing.ReasonCallingStation},
		{"bound to a number", billing.Grant{NoPassword: true, CallingStationID: "Line-A"}, from(request("alice"), "line-a"), billing.ReasonNone},
		{"blocked", billing.Grant{NoPassword: true, Reason: billing.ReasonBlocked}, request("alice"), billing.ReasonBlocked},
	} {
		back := granting(c.grant)
		handle(&billing.Processor{Handler: back}, c.packet)
		if got := back.last(t).Reason; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestParseMAC(t *testing.T) {
	for s, want := range map[string]uint64{
		"02:00:00:00:00:ab": 0x0200000000ab, "02-00-00-00-00-AB": 0x0200000000ab, "0200.0000.00ab": 0x0200000000ab,
		"0200000000ab": 0x0200000000ab, "ff ff ff ff ff ff": 0xffffffffffff,
	} {
		if got, ok := billing.ParseMAC(s); !ok || got != want {
			t.Errorf("%q: %x, %t", s, got, ok)
		}
	}
	for _, s := range []string{"", "alice", "02:00:00:00:00", "02:00:00:00:00:ab:cd", "02:00:00:00:00:ag", ":::::::::::::"} {
		if got, ok := billing.ParseMAC(s); ok {
			t.Errorf("%q: %x", s, got)
		}
	}
}

// TestAccessRequestFields reads every attribute that has a field.
func TestAccessRequestFields(t *testing.T) {
	back := granting(billing.Grant{NoPassword: true})
	p := &billing.Processor{Handler: back}
	packet := request(" Alice\x00 ")
	packet.Attributes = append(packet.Attributes,
		attr(rfc2865.CallingStationID_Type, "02-00"), attr(rfc2865.CalledStationID_Type, "ap:ssid"),
		attr(rfc2865.NASIPAddress_Type, "\xc0\x00\x02\x01"), attr(95, "\x20\x01\x0d\xb8"+strings.Repeat("\x00", 11)+"\x01"),
		attr(rfc2865.NASIdentifier_Type, "bras1"), intAttr(rfc2865.NASPort_Type, 7),
		attr(rfc2869.NASPortID_Type, "ether1"), intAttr(rfc2865.NASPortType_Type, 15),
		intAttr(rfc2865.ServiceType_Type, 2), attr(rfc2865.FramedIPAddress_Type, "\x0a\x00\x00\x09"),
		attr(rfc2866.AcctSessionID_Type, "8000001F"), attr(rfc2865.CallingStationID_Type, "second"), nil)
	handle(p, packet)
	got := back.lastAsk
	got.Request, got.Time = nil, time.Time{}
	want := billing.AccessRequest{
		UserName: " Alice\x00 ", CallingStationID: "02-00", CalledStationID: "ap:ssid",
		NASAddr: netip.MustParseAddr("192.0.2.1"), NASIdentifier: "bras1", NASPort: 7, NASPortID: "ether1",
		NASPortType: 15, ServiceType: 2, FramedAddr: netip.MustParseAddr("10.0.0.9"), SessionID: "8000001F",
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestLongMessage splits a message into several attributes between characters.
func TestLongMessage(t *testing.T) {
	long := strings.Repeat("деньги ", 200)
	p := &billing.Processor{Handler: granting(billing.Grant{
		NoPassword: true, Reason: billing.ReasonBlocked, Message: long,
	})}
	resp := handle(p, request("alice"))
	if n := len(resp.Attributes); n < 4 || n > 5 {
		t.Errorf("%d attributes", n)
	}
	for _, avp := range resp.Attributes[:len(resp.Attributes)-1] {
		if len(avp.Attribute) > 253 || !utf8.Valid(avp.Attribute) {
			t.Errorf("an attribute of %d octets, valid %t", len(avp.Attribute), utf8.Valid(avp.Attribute))
		}
	}
	if got := message(resp.Packet); !strings.HasPrefix(long, got) || len(got) != 1012 {
		t.Errorf("%d octets of the message", len(got))
	}
}

// TestLog wants one line a second for each reason, and no password in any.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.DebugLevel)
		p := &billing.Processor{
			Handler: granting(billing.Grant{Password: billing.Cleartext("stored-secret")}),
			Logger:  zap.New(core),
		}
		for range 5 {
			handle(p, withPAP(request("alice"), "given-secret"))
			handle(p, request("alice"))
		}
		time.Sleep(time.Second)
		handle(p, withPAP(request("alice"), "given-secret"))
		all := logs.All()
		if len(all) != 3 {
			t.Fatalf("%d lines: %+v", len(all), all)
		}
		if got := all[2].ContextMap(); got["user"] != "alice" || got["reason"] != "wrong-password" || got["suppressed"] != uint64(4) {
			t.Errorf("%+v", got)
		}
		for _, line := range all {
			for _, v := range line.ContextMap() {
				if s, ok := v.(string); ok && strings.Contains(s, "-secret") {
					t.Errorf("a password in the log: %+v", line)
				}
			}
		}
	})
}

// TestPostAuthPassword hands PAP's password over, and nothing for other methods.
func TestPostAuthPassword(t *testing.T) {
	back := granting(billing.Grant{Password: billing.Cleartext("x")})
	p := &billing.Processor{Handler: back}
	handle(p, withPAP(request("alice"), "given"))
	handle(p, withCHAP(request("alice"), "given", nil))
	if got := strings.Join(back.passwords, ","); got != "given," {
		t.Errorf("%q", got)
	}
}
