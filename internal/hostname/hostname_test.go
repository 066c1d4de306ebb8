package hostname_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/hostname"
)

func TestValid(t *testing.T) {
	long := strings.Repeat("a", 63)
	for name, want := range map[string]bool{
		"nas": true, "nas1.example": true, "nas-1.example.": true, "_nas.example": true, "1nas.7.example": true, long + ".example": true,
		long + "." + long + "." + long + "." + long[:61]: true, "3com": true, "NAS.EXAMPLE": true,
		long + "." + long + "." + long + "." + long[:62]: false,
		"": false, ".": false, "a..b": false, ".a": false, "-a": false, "a-.example": false, "10.0.0.256": false, "10": false, "a.1": false,
		"a b": false, "a/24": false, "a:1": false, "fe80::1": false, "näs": false, "a\x00": false, "@a": false, "a[": false, "`a": false, long + "a": false, "*": false,
	} {
		if got := hostname.Valid(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

type answer []netip.Addr

func (a answer) LookupNetIP(_ context.Context, network, _ string) ([]netip.Addr, error) {
	if network == "" {
		return nil, errors.New("away")
	}
	return slices.Clone(a), nil
}

func TestLookup(t *testing.T) {
	r := answer{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("::ffff:192.0.2.2"), netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("fe80::1%x"), {}}
	for network, want := range map[string]string{
		"ip": "192.0.2.1 192.0.2.2 2001:db8::1 fe80::1", "ip4": "192.0.2.1 192.0.2.2", "ip6": "2001:db8::1 fe80::1",
	} {
		addrs, err := hostname.Lookup(t.Context(), r, network, "nas.example")
		var got []string
		for _, a := range addrs {
			got = append(got, a.String())
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v", network, got, err)
		}
	}
	if _, err := hostname.Lookup(t.Context(), r[:1], "ip4", "nas.example"); err == nil {
		t.Error("an address of the other kind was taken")
	}
	if _, err := hostname.Lookup(t.Context(), r, "", "nas.example"); err == nil || err.Error() != "away" {
		t.Errorf("got %v", err)
	}
	if _, err := hostname.Lookup(t.Context(), r, "ip", "10.0.0.256"); !errors.Is(err, hostname.ErrName) {
		t.Errorf("got %v", err)
	}
	// localhost is known everywhere, without a resolver of ours.
	if addrs, err := hostname.Lookup(t.Context(), nil, "ip", "localhost"); err != nil || !addrs[0].IsLoopback() {
		t.Errorf("%v, %v", addrs, err)
	}
}
