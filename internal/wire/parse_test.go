package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/wire"
)

// raw is a packet of the code whose attributes are the octets as they stand, with
// a Length field that is right.
func raw(code byte, attributes ...byte) []byte { return packet(code, 7, [16]byte{}, attributes) }

// resize overwrites the Length field.
func resize(b []byte, length int) []byte {
	b[2], b[3] = byte(length>>8), byte(length)
	return b
}

var (
	ma0 = avp(80, strings.Repeat("\x00", 16))

	malformedCases = []struct {
		name      string
		datagram  []byte
		want      wire.Malformed
		explained string
	}{
		{"nothing", nil, wire.DatagramTooShort, "shorter than 4"},
		{"three octets", []byte{1, 0, 0}, wire.DatagramTooShort, "shorter than 4"},
		{"length field 0", resize(raw(1), 0), wire.LengthTooSmall, "(Length 0)"},
		{"length field 19", resize(raw(1), 19), wire.LengthTooSmall, "(Length 19)"},
		{"length field 4097", resize(append(raw(1), make([]byte, 4100)...), 4097), wire.LengthTooLarge, "(Length 4097)"},
		{"length field 65535", resize(raw(1), 65535), wire.LengthTooLarge, "(Length 65535)"},
		{"four octets", resize(raw(1), 20)[:4], wire.HeaderCut, "20 octets of a header"},
		{"nineteen octets", resize(raw(1), 20)[:19], wire.HeaderCut, "20 octets of a header"},
		{"cut by one octet", raw(1, 1, 3, 'a')[:22], wire.DatagramCut, "(Length 23)"},
		{"header only, length says more", resize(raw(1), 4096), wire.DatagramCut, "(Length 4096)"},
		{"code 0", raw(0), wire.UnknownCode, "code 0"},
		{"code 6", raw(6), wire.UnknownCode, "code 6"},
		{"code 53", raw(53), wire.UnknownCode, "code 53"},
		{"code 255", raw(255), wire.UnknownCode, "code 255"},
		{"one trailing octet", raw(1, 1, 3, 'a', 9), wire.AttributeHeaderCut, "at octet 23"},
		{"a lone octet", raw(1, 1), wire.AttributeHeaderCut, "at octet 20"},
		{"trailing octet uncovered by Length", resize(raw(1, 1, 3, 'a', 4, 6, 1, 1, 1, 1), 24), wire.AttributeHeaderCut, "at octet 23"},
		{"type 0", raw(1, 0, 3, 'a'), wire.AttributeTypeZero, "at octet 20"},
		{"type 0 after others", raw(1, 1, 3, 'a', 0, 2), wire.AttributeTypeZero, "at octet 23"},
		{"attribute length 0", raw(1, 1, 0), wire.AttributeLengthTooSmall, "1 (User-Name) at octet 20"},
		{"attribute length 1", raw(1, 1, 3, 'a', 26, 1, 0), wire.AttributeLengthTooSmall, "26 (Vendor-Specific) at octet 23"},
		{"overrun by one", raw(1, 1, 4, 'a'), wire.AttributeOverrun, "1 (User-Name) at octet 20"},
		{"overrun by many", raw(1, 1, 3, 'a', 241, 255), wire.AttributeOverrun, "241 at octet 23"},
		{"overrun into padding", resize(raw(1, 1, 5, 'a', 'b', 'c'), 24), wire.AttributeOverrun, "1 (User-Name) at octet 20"},
		{"five attributes of four", raw(1, 1, 2, 1, 2, 1, 2, 1, 2, 25, 2), wire.TooManyAttributes, "25 (Class) at octet 28"},
		{"empty Message-Authenticator", raw(1, 80, 2), wire.MessageAuthenticatorLength, "80 (Message-Authenticator) at octet 20"},
		{"Message-Authenticator short", raw(1, avp(80, strings.Repeat("x", 15))...), wire.MessageAuthenticatorLength, "at octet 20"},
		{"Message-Authenticator long", raw(1, avp(80, strings.Repeat("x", 17))...), wire.MessageAuthenticatorLength, "at octet 20"},
		{"two Message-Authenticators", raw(1, slices.Concat(ma0, ma0)...), wire.MessageAuthenticatorRepeated, "at octet 38"},
		{"EAP-Message and User-Password", raw(1, slices.Concat(avp(79, "e"), avp(2, "p"), ma0)...), wire.EAPWithUserPassword, "User-Password"},
		{"User-Password and EAP-Message", raw(1, slices.Concat(avp(2, "p"), ma0, avp(79, "e"))...), wire.EAPWithUserPassword, "User-Password"},
		{"EAP-Message and CHAP-Password", raw(1, slices.Concat(avp(79, "e"), avp(3, "p"), ma0)...), wire.EAPWithCHAPPassword, "CHAP-Password"},
		{"EAP-Message and ARAP-Password", raw(1, slices.Concat(avp(79, "e"), avp(70, "p"), ma0)...), wire.EAPWithARAPPassword, "ARAP-Password"},

		{"header alone", raw(1), wire.WellFormed, "well-formed"},
		{"padding after Length", append(raw(1, 1, 3, 'a'), 0, 0, 7), wire.WellFormed, "well-formed"},
		{"padding far beyond 4096", append(raw(1, 1, 3, 'a'), make([]byte, 9000)...), wire.WellFormed, "well-formed"},
		{"attributes without values", raw(1, 1, 2, 33, 2, 79, 2, 40, 2), wire.WellFormed, "well-formed"},
		{"four attributes of four", raw(1, 1, 2, 1, 2, 1, 2, 1, 2), wire.WellFormed, "well-formed"},
		{"Message-Authenticator last", raw(1, slices.Concat(avp(1, "u"), ma0)...), wire.WellFormed, "well-formed"},
		{"User-Password and CHAP-Password", raw(1, slices.Concat(avp(2, "p"), avp(3, "p"))...), wire.WellFormed, "well-formed"},
		{"Protocol-Error", raw(52), wire.WellFormed, "well-formed"},
	}
)

func TestEveryMalformedCaseIsNamed(t *testing.T) {
	seen := map[wire.Malformed]bool{}
	for _, c := range malformedCases {
		t.Run(c.name, func(t *testing.T) {
			if got := checkParse(t, c.datagram, 4); got != c.want {
				t.Fatalf("the reference says %v, want %v", got, c.want)
			}
			s, got := wire.Parse(c.datagram, 4)
			if text := s.Explain(got); got != c.want || !strings.Contains(text, c.explained) {
				t.Errorf("%v: %q, want %v and %q", got, text, c.want, c.explained)
			}
			seen[c.want] = true
		})
	}
	for m := range wire.Malformed(wire.MalformedKinds) {
		if !seen[m] {
			t.Errorf("no case for %v", m)
		}
	}
}

func TestMalformedTextsAreDistinct(t *testing.T) {
	texts := map[string]wire.Malformed{}
	for m := range wire.Malformed(wire.MalformedKinds) {
		if other, ok := texts[m.String()]; ok || m.String() == "" {
			t.Errorf("%d and %d: %q", m, other, m)
		}
		texts[m.String()] = m
	}
	if got := wire.Malformed(wire.MalformedKinds).String(); got != "Malformed(17)" {
		t.Errorf("out of range: %q", got)
	}
}

func TestEveryCodeIsJudged(t *testing.T) {
	for code := range 256 {
		checkParse(t, raw(byte(code), 1, 3, 'a'), 0)
	}
}

func TestParseAgreesWithReference(t *testing.T) {
	r := newRand(t)
	seen := map[wire.Malformed]int{}
	for range 30_000 {
		b := randomPacket(r, refCodes[r.IntN(len(refCodes))], r.IntN(2) == 0)
		for range r.IntN(3) {
			switch i := r.IntN(len(b)); r.IntN(6) {
			case 0:
				b[i] = byte(r.Uint32())
			case 1:
				b = b[:max(i, 1)]
			case 2:
				resize(append(b, 0, 0, 0, 0), r.IntN(len(b)+3))
			case 3:
				b = append(b, byte(r.Uint32()))
			case 4:
				b = slices.Concat(b, avp(79, "e"), avp([]byte{2, 3, 70, 80}[r.IntN(4)], randomString(r, 16)))
				resize(append(b, 0, 0, 0, 0), len(b))
			case 5:
				b[i] = byte(r.IntN(3))
			}
		}
		seen[checkParse(t, b, r.IntN(14))]++
	}
	for m := range wire.Malformed(wire.MalformedKinds) {
		if seen[m] == 0 && m != wire.LengthTooLarge { // two octets have to fall together for it
			t.Errorf("no random datagram was %v", m)
		}
	}
}

func TestLargestPacketIsParsed(t *testing.T) {
	b := raw(4, slices.Repeat([]byte{25, 2}, 2038)...)
	if s := mustParse(t, b); s.Attributes != 2038 || s.Length != wire.MaxPacketLength {
		t.Errorf("%d attributes in %d octets", s.Attributes, s.Length)
	}
	if _, fault := wire.Parse(b, 2037); fault != wire.TooManyAttributes {
		t.Errorf("%v", fault)
	}
}
