package dict_test

import (
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2868"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4372"
	"layeh.com/radius/rfc4818"
	"layeh.com/radius/rfc5904"
	"layeh.com/radius/rfc6911"
	"layeh.com/radius/vendors/mikrotik"
	"layeh.com/radius/vendors/wispr"

	"github.com/radpool/radpool/internal/dict"
)

func mustLookup(t testing.TB, name string) dict.Ref {
	t.Helper()
	r, err := dict.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The numbers agree with those of a library that was generated elsewhere.
func TestNumbersAgreeWithLayeh(t *testing.T) {
	for name, want := range map[string]radius.Type{
		"User-Name": rfc2865.UserName_Type, "User-Password": rfc2865.UserPassword_Type,
		"NAS-IP-Address": rfc2865.NASIPAddress_Type, "Framed-IP-Address": rfc2865.FramedIPAddress_Type,
		"Framed-IP-Netmask": rfc2865.FramedIPNetmask_Type, "Filter-Id": rfc2865.FilterID_Type,
		"Framed-MTU": rfc2865.FramedMTU_Type, "Reply-Message": rfc2865.ReplyMessage_Type,
		"Framed-Route": rfc2865.FramedRoute_Type, "State": rfc2865.State_Type, "Class": rfc2865.Class_Type,
		"Session-Timeout": rfc2865.SessionTimeout_Type, "Idle-Timeout": rfc2865.IdleTimeout_Type,
		"Called-Station-Id": rfc2865.CalledStationID_Type, "Calling-Station-Id": rfc2865.CallingStationID_Type,
		"NAS-Identifier": rfc2865.NASIdentifier_Type, "Proxy-State": rfc2865.ProxyState_Type,
		"NAS-Port-Type": rfc2865.NASPortType_Type, "Port-Limit": rfc2865.PortLimit_Type,
		"Login-LAT-Port": rfc2865.LoginLATPort_Type, "Termination-Action": rfc2865.TerminationAction_Type,
		"Acct-Status-Type": rfc2866.AcctStatusType_Type, "Acct-Session-Time": rfc2866.AcctSessionTime_Type,
		"Acct-Terminate-Cause": rfc2866.AcctTerminateCause_Type, "Acct-Link-Count": rfc2866.AcctLinkCount_Type,
		"Tunnel-Type": rfc2868.TunnelType_Type, "Tunnel-Private-Group-Id": rfc2868.TunnelPrivateGroupID_Type,
		"Tunnel-Preference": rfc2868.TunnelPreference_Type, "Tunnel-Server-Auth-Id": rfc2868.TunnelServerAuthID_Type,
		"Acct-Input-Gigawords": rfc2869.AcctInputGigawords_Type, "Event-Timestamp": rfc2869.EventTimestamp_Type,
		"Acct-Interim-Interval": rfc2869.AcctInterimInterval_Type, "NAS-Port-Id": rfc2869.NASPortID_Type,
		"Framed-Pool": rfc2869.FramedPool_Type, "Message-Authenticator": rfc2869.MessageAuthenticator_Type,
		"NAS-IPv6-Address": rfc3162.NASIPv6Address_Type, "Framed-IPv6-Pool": rfc3162.FramedIPv6Pool_Type,
		"Chargeable-User-Identity": rfc4372.ChargeableUserIdentity_Type,
		"Delegated-IPv6-Prefix":    rfc4818.DelegatedIPv6Prefix_Type, "PKM-SAID": rfc5904.PKMSAID_Type,
		"Framed-IPv6-Address":        rfc6911.FramedIPv6Address_Type,
		"Stateful-IPv6-Address-Pool": rfc6911.StatefulIPv6AddressPool_Type,
		"Delegated-IPv6-Prefix-Pool": rfc6911.DelegatedIPv6PrefixPool_Type,
		"dns-server-ipv6-address":    rfc6911.DNSServerIPv6Address_Type,
		"NAS-IDENTIFIER":             rfc2865.NASIdentifier_Type,
		"Acct-Tunnel-Packets-Lost":   86,
		"Error-Cause":                101,
		"Acct-Tunnel-Connection":     68,
		"Configuration-Token":        rfc2869.ConfigurationToken_Type,
		"ARAP-Challenge-Response":    rfc2869.ARAPChallengeResponse_Type,
		"Framed-AppleTalk-Zone":      rfc2865.FramedAppleTalkZone_Type,
		"Framed-Interface-Id":        rfc3162.FramedInterfaceID_Type,
		"Login-IPv6-Host":            rfc3162.LoginIPv6Host_Type,
		"Route-IPv6-Information":     rfc6911.RouteIPv6Information_Type,
		"Tunnel-Assignment-Id":       rfc2868.TunnelAssignmentID_Type,
		"Tunnel-Client-Auth-Id":      rfc2868.TunnelClientAuthID_Type,
		"Acct-Multi-Session-Id":      rfc2866.AcctMultiSessionID_Type,
		"Login-TCP-Port":             rfc2865.LoginTCPPort_Type,
		"Callback-Id":                rfc2865.CallbackID_Type,
		"Framed-IPX-Network":         rfc2865.FramedIPXNetwork_Type,
		"CHAP-Challenge":             rfc2865.CHAPChallenge_Type,
		"Acct-Authentic":             rfc2866.AcctAuthentic_Type,
		"Password-Retry":             rfc2869.PasswordRetry_Type,
		"Connect-Info":               rfc2869.ConnectInfo_Type,
		"EAP-Message":                rfc2869.EAPMessage_Type,
		"PKM-Auth-Key":               rfc5904.PKMAuthKey_Type,
		"Tunnel-Medium-Type":         rfc2868.TunnelMediumType_Type,
		"Tunnel-Password":            rfc2868.TunnelPassword_Type,
		"Framed-IPv6-Route":          rfc3162.FramedIPv6Route_Type,
		"Framed-IPv6-Prefix":         rfc3162.FramedIPv6Prefix_Type,
		"Acct-Output-Gigawords":      rfc2869.AcctOutputGigawords_Type,
		"Acct-Delay-Time":            rfc2866.AcctDelayTime_Type,
		"Acct-Session-Id":            rfc2866.AcctSessionID_Type,
		"Acct-Output-Packets":        rfc2866.AcctOutputPackets_Type,
		"Framed-Compression":         rfc2865.FramedCompression_Type,
		"Service-Type":               rfc2865.ServiceType_Type,
		"Framed-Protocol":            rfc2865.FramedProtocol_Type,
		"Vendor-Specific":            rfc2865.VendorSpecific_Type,
		"Framed-AppleTalk-Link":      rfc2865.FramedAppleTalkLink_Type,
		"Login-LAT-Group":            rfc2865.LoginLATGroup_Type,
	} {
		if r := mustLookup(t, name); r.Code != int(want) || r.Vendor != 0 {
			t.Errorf("%s is %d of vendor %d, want %d", name, r.Code, r.Vendor, want)
		}
	}
}

// Vendor-specific values are encoded as a library that was generated elsewhere
// encodes them.
func TestVendorEncodingAgreesWithLayeh(t *testing.T) {
	ours := func(name, text string) string {
		r := mustLookup(t, name)
		v, err := r.Parse(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		avp, err := r.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return hex.EncodeToString(avp.Attribute)
	}
	p := radius.New(radius.CodeAccessAccept, []byte("s"))
	if err := mikrotik.MikrotikRateLimit_SetString(p, "10M/20M"); err != nil {
		t.Fatal(err)
	}
	if err := wispr.WISPrBandwidthMaxUp_Add(p, 512000); err != nil {
		t.Fatal(err)
	}
	for i, got := range []string{ours("Mikrotik-Rate-Limit", "10M/20M"), ours("WISPr-Bandwidth-Max-Up", "512000")} {
		if want := hex.EncodeToString(p.Attributes[i].Attribute); got != want {
			t.Errorf("attribute %d is %s, want %s", i, got, want)
		}
	}
	if got, want := ours("Cisco-AVPair", "a=b"), "00000009"+"0105"+"613d62"; got != want {
		t.Errorf("Cisco-AVPair is %s, want %s", got, want)
	}
}

func TestParse(t *testing.T) {
	x := func(s string) string { return "0x" + s }
	for _, c := range []struct{ attr, text, want string }{
		{"User-Name", `a\tb\\\"\101\q`, x(hex.EncodeToString([]byte("a\tb\\\"A\\q")))},
		{"User-Name", "\xff\x00'", x("ff0027")},
		{"Class", "0x00ff", x("00ff")},
		{"Class", "abc", x("616263")},
		{"Class", "0x0", "error"},
		{"Message-Authenticator", "0x00", "error"},
		{"Framed-IP-Address", "10.0.0.1", x("0a000001")},
		{"Framed-IP-Address", "10.0.0.256", "error"},
		{"Framed-IP-Address", "::1", "error"},
		{"Framed-IPv6-Address", "2001:db8::1", x("20010db8000000000000000000000001")},
		{"Framed-IPv6-Address", "10.0.0.1", "error"},
		{"Framed-IPv6-Address", "fe80::1%eth0", "error"},
		{"Framed-IPv6-Prefix", "2001:db8:1:2:3::/48", x("003020010db8000100000000000000000000")},
		{"Framed-IPv6-Prefix", "2001:db8::", x("008020010db8000000000000000000000000")},
		{"Framed-IPv6-Prefix", "10.0.0.0/8", "error"},
		{"Framed-Interface-Id", "1:a:ff:0", x("0001000a00ff0000")},
		{"Framed-Interface-Id", "1:a:ff", "error"},
		{"Service-Type", "framed-user", x("00000002")},
		{"Service-Type", " 2 ", x("00000002")},
		{"Service-Type", "0x0a", x("0000000a")},
		{"Service-Type", "Fram", "error"},
		{"Session-Timeout", "4294967295", x("ffffffff")},
		{"Session-Timeout", "4294967296", "error"},
		{"Session-Timeout", "-1", x("ffffffff")},
		{"Session-Timeout", "-2147483649", "error"},
		{"Session-Timeout", "+5", x("00000005")},
		{"Session-Timeout", "+-5", "error"},
		{"Session-Timeout", "", x("00000000")},
		{"Framed-IP-Address", "10.1", x("0a000001")},
		{"Framed-IP-Address", "10.1.257", x("0a010101")},
		{"Framed-IP-Address", "10.1.65536", "error"},
		{"Framed-IP-Address", "167772161", x("0a000001")},
		{"Framed-IP-Address", "0xA.0.1", x("0a000001")},
		{"Framed-IP-Address", "010.0.0.1", x("08000001")},
		{"Framed-IP-Address", "10.0.0.08", "error"},
		{"Framed-IP-Address", "256.1", "error"},
		{"Framed-IP-Address", "10..1", "error"},
		{"Framed-IP-Address", "1.2.3.4.5", "error"},
		{"Framed-IP-Address", "", "error"},
		{"PKM-SAID", "65535", x("ffff")},
		{"PKM-SAID", "65536", "error"},
		{"Expiration", "10 Jul 2024", x("668dcf00")},
		{"Expiration", "yesterday", "error"},
		{"Expiration", "1 Jan 1969", "error"},
		{"Fall-Through", "yes", x("00000001")},
		{"Attr-200", "0x01", x("01")},
		{"Vendor-Specific", "x", "error"},
		{"User-Name", strings.Repeat("a", 254), "error"},
	} {
		got := "error"
		b, err := mustLookup(t, c.attr).Parse(c.text, time.UTC)
		if err == nil {
			got = "0x" + hex.EncodeToString(b)
		} else if !strings.Contains(err.Error(), "attribute "+c.attr) {
			t.Errorf("%s: the error does not name the attribute: %v", c.attr, err)
		}
		if got != c.want {
			t.Errorf("%s = %q is %s, want %s (%v)", c.attr, c.text, got, c.want, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	loc := time.FixedZone("here", 3*3600)
	day := time.Date(2024, 7, 10, 0, 0, 0, 0, loc)
	at := day.Add(13*time.Hour + 14*time.Minute + 15*time.Second)
	for text, want := range map[string]time.Time{
		"10 Jul 2024": day, "Jul 10 2024": day, "july 10, 2024": day, " 10  JUL 2024 ": day, "2024-07-10": day,
		"10 Jul 2024 13:14:15": at, "Jul 10 2024 13:14:15": at, "2024-07-10 13:14:15": at,
		"2024-07-10T13:14:15": at, "2024-07-10T10:14:15Z": at, "10 July 2024 13:14": at.Add(-15 * time.Second),
		"1720606455": at, "Wed Jul 10 13:14:15 2024": at,
	} {
		if got, err := dict.ParseTime(text, loc); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "10", "10 Jul", "32 Jul 2024", "10 Foo 2024", "99999999999999999", "10.07.2024"} {
		if got, err := dict.ParseTime(text, loc); err == nil && text != "10" {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func TestLookupErrors(t *testing.T) {
	for _, name := range []string{"", "No-Such", "Tunnel-Type:32", "Tunnel-Type:x", "Attr-", "Attr-0",
		"Attr-256", "Attr-26.0.1", "Attr-1.2.3", "Attr-26.1.256", "Attr-26.1"} {
		if r, err := dict.Lookup(name); err == nil {
			t.Errorf("%q is %+v, want an error", name, r)
		}
	}
	if r := mustLookup(t, "attr-26.14988.8"); r.Name != "Mikrotik-Rate-Limit" {
		t.Errorf("by number: %s", r.Name)
	} else if v, err := r.Parse("0x313030", nil); err != nil || string(v) != "100" {
		t.Errorf("an attribute named by number is not octets: %q (%v)", v, err)
	}
	if r := mustLookup(t, "Attr-26.99999.8"); r.Vendor != 99999 || r.Code != 8 {
		t.Errorf("unknown vendor: %+v", r)
	}
}

func TestTags(t *testing.T) {
	encode := func(name, text string) *radius.AVP {
		r := mustLookup(t, name)
		v, err := r.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		avp, err := r.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return avp
	}
	attrs := radius.Attributes{encode("Tunnel-Type:1", "VLAN"), encode("Tunnel-Type", "L2TP"),
		encode("Tunnel-Private-Group-Id:1", "42"), encode("Tunnel-Private-Group-Id", "43")}
	for i, want := range []string{"0100000d", "00000003", "013432", "3433"} {
		if got := hex.EncodeToString(attrs[i].Attribute); got != want {
			t.Errorf("attribute %d is %s, want %s", i, got, want)
		}
	}
	for name, want := range map[string]string{"Tunnel-Type": "VLAN L2TP", "Tunnel-Type:1": "VLAN",
		"Tunnel-Private-Group-Id": "42 43", "Tunnel-Private-Group-Id:1": "42"} {
		var got []string
		r := mustLookup(t, name)
		for v := range r.Values(attrs) {
			got = append(got, r.Format(v))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		value int
	}{{"Cleartext-Password", 1}, {"MS-MPPE-Send-Key", 16}, {"Vendor-Specific", 8}, {"Cisco-AVPair", 248}, {"Reply-Message", 254}} {
		if _, err := mustLookup(t, c.name).Encode(make([]byte, c.value)); err == nil || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s of %d octets: %v", c.name, c.value, err)
		}
	}
	if _, err := mustLookup(t, "Cisco-AVPair").Encode(make([]byte, 247)); err != nil {
		t.Error(err)
	}
}

func TestValuesSkipsMalformedVendorSpecific(t *testing.T) {
	r := mustLookup(t, "Cisco-AVPair")
	for _, s := range []string{"", "00", "00000009", "0000000901", "000000090100", "0000000901ff61", "000000090101"} {
		b, _ := hex.DecodeString(s)
		for v := range r.Values(radius.Attributes{{Type: 26, Attribute: b}}) {
			t.Errorf("%s has a value %x", s, v)
		}
	}
	b, _ := hex.DecodeString("00000009" + "0103" + "61" + "0203" + "62" + "0104" + "6363")
	var got []string
	for v := range r.Values(radius.Attributes{{Type: 26, Attribute: b}}) {
		got = append(got, string(v))
	}
	if !slices.Equal(got, []string{"a", "cc"}) {
		t.Errorf("two in one attribute: %q", got)
	}
}

func TestCompareAndValueName(t *testing.T) {
	timeout := mustLookup(t, "Session-Timeout")
	if timeout.Compare([]byte{0, 0, 1, 0}, []byte{0, 0, 0, 255}) <= 0 || timeout.Compare([]byte{0, 1}, []byte{0, 0, 0, 1}) != 0 {
		t.Error("numbers do not compare by size")
	}
	if mustLookup(t, "User-Name").Compare([]byte("b"), []byte("aa")) <= 0 {
		t.Error("strings do not compare octet by octet")
	}
	if got := dict.ValueName("Acct-Terminate-Cause", 11); got != "NAS-Reboot" {
		t.Error(got)
	}
	if got := dict.ValueName("Acct-Status-Type", 3); got != "Interim-Update" {
		t.Error(got)
	}
	if got := dict.ValueName("Service-Type", math.MaxUint32); got != "4294967295" {
		t.Error(got)
	}
	if dict.ByNumber(14988, 8).Name != "Mikrotik-Rate-Limit" || dict.ByNumber(1, 1) != nil {
		t.Error("ByNumber")
	}
}
