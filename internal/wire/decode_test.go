package wire_test

import (
	"bytes"
	"reflect"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
)

func newPool(t testing.TB) *arena.Pool {
	t.Helper()
	pool, err := arena.NewPool(arena.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

func TestDecodeAgreesWithLayeh(t *testing.T) {
	r := newRand(t)
	pool := newPool(t)
	for range 3000 {
		b := randomPacket(r, refCodes[r.IntN(len(refCodes))], r.IntN(2) == 0)
		want, err := radius.Parse(b, []byte("s"))
		if err != nil {
			t.Fatal(err)
		}
		a := pool.Get()
		datagram := a.Copy(append(b, "padding"...))
		got := radius.Packet{Secret: []byte("s"), Attributes: radius.Attributes{nil}} // what was there goes
		wire.Decode(a, datagram, mustParse(t, datagram), &got)
		if !reflect.DeepEqual(&got, want) {
			t.Fatalf("%x: %+v, layeh has %+v", b, got, want)
		}
		a.Release()
	}
}

// A handler may append to values and to the list, and edit values in place:
// nothing of that may reach another attribute, and the header and the Proxy-States
// of the datagram have to survive all of it.
func TestDecodedAttributesAreApart(t *testing.T) {
	a := newPool(t).Get()
	defer a.Release()
	b := a.Copy(packet(1, 7, [16]byte{1}, avp(33, "first"), avp(1, "nemo"), avp(1, "other"), avp(33, "last"), avp(25, "class")))
	before := bytes.Clone(b)
	var p radius.Packet
	wire.Decode(a, b, mustParse(t, b), &p)

	for i, v := range p.Attributes {
		if cap(v.Attribute) != len(v.Attribute) {
			t.Errorf("attribute %d: length %d, capacity %d", i, len(v.Attribute), cap(v.Attribute))
		}
		_ = append(v.Attribute, "overrun"...)
	}
	if cap(p.Attributes) != len(p.Attributes) {
		t.Errorf("attributes: length %d, capacity %d", len(p.Attributes), cap(p.Attributes))
	}
	if !bytes.Equal(b, before) {
		t.Fatalf("append changed the datagram: %x, was %x", b, before)
	}

	for _, v := range p.Attributes {
		for i := range v.Attribute {
			v.Attribute[i] = 'X'
		}
	}
	p.Identifier, p.Authenticator = 99, [16]byte{99}
	want := packet(1, 7, [16]byte{1}, avp(33, "first"), avp(1, "XXXX"), avp(1, "XXXXX"), avp(33, "last"), avp(25, "XXXXX"))
	if !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
}

func TestDecodeWithoutAttributes(t *testing.T) {
	b := packet(1, 7, [16]byte{1})
	p := radius.Packet{Attributes: radius.Attributes{{Type: 1}}}
	wire.Decode(nil, b, mustParse(t, b), &p)
	if p.Code != 1 || p.Identifier != 7 || p.Authenticator != [16]byte{1} || len(p.Attributes) != 0 {
		t.Errorf("%+v", p)
	}
}
