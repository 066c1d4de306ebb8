package dict_test

import (
	"bytes"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/dict"
)

// Whatever text comes, Parse does not panic and what it accepts can be shown and
// read back as the same octets.
func FuzzParse(f *testing.F) {
	for _, c := range [][2]string{{"User-Name", `a\"\012`}, {"Class", "0x00"}, {"Framed-IP-Address", "10.0.0.1"},
		{"Framed-IPv6-Prefix", "2001:db8::/32"}, {"Framed-Interface-Id", "0:0:0:1"}, {"Service-Type", "Framed-User"},
		{"Expiration", "10 Jul 2024"}, {"PKM-SAID", "7"}, {"Tunnel-Type:3", "VLAN"}, {"Attr-26.9.1", "0x41"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		r, err := dict.Lookup(name)
		if err != nil {
			return
		}
		b, err := r.Parse(text, time.UTC)
		if err != nil {
			return
		}
		shown := r.Format(b)
		again, err := r.Parse(shown, time.UTC)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%s: %q is %x, shown as %q, which is %x (%v)", name, text, b, shown, again, err)
		}
		avp, err := r.Encode(b)
		if err != nil {
			return
		}
		if len(avp.Attribute) > dict.MaxValue {
			t.Fatalf("%d octets", len(avp.Attribute))
		}
		if r.Tagged || len(b) == 0 {
			return // an untagged string may begin like a tag
		}
		for v := range r.Values(radius.Attributes{avp}) {
			if !bytes.Equal(v, b) {
				t.Fatalf("%x came back as %x", b, v)
			}
			return
		}
		t.Fatal("the value did not come back")
	})
}
