package main

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
)

var statistic = regexp.MustCompile(`(?m)^\s*FreeRADIUS-([A-Za-z-]+) = "?([^"\n]*)"?$`)

// statistics asks as exporters for FreeRADIUS do, and returns what radclient prints of
// the answer, by name.
func statistics(t *testing.T, addr, kind string) map[string]string {
	t.Helper()
	out := ask(t, addr, "status", "Message-Authenticator = 0x00, FreeRADIUS-Statistics-Type = "+kind)
	_, answer, ok := strings.Cut(out, "Received Access-Accept")
	if !ok {
		t.Fatalf("no Access-Accept:\n%s", out)
	}
	all := make(map[string]string)
	for _, m := range statistic.FindAllStringSubmatch(answer, -1) {
		all[m[1]] = m[2]
	}
	return all
}

// What exporters for FreeRADIUS ask for, by radclient, whose dictionary knows the
// names.
func TestStatisticsWithRadclient(t *testing.T) {
	b := start(t, "-db", "memory:2", "-status", "127.0.0.1:0")
	for range 3 {
		ask(t, b.auth, "auth", `User-Name = "user1"`, `User-Password = "pass1"`)
	}
	for range 2 {
		ask(t, b.auth, "auth", `User-Name = "user1"`, `User-Password = "wrong"`)
	}
	ask(t, b.acct, "acct", `User-Name = "user1"`, `Acct-Session-Id = "s1"`, "Acct-Status-Type = Start")

	all := statistics(t, b.auth, "0x1f")
	for name, want := range map[string]int{
		"Total-Access-Requests": 5, "Total-Access-Accepts": 3, "Total-Access-Rejects": 2, "Total-Auth-Responses": 5,
		"Total-Accounting-Requests": 1, "Total-Accounting-Responses": 1,
		"Total-Auth-Invalid-Requests": 0, "Total-Auth-Dropped-Requests": 0, "Total-Proxy-Access-Requests": 0,
		"Queue-Len-Auth": 0, "Queue-Len-Acct": 0, "Queue-Len-Internal": 0,
	} {
		if all[name] != strconv.Itoa(want) {
			t.Errorf("FreeRADIUS-%s is %q, want %d", name, all[name], want)
		}
	}
	at, err := time.Parse("Jan _2 2006 15:04:05 MST", all["Stats-Start-Time"])
	if err != nil || time.Since(at) < 0 || time.Since(at) > time.Hour {
		t.Errorf("FreeRADIUS-Stats-Start-Time is %q (%v), want the last moments", all["Stats-Start-Time"], err)
	}
	for kind, want := range map[string]string{"1": "Total-Access-Requests", "2": "Total-Accounting-Requests", "0x10": "Queue-Len-Auth"} {
		part := statistics(t, b.auth, kind)
		if _, ok := part[want]; !ok || len(part) >= len(all) {
			t.Errorf("type %s: %v, want %s and less than all", kind, part, want)
		}
		for name, v := range part {
			if !strings.HasPrefix(name, "Queue-PPS") && v != all[name] {
				t.Errorf("type %s: FreeRADIUS-%s is %s, and %s in the answer to 0x1f", kind, name, v, all[name])
			}
		}
	}

	plain := start(t, "-db", "memory:2")
	if got := statistics(t, plain.auth, "0x1f"); len(got) > 0 {
		t.Errorf("without -status there are statistics: %v", got)
	}
}

// Exporters that are written with layeh.com/radius sign one packet when they start and send its
// octets at each scrape, and take a scrape for failed if one attribute is missing: each must be
// there, and as it is now, also where the octets come from the same port again.
func TestStatisticsForExporters(t *testing.T) {
	b := start(t, "-db", "memory:2", "-status", "127.0.0.1:0")
	secret := []byte("testing123")
	p := radius.New(radius.CodeStatusServer, secret)
	p.Add(rfc2865.VendorSpecific_Type, freeRADIUS(t, 127, 0x1f))
	octets, n := encode(p), dial(t, b.auth)
	for logins := range 3 {
		n.send(octets)
		answer := n.receive(time.Minute)
		reply, err := radius.Parse(answer, secret)
		if err != nil || reply.Code != radius.CodeAccessAccept || !radius.IsAuthenticResponse(answer, octets, secret) {
			t.Fatalf("%v, %v, or not signed", reply, err)
		}
		for kind := range 256 {
			value, ok := numberOf(reply, byte(kind))
			switch needed := kind >= 128 && kind <= 166 || kind == 176 || kind == 177; {
			case needed && !ok:
				t.Errorf("attribute %d is missing", kind)
			case slices.Contains([]int{128, 129, 132}, kind) && value != uint32(logins): // Access-Requests, Access-Accepts, replies
				t.Errorf("after %d logins attribute %d is %d", logins, kind, value)
			}
		}
		ask(t, b.auth, "auth", `User-Name = "user1"`, `User-Password = "pass1"`)
	}
}

// freeRADIUS is a number of FreeRADIUS's dictionary, as the value of a Vendor-Specific.
func freeRADIUS(t *testing.T, kind byte, value uint32) radius.Attribute {
	t.Helper()
	number := radius.NewInteger(value)
	a, err := radius.NewVendorSpecific(11344, append(radius.Attribute{kind, byte(2 + len(number))}, number...))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// numberOf finds such a number in a reply.
func numberOf(p *radius.Packet, kind byte) (uint32, bool) {
	for _, avp := range p.Attributes {
		vendor, a, err := radius.VendorSpecific(avp.Attribute)
		if avp.Type == rfc2865.VendorSpecific_Type && err == nil && vendor == 11344 && len(a) == 6 && a[0] == kind {
			return binary.BigEndian.Uint32(a[2:]), true
		}
	}
	return 0, false
}
