package wire_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// This file holds the slow second opinions: written for being obviously right,
// with as little in common with the package as the rules allow.

type refAttribute struct {
	at    int
	typ   byte
	value []byte
}

var refCodes = []byte{1, 2, 3, 4, 5, 11, 12, 13, 40, 41, 42, 43, 44, 45, 52}

// refParse cuts a datagram into attributes, or says what is wrong with it.
func refParse(b []byte, maxAttributes int) ([]refAttribute, wire.Malformed) {
	if len(b) < 4 {
		return nil, wire.DatagramTooShort
	}
	length := int(b[2])*256 + int(b[3])
	if length < 20 {
		return nil, wire.LengthTooSmall
	}
	if length > 4096 {
		return nil, wire.LengthTooLarge
	}
	if len(b) < 20 {
		return nil, wire.HeaderCut
	}
	if len(b) < length {
		return nil, wire.DatagramCut
	}
	if !slices.Contains(refCodes, b[0]) {
		return nil, wire.UnknownCode
	}
	var attributes []refAttribute
	rest := b[20:length]
	for len(rest) > 0 {
		if len(rest) == 1 {
			return nil, wire.AttributeHeaderCut
		}
		if rest[0] == 0 {
			return nil, wire.AttributeTypeZero
		}
		if rest[1] == 0 || rest[1] == 1 {
			return nil, wire.AttributeLengthTooSmall
		}
		if int(rest[1]) > len(rest) {
			return nil, wire.AttributeOverrun
		}
		if maxAttributes > 0 && len(attributes) == maxAttributes {
			return nil, wire.TooManyAttributes
		}
		a := refAttribute{at: length - len(rest), typ: rest[0], value: rest[2:rest[1]]}
		if a.typ == 80 && len(a.value) != 16 {
			return nil, wire.MessageAuthenticatorLength
		}
		if a.typ == 80 && refFirst(attributes, 80) != nil {
			return nil, wire.MessageAuthenticatorRepeated
		}
		attributes = append(attributes, a)
		rest = rest[rest[1]:]
	}
	if refFirst(attributes, 79) != nil {
		for _, p := range []struct {
			typ   byte
			fault wire.Malformed
		}{{2, wire.EAPWithUserPassword}, {3, wire.EAPWithCHAPPassword}, {70, wire.EAPWithARAPPassword}} {
			if refFirst(attributes, p.typ) != nil {
				return nil, p.fault
			}
		}
	}
	return attributes, wire.WellFormed
}

func refFirst(attributes []refAttribute, typ byte) *refAttribute {
	for i := range attributes {
		if attributes[i].typ == typ {
			return &attributes[i]
		}
	}
	return nil
}

// checkParse compares Parse with refParse on one datagram and returns the fault.
func checkParse(t *testing.T, b []byte, maxAttributes int) wire.Malformed {
	t.Helper()
	attributes, want := refParse(b, maxAttributes)
	s, got := wire.Parse(b, maxAttributes)
	if got != want {
		t.Fatalf("Parse(%x, %d): %v, want %v", b, maxAttributes, got, want)
	}
	if s.Explain(got) == "" {
		t.Fatalf("Explain(%v) is empty", got)
	}
	if want != wire.WellFormed {
		return want
	}
	ma, status := 0, uint32(0)
	if a := refFirst(attributes, 80); a != nil {
		ma = a.at
	}
	if a := refFirst(attributes, 40); a != nil && len(a.value) == 4 {
		status = binary.BigEndian.Uint32(a.value)
	}
	facts := []struct {
		name      string
		got, want any
	}{
		{"Code", s.Code, radius.Code(b[0])},
		{"Identifier", s.Identifier, b[1]},
		{"Length", s.Length, int(b[2])*256 + int(b[3])},
		{"Attributes", s.Attributes, len(attributes)},
		{"MessageAuthenticator", s.MessageAuthenticator, ma},
		{"AcctStatusType", s.AcctStatusType, status},
		{"HasUserPassword", s.HasUserPassword(), refFirst(attributes, 2) != nil},
		{"HasCHAPPassword", s.HasCHAPPassword(), refFirst(attributes, 3) != nil},
		{"HasState", s.HasState(), refFirst(attributes, 24) != nil},
		{"HasProxyState", s.HasProxyState(), refFirst(attributes, 33) != nil},
		{"HasEAP", s.HasEAP(), refFirst(attributes, 79) != nil},
		{"HasMessageAuthenticator", s.HasMessageAuthenticator(), refFirst(attributes, 80) != nil},
		{"RequiresMessageAuthenticator", s.RequiresMessageAuthenticator(), b[0] == 12 || refFirst(attributes, 79) != nil},
		{"IsRequest", s.IsRequest(), slices.Contains([]byte{1, 4, 12, 40, 43}, b[0])},
		{"Authenticator", wire.Authenticator(b), [16]byte(b[4:20])},
	}
	for _, f := range facts {
		if f.got != f.want {
			t.Fatalf("%s of %x: %v, want %v", f.name, b, f.got, f.want)
		}
	}
	return want
}

// refSignature is MD5 over the packet with authenticator in its header, and the secret.
func refSignature(b []byte, authenticator [16]byte, secret string) [16]byte {
	m := slices.Concat(b[:4], authenticator[:], b[20:], []byte(secret))
	return md5.Sum(m)
}

// refMessageAuthenticator is HMAC-MD5 over the packet with authenticator in its
// header and zeros in the value of every Message-Authenticator.
func refMessageAuthenticator(b []byte, authenticator [16]byte, secret string) []byte {
	m := slices.Concat(b[:4], authenticator[:], b[20:])
	for i := 20; i < len(m); i += int(m[i+1]) {
		if m[i] == 80 {
			clear(m[i+2 : i+int(m[i+1])])
		}
	}
	h := hmac.New(md5.New, []byte(secret))
	h.Write(m)
	return h.Sum(nil)
}

// avp is the encoding of one attribute.
func avp(typ byte, value string) []byte {
	return append([]byte{typ, byte(2 + len(value))}, value...)
}

// packet is the encoding of a packet, unsigned.
func packet(code, identifier byte, authenticator [16]byte, attributes ...[]byte) []byte {
	all := slices.Concat(attributes...)
	b := append([]byte{code, identifier}, binary.BigEndian.AppendUint16(nil, uint16(20+len(all)))...)
	return slices.Concat(b, authenticator[:], all)
}

// sign fills in the Message-Authenticator, if there is one, and then the Request
// Authenticator of those requests that sign themselves.
func sign(b []byte, secret string) []byte {
	authenticator := [16]byte(b[4:20])
	signed := b[0] == 4 || b[0] == 40 || b[0] == 43
	if signed {
		authenticator = [16]byte{}
	}
	mac := refMessageAuthenticator(b, authenticator, secret)
	for i := 20; i < len(b); i += int(b[i+1]) {
		if b[i] == 80 {
			copy(b[i+2:], mac)
		}
	}
	if signed {
		sum := refSignature(b, authenticator, secret)
		copy(b[4:], sum[:])
	}
	return b
}

// newRand is a source of random packets that a failing test can be repeated with.
func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func randomString(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func randomAuthenticator(r *rand.Rand) [16]byte { return [16]byte([]byte(randomString(r, 16))) }

// randomPacket is a well-formed packet of the code, with a Message-Authenticator
// somewhere if ma says so.
func randomPacket(r *rand.Rand, code byte, ma bool) []byte {
	types := []byte{1, 2, 4, 18, 24, 25, 26, 33, 33, 40, 44, 46, 255}
	var attributes [][]byte
	for range r.IntN(12) {
		n := r.IntN(20)
		if r.IntN(10) == 0 {
			n = r.IntN(254)
		}
		attributes = append(attributes, avp(types[r.IntN(len(types))], randomString(r, n)))
	}
	if ma {
		attributes = slices.Insert(attributes, r.IntN(len(attributes)+1), avp(80, randomString(r, 16)))
	}
	return packet(code, byte(r.Uint32()), randomAuthenticator(r), attributes...)
}

// dirty is s as a slice with room behind it, full of what the last packet left there.
func dirty(s string) []byte {
	return append([]byte(s), bytes.Repeat([]byte{0xa5}, wire.MaxPacketLength)...)[:len(s)]
}

// mustParse is the shape of a datagram that has to be well-formed.
func mustParse(t testing.TB, b []byte) *wire.Shape {
	t.Helper()
	s, fault := wire.Parse(b, 0)
	if fault != wire.WellFormed {
		t.Fatalf("%x: %s", b, s.Explain(fault))
	}
	return &s
}
