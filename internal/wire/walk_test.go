package wire_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// pairs are what a walk comes by, as text; after most of them it is left.
func pairs[K ~byte | ~int](walk iter.Seq2[K, []byte], most int) (list []string) {
	for t, value := range walk {
		if list = append(list, fmt.Sprintf("%d=%x", t, value)); len(list) == most {
			break
		}
	}
	return list
}

func TestAttributes(t *testing.T) {
	p := &radius.Packet{Code: radius.CodeAccessRequest, Secret: []byte("x")}
	var want []string
	for n := range 30 {
		value := make(radius.Attribute, n*n%254)
		p.Add(radius.Type(n+1), value)
		want = append(want, fmt.Sprintf("%d=%x", n+1, []byte(value)))
	}
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	walk := wire.Attributes(b[wire.HeaderLength:])
	for range 2 { // it can be gone through again
		if got := pairs(walk, -1); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := pairs(walk, 7); !slices.Equal(got, want[:7]) {
		t.Errorf("left after 7: got %q", got)
	}
	if got := pairs(wire.Attributes(nil), -1); got != nil {
		t.Errorf("of no octets: %q", got)
	}
}

func TestVendorAttributes(t *testing.T) {
	for _, tc := range []struct {
		value string
		want  []string
	}{
		{"", nil},
		{"\x00\x00\x01", nil},
		{"\x00\x00\x01\x37", nil},
		{"\x00\x00\x01\x37\x19", nil},
		{"\x00\x00\x01\x37\x19\x02", []string{"25="}},
		{"\x00\x00\x01\x37\x19\x04ab", []string{"25=6162"}},
		{"\x00\x00\x01\x37\x19\x04ab\x1a\x03c", []string{"25=6162", "26=63"}},
		{"\x00\x00\x01\x37\x19\x04ab\x1a\x03", []string{"25=6162"}},
		{"\x00\x00\x01\x37\x19\x04ab\x1a\x01c", []string{"25=6162"}},
		{"\x00\x00\x01\x37\x19\x00ab", nil},
		{"\x00\x00\x01\x37\x19\xffab", nil},
		{"\x00\x00\x00\x09\x19\x04ab", nil},
	} {
		if got := pairs(wire.VendorAttributes([]byte(tc.value), 311), -1); !slices.Equal(got, tc.want) {
			t.Errorf("%x: got %q, want %q", tc.value, got, tc.want)
		}
	}
	if got := pairs(wire.VendorAttributes([]byte("\x00\x00\x01\x37\x19\x04ab\x1a\x03c"), 311), 1); len(got) != 1 {
		t.Errorf("left after one: got %q", got)
	}
}

// FuzzVendorAttributes walks beside a reference that goes by index.
func FuzzVendorAttributes(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x37\x19\x04ab\x1a\x03c"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var want []string
		if len(b) >= 4 && [4]byte(b) == [4]byte{0, 0, 1, 55} {
			for i := 4; i+2 <= len(b) && b[i+1] >= 2 && i+int(b[i+1]) <= len(b); i += int(b[i+1]) {
				want = append(want, fmt.Sprintf("%d=%x", b[i], b[i+2:i+int(b[i+1])]))
			}
		}
		if got := pairs(wire.VendorAttributes(b, 311), -1); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestWalksDoNotAllocate(t *testing.T) {
	b := []byte("\x01\x03a\x1a\x0d\x00\x00\x01\x37\x19\x04ab\x1a\x03c")
	n := 0
	allocations := testing.AllocsPerRun(100, func() {
		for typ, value := range wire.Attributes(b) {
			if typ == 26 {
				for range wire.VendorAttributes(value, 311) {
					n++
				}
			}
		}
	})
	if allocations != 0 || n != 2*101 { // once more, to warm up
		t.Errorf("%v allocations, %d attributes", allocations, n)
	}
}
