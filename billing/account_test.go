package billing_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"
	"layeh.com/radius/rfc6911"

	"context"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

func accounting(avps ...*radius.AVP) *radius.Packet {
	p := radius.New(radius.CodeAccountingRequest, []byte(secret))
	p.Attributes = avps
	return p
}

// account runs the packet through a Processor as if it came from source, and
// returns the record, if there was one.
func account(t *testing.T, packet *radius.Packet, source string) (rec billing.AccountingRecord, ok bool, resp *radpool.Response) {
	t.Helper()
	back := granting(billing.Grant{})
	req := radpool.NewRequest(packet, nil)
	req.Received = someTime()
	if source != "" {
		req.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(source), 1813)
	}
	resp = radpool.NewResponse(req)
	(&billing.Processor{Handler: back}).Handle(context.Background(), req, resp)
	if len(back.records) == 0 {
		return rec, false, resp
	}
	return back.records[0], true, resp
}

// TestRecord reads every attribute that has a field.
func TestRecord(t *testing.T) {
	v6 := "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01"
	packet := accounting(
		intAttr(rfc2866.AcctStatusType_Type, 3), attr(rfc2866.AcctSessionID_Type, "8000001F"),
		attr(rfc2865.UserName_Type, "alice"), intAttr(rfc2866.AcctSessionTime_Type, 90),
		intAttr(rfc2866.AcctInputOctets_Type, 4294967295), intAttr(rfc2869.AcctInputGigawords_Type, 1),
		intAttr(rfc2866.AcctOutputOctets_Type, 5), intAttr(rfc2869.AcctOutputGigawords_Type, 2),
		intAttr(rfc2866.AcctInputPackets_Type, 11), intAttr(rfc2866.AcctOutputPackets_Type, 12),
		intAttr(rfc2866.AcctTerminateCause_Type, 1), intAttr(rfc2866.AcctAuthentic_Type, 1),
		attr(rfc2865.NASIPAddress_Type, "\xc0\x00\x02\x01"), attr(rfc2865.NASIdentifier_Type, "bras1"),
		intAttr(rfc2865.NASPort_Type, 7), attr(rfc2869.NASPortID_Type, "ether1"), intAttr(rfc2865.NASPortType_Type, 0),
		attr(rfc2865.CallingStationID_Type, "02-00"), attr(rfc2865.CalledStationID_Type, "svc"),
		intAttr(rfc2865.ServiceType_Type, 2), intAttr(rfc2865.FramedProtocol_Type, 1),
		attr(rfc2865.FramedIPAddress_Type, "\x0a\x00\x00\x09"), attr(rfc6911.FramedIPv6Address_Type, v6),
		attr(rfc3162.FramedIPv6Prefix_Type, "\x00\x40\x20\x01\x0d\xb8\x00\x01\x00\x02"),
		attr(rfc4818.DelegatedIPv6Prefix_Type, "\x00\x38\x20\x01\x0d\xb8\x00\x01\x02"),
		attr(rfc3162.FramedInterfaceID_Type, "\x02\x00\x00\xff\xfe\x00\x00\x01"),
		attr(rfc2869.ConnectInfo_Type, "100M"), attr(rfc2865.Class_Type, "\x00gold"),
		attr(rfc2865.Class_Type, "second"))
	rec, ok, resp := account(t, packet, "198.51.100.1")
	if !ok || resp.Code != radius.CodeAccountingResponse {
		t.Fatalf("no record: %v", resp.Code)
	}
	if !bytes.Equal(rec.Class, []byte("\x00gold")) {
		t.Errorf("Class %q", rec.Class)
	}
	got := fmt.Sprintf("%+v", clean(rec))
	want := fmt.Sprintf("%+v", clean(billing.AccountingRecord{
		Status: billing.InterimUpdate, SessionID: "8000001F", UniqueID: "811e02c5e7d009af316fee9e2a6034e0", UserName: "alice",
		Time: someTime(), SessionTime: 90 * time.Second, HasSession: true,
		InputOctets: 8589934591, OutputOctets: 2<<32 + 5, InputPackets: 11, OutputPackets: 12,
		TerminateCause: 1, Authentic: 1,
		NASAddr: netip.MustParseAddr("192.0.2.1"), NASIdentifier: "bras1", NASPort: "ether1", NASPortType: 0, HasPortType: true,
		CallingStationID: "02-00", CalledStationID: "svc", ServiceType: 2, FramedProtocol: 1,
		FramedAddr: netip.MustParseAddr("10.0.0.9"), FramedIPv6Addr: netip.MustParseAddr("2001:db8::1"),
		FramedIPv6Prefix:    netip.MustParsePrefix("2001:db8:1:2::/64"),
		DelegatedIPv6Prefix: netip.MustParsePrefix("2001:db8:1:200::/56"),
		FramedInterfaceID:   "200:ff:fe00:1", ConnectInfo: "100M",
	}))
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func clean(rec billing.AccountingRecord) billing.AccountingRecord {
	rec.Request, rec.Class = nil, nil
	return rec
}

// TestUniqueID has its values from md5sum: MD5 of the parts joined by commas.
func TestUniqueID(t *testing.T) {
	user, session := attr(rfc2865.UserName_Type, "alice"), attr(rfc2866.AcctSessionID_Type, "8000001F")
	ip := attr(rfc2865.NASIPAddress_Type, "\xc0\x00\x02\x01")
	ip6 := attr(rfc3162.NASIPv6Address_Type, "\x20\x01\x0d\xb8"+strings.Repeat("\x00", 11)+"\x01")
	id, port := attr(rfc2865.NASIdentifier_Type, "bras1"), intAttr(rfc2865.NASPort_Type, 7)
	portID, bigPort := attr(rfc2869.NASPortID_Type, "ether1"), intAttr(rfc2865.NASPort_Type, 4294967295)
	const (
		full  = "811e02c5e7d009af316fee9e2a6034e0" // alice,8000001F,192.0.2.1,bras1,ether1,7
		bare  = "325757885517c30d9b3d62bba7167849" // alice,8000001F,192.0.2.1,,,
		v6    = "d94aba565fea6e7ad79d92dc035d686d" // alice,8000001F,2001:db8::1,bras1,,4294967295
		class = "7cd5a6f7a287729ad5c1aa0b2ec6e559" // 0123456789abcdef0123456789ABCDEF,8000001F
	)
	for _, c := range []struct {
		name   string
		avps   []*radius.AVP
		source string
		want   string
	}{
		{"all", []*radius.AVP{user, session, ip, id, port, portID}, "198.51.100.1", full},
		{"in another order", []*radius.AVP{portID, port, id, ip, session, user}, "", full},
		{"absent is empty", []*radius.AVP{user, session, ip}, "", bare},
		{"the address of the source", []*radius.AVP{user, session}, "192.0.2.1", bare},
		{"IPv6 goes before IPv4", []*radius.AVP{user, session, ip, ip6, id, bigPort}, "192.0.2.1", v6},
		{"the source's IPv6 too", []*radius.AVP{user, session, ip, id, bigPort}, "2001:db8::1", v6},
		{"the Class of acct_unique", []*radius.AVP{user, session, ip, attr(rfc2865.Class_Type, "ai:0123456789abcdef0123456789ABCDEF!")}, "", class},
		{"another Class", []*radius.AVP{user, session, ip, attr(rfc2865.Class_Type, "0123456789abcdef0123456789ABCDEF")}, "", bare},
		{"a Class that is too short", []*radius.AVP{user, session, ip, attr(rfc2865.Class_Type, "ai:0123456789abcdef")}, "", bare},
		{"a Class without digits", []*radius.AVP{user, session, ip, attr(rfc2865.Class_Type, "ai:0123456789abcdef0123456789ABCDEG")}, "", bare},
	} {
		rec, ok, _ := account(t, accounting(append(c.avps, intAttr(rfc2866.AcctStatusType_Type, 1))...), c.source)
		if !ok || rec.UniqueID != c.want {
			t.Errorf("%s: %s, want %s", c.name, rec.UniqueID, c.want)
		}
	}
}

// TestEventTime prefers Event-Timestamp over the arrival less Acct-Delay-Time.
func TestEventTime(t *testing.T) {
	stamp, delay := intAttr(rfc2869.EventTimestamp_Type, 1_600_000_000), intAttr(rfc2866.AcctDelayTime_Type, 40)
	for _, c := range []struct {
		name string
		avps []*radius.AVP
		want time.Time
	}{
		{"the arrival", nil, someTime()},
		{"less the delay", []*radius.AVP{delay}, someTime().Add(-40 * time.Second)},
		{"Event-Timestamp", []*radius.AVP{stamp}, time.Unix(1_600_000_000, 0)},
		{"Event-Timestamp and a delay", []*radius.AVP{delay, stamp}, time.Unix(1_600_000_000, 0)},
		{"a clock that was never set", []*radius.AVP{intAttr(rfc2869.EventTimestamp_Type, 0)}, someTime()},
		{"after 2038", []*radius.AVP{intAttr(rfc2869.EventTimestamp_Type, 4_000_000_000)}, time.Unix(4_000_000_000, 0)},
	} {
		avps := append(c.avps, intAttr(rfc2866.AcctStatusType_Type, 1), attr(rfc2866.AcctSessionID_Type, "s"))
		rec, ok, _ := account(t, accounting(avps...), "")
		if !ok || !rec.Time.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, rec.Time, c.want)
		}
	}
}

// TestDiscarded gives no answer to what cannot be told from other sessions or
// summed up, and says which attribute is at fault.
func TestDiscarded(t *testing.T) {
	status, session := intAttr(rfc2866.AcctStatusType_Type, 3), attr(rfc2866.AcctSessionID_Type, "s")
	for _, c := range []struct {
		name string
		avps []*radius.AVP
	}{
		{"Acct-Status-Type", []*radius.AVP{session}},
		{"Acct-Status-Type", []*radius.AVP{attr(rfc2866.AcctStatusType_Type, "x"), session}},
		{"Acct-Session-Id", []*radius.AVP{status}},
		{"Acct-Session-Id", []*radius.AVP{status, attr(rfc2866.AcctSessionID_Type, "")}},
		{"Acct-Input-Octets", []*radius.AVP{status, session, attr(rfc2866.AcctInputOctets_Type, "12345678")}},
		{"Acct-Output-Gigawords", []*radius.AVP{status, session, attr(rfc2869.AcctOutputGigawords_Type, "")}},
		{"Event-Timestamp", []*radius.AVP{status, session, attr(rfc2869.EventTimestamp_Type, "123")}},
		{"NAS-Port", []*radius.AVP{status, session, attr(rfc2865.NASPort_Type, "1")}},
		{"NAS-IPv6-Address", []*radius.AVP{status, session, attr(rfc3162.NASIPv6Address_Type, "1234")}},
	} {
		core, logs := observer.New(zap.InfoLevel)
		back := granting(billing.Grant{})
		p := &billing.Processor{Handler: back, Logger: zap.New(core)}
		resp := handle(p, accounting(c.avps...))
		if resp.Code != 0 || resp.Err() != nil || len(back.records) != 0 || p.Stats().Discarded != 1 {
			t.Errorf("%s: %v, %v, %d records", c.name, resp.Code, resp.Err(), len(back.records))
		}
		if lines := logs.All(); len(lines) != 1 || lines[0].ContextMap()["attribute"] != c.name {
			t.Errorf("%s: log %+v", c.name, lines)
		}
	}
	for name, avps := range map[string][]*radius.AVP{
		"a malformed attribute that is not counted": {status, session, attr(rfc2865.FramedIPAddress_Type, "1"), attr(rfc3162.FramedInterfaceID_Type, "1"), attr(rfc3162.FramedIPv6Prefix_Type, "\x00\xff")},
		"Accounting-On without a session":           {intAttr(rfc2866.AcctStatusType_Type, 7)},
		"a status without a name":                   {intAttr(rfc2866.AcctStatusType_Type, 9)},
	} {
		if rec, ok, resp := account(t, accounting(avps...), ""); !ok || resp.Code != radius.CodeAccountingResponse || rec.FramedAddr.IsValid() {
			t.Errorf("%s: %t, %v", name, ok, resp.Code)
		}
	}
}

// TestPortInDecimal is what NASPort is without NAS-Port-Id.
func TestPortInDecimal(t *testing.T) {
	status, session := intAttr(rfc2866.AcctStatusType_Type, 3), attr(rfc2866.AcctSessionID_Type, "s")
	for want, avp := range map[string]*radius.AVP{"0": intAttr(rfc2865.NASPort_Type, 0), "": attr(rfc2865.Class_Type, "x")} {
		if rec, _, _ := account(t, accounting(status, session, avp), ""); rec.NASPort != want {
			t.Errorf("%q, want %q", rec.NASPort, want)
		}
	}
}
