package attrs_test

import (
	"fmt"
	"strings"
	"testing"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/attrs"
)

func ExampleAddPair() {
	var g billing.Grant
	for _, pair := range []string{"Session-Timeout = 3600", "session-timeout = 1", `Reply-Message := "hello"`, `Mikrotik-Rate-Limit = 10M/10M`} {
		if err := attrs.AddPair(&g, pair); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(attrs.AddPair(&g, "Framed-IP-Address = somewhere"))
	for _, a := range g.Reply {
		fmt.Printf("%d %x\n", a.Type, []byte(a.Attribute))
	}
	// Output:
	// attrs: attribute Framed-IP-Address (ipaddr): not an IPv4 address
	// 27 00000e10
	// 18 68656c6c6f
	// 26 00003a8c080931304d2f31304d
}

func ExampleAttribute_Add() {
	address, err := attrs.Find("Framed-IP-Address")
	if err != nil {
		fmt.Println(err)
		return
	}
	g := billing.Grant{Password: billing.Cleartext("wonderland")}
	fmt.Println(address.Name(), address.Add(&g, "10.0.0.1"), g.Reply[0].Attribute)
	// Output: Framed-IP-Address <nil> [10 0 0 1]
}

func TestFind(t *testing.T) {
	for _, name := range []string{"", "No-Such-Attribute", "Cleartext-Password", "Simultaneous-Use"} {
		if a, err := attrs.Find(name); err == nil || a.Name() != "" {
			t.Errorf("%q: %v, %v", name, a.Name(), err)
		}
	}
	if err := (attrs.Attribute{}).Add(&billing.Grant{}, "x"); err == nil {
		t.Error("the zero Attribute was added")
	}
}

func TestOperators(t *testing.T) {
	var g billing.Grant
	for _, pair := range []string{
		"Framed-Route += '10.1.0.0/16'", "Framed-Route+=10.2.0.0/16", "Framed-Route = 10.3.0.0/16",
		"Tunnel-Password := first", "Tunnel-Password := second", "Tunnel-Password = third", "Class := a", "Class:=b",
	} {
		if err := attrs.AddPair(&g, pair); err != nil {
			t.Fatalf("%s: %v", pair, err)
		}
	}
	var got []string
	for _, a := range g.Reply {
		got = append(got, fmt.Sprint(int(a.Type), "=", string(a.Attribute)))
	}
	if all := strings.Join(got, " "); all != "22=10.1.0.0/16 22=10.2.0.0/16 25=b" || len(g.Hidden) != 1 || !g.Hidden[0].Is(0, 69) {
		t.Errorf("%s, hidden %v", all, g.Hidden)
	}
}

// A pair that is wrong changes nothing, and its value is not told.
func TestWrongPairs(t *testing.T) {
	for _, pair := range []string{
		"", "=", ":= hunter2", "Framed-IP-Address", "Framed-IP-Address == hunter2", "Framed-IP-Address != hunter2", "Framed-IP-Address := hunter2",
		"Session-Timeout =~ hunter2", "No-Such := hunter2", "Cleartext-Password := hunter2", `Reply-Message = "hunter2`, "Reply-Message = 'hunter2\"",
		"Reply-Message = " + strings.Repeat("hunter2", 40), "Class = " + strings.Repeat("x", 3000), `Reply-Message = "`,
	} {
		var g billing.Grant
		if err := attrs.AddPair(&g, "Framed-IP-Address = 10.0.0.1"); err != nil {
			t.Fatal(err)
		}
		err := attrs.AddPair(&g, pair)
		if err == nil || strings.Contains(err.Error(), "hunter2") || len(g.Reply) != 1 || g.Reply[0].Type != rfc2865.FramedIPAddress_Type {
			t.Errorf("%q: %v, %d attributes", pair, err, len(g.Reply))
		}
	}
}

func TestRestricted(t *testing.T) {
	a, err := attrs.Find("Framed-Pool")
	if err != nil {
		t.Fatal(err)
	}
	var g billing.Grant
	if err := a.AddRestricted(&g, "poor"); err != nil || len(g.Restricted) != 1 || len(g.Reply) != 0 {
		t.Errorf("%v, %d and %d", err, len(g.Restricted), len(g.Reply))
	}
}

func FuzzAddPair(f *testing.F) {
	for _, s := range []string{"Framed-IP-Address := 10.0.0.1", `Reply-Message += "x\""`, "Tunnel-Type:1 = VLAN", "a=b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pair string) {
		var g billing.Grant
		err := attrs.AddPair(&g, pair)
		if n := len(g.Reply) + len(g.Hidden); err != nil && n != 0 || err == nil && n != 1 {
			t.Errorf("%q: %v, and %d attributes", pair, err, n)
		}
		for _, a := range g.Reply {
			if len(a.Attribute) > 253 {
				t.Errorf("%q: %d octets", pair, len(a.Attribute))
			}
		}
	})
}
