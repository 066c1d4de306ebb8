package dict_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/dict"
)

// All goes through the same values as Values, which looks for one attribute after the
// other, whatever the octets.
func TestAllIsAsValues(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var refs []dict.Ref
	for _, name := range []string{"User-Name", "Tunnel-Type", "Tunnel-Private-Group-Id", "Framed-IP-Address", "MS-CHAP2-Response", "Mikrotik-Rate-Limit", "Cisco-AVPair", "Attr-26.9.77"} {
		ref, err := dict.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	for range 20_000 {
		ref := refs[random.IntN(len(refs))]
		avp := &radius.AVP{Type: radius.Type(ref.Code)}
		if ref.Vendor != 0 {
			avp.Type = 26
			avp.Attribute = radius.Attribute{0, byte(ref.Vendor >> 16), byte(ref.Vendor >> 8), byte(ref.Vendor)}
			for range random.IntN(4) {
				avp.Attribute = append(avp.Attribute, byte(ref.Code), byte(random.IntN(6)))
				avp.Attribute = append(avp.Attribute, make([]byte, random.IntN(5))...)
			}
		} else {
			avp.Attribute = make(radius.Attribute, random.IntN(6))
			for i := range avp.Attribute {
				avp.Attribute[i] = byte(random.IntN(64))
			}
		}
		var want, got [][]byte
		for v := range ref.Values(radius.Attributes{avp}) {
			want = append(want, v)
		}
		for r, v := range dict.Default().All(avp) {
			if r.Attr != nil && r.Same(ref.Attr) {
				got = append(got, v)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %x: got %x, want %x", seed, avp.Attribute, got, want)
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("seed %d: %x: got %x, want %x", seed, avp.Attribute, got, want)
			}
		}
	}
}
