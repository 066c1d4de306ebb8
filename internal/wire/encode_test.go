package wire_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// wantReply builds the reply in the slow way: what must be in it, in order, signed.
func wantReply(code byte, request []byte, ma bool, attributes ...[]byte) []byte {
	if ma {
		attributes = slices.Insert(attributes, 0, ma0)
	}
	list, _ := refParse(request, 0)
	for _, a := range list {
		if a.typ == 33 {
			attributes = append(attributes, avp(33, string(a.value)))
		}
	}
	return signReply(packet(code, request[1], [16]byte{}, attributes...), wire.Authenticator(request), testSecret)
}

func TestReplyToEveryRequest(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	replies := map[byte][]byte{
		1:  {2, 3, 11, 52},
		4:  {5, 52},
		12: {2, 5, 52},
		40: {41, 42, 52},
		43: {44, 45, 52},
	}
	proxied := slices.Concat(avp(33, "one"), avp(1, "nemo"), avp(33, ""), avp(33, "three"))
	for request := range replies {
		for _, ma := range []bool{false, true} {
			if request == 12 && !ma {
				continue
			}
			b := packet(request, 200, [16]byte{1, 2, 3}, proxied)
			if ma {
				b = packet(request, 200, [16]byte{1, 2, 3}, proxied, ma0)
			}
			b = append(sign(b, testSecret), "padding"...)
			s := mustParse(t, b)
			for reply := range 256 {
				resp := &radius.Packet{Code: radius.Code(reply), Attributes: radius.Attributes{
					{Type: 18, Attribute: radius.Attribute("hello")},
					{Type: 25},
				}}
				got, err := wire.Encode(dirty("dst"), resp, b, s, secret)
				if !slices.Contains(replies[request], byte(reply)) {
					if !errors.Is(err, wire.ErrCode) || string(got) != "dst" {
						t.Errorf("%d answered by %d: %q, %v", request, reply, got, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%d answered by %d: %v", request, reply, err)
				}
				withMA := request == 1 || request == 12 || reply == 52 || ma
				want := wantReply(byte(reply), b[:s.Length], withMA, avp(18, "hello"), avp(25, ""))
				if string(got) != "dst"+string(want) {
					t.Errorf("%d (Message-Authenticator: %v) answered by %d:\n%x, want\n%x", request, ma, reply, got[3:], want)
				}
				if !wire.VerifyResponse(want, mustParse(t, want), wire.Authenticator(b), secret) {
					t.Errorf("%d answered by %d does not verify", request, reply)
				}
			}
		}
	}
}

func TestWhatNoRequestGetsNoReply(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	for _, request := range []byte{2, 3, 5, 11, 13, 41, 42, 44, 45, 52} {
		b := packet(request, 1, [16]byte{})
		for reply := range 256 {
			_, err := wire.Encode(nil, &radius.Packet{Code: radius.Code(reply)}, b, mustParse(t, b), secret)
			if !errors.Is(err, wire.ErrCode) {
				t.Errorf("%d answered by %d: %v", request, reply, err)
			}
		}
	}
}

// A handler that edited the request, and put attributes into the reply that are
// not its to give, gets the reply that one gets who did not.
func TestReplyOwesNothingToTheHandlersEdits(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	a := newPool(t).Get()
	defer a.Release()
	b := a.Copy(sign(packet(1, 7, [16]byte{1}, ma0, avp(33, "a"), avp(1, "nemo"), avp(33, "b")), testSecret))
	s := mustParse(t, b)
	want := wantReply(2, bytes.Clone(b), true, avp(18, "hello"))

	var p radius.Packet
	wire.Decode(a, b, s, &p)
	p.Identifier, p.Authenticator = 8, [16]byte{9}
	for _, v := range p.Attributes {
		if v.Type == 33 {
			v.Attribute[0] = '!'
		}
	}
	p.Attributes.Del(33)
	resp := &radius.Packet{Code: 2, Identifier: 99, Authenticator: [16]byte{99}, Attributes: radius.Attributes{
		{Type: 33, Attribute: radius.Attribute("forged")},
		{Type: 80, Attribute: radius.Attribute("forged")},
		{Type: 18, Attribute: radius.Attribute("hello")},
		{Type: 80, Attribute: make([]byte, 300)}, // ignored, so not even too long
		{Type: 33},
	}}
	got, err := wire.Encode(nil, resp, b, s, secret)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v, want\n%x", got, err, want)
	}
}

func TestAccountingReplyIsLayehs(t *testing.T) {
	r := newRand(t)
	secret := wire.NewSecret([]byte(testSecret))
	for range 300 {
		b := sign(packet(4, byte(r.Uint32()), [16]byte{}, avp(1, randomString(r, r.IntN(20)))), testSecret)
		request, err := radius.Parse(b, []byte(testSecret))
		if err != nil {
			t.Fatal(err)
		}
		resp := request.Response(radius.CodeAccountingResponse)
		for range r.IntN(10) {
			resp.Add(radius.Type(81+r.IntN(175)), []byte(randomString(r, r.IntN(254))))
		}
		want, err := resp.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.Encode(nil, resp, b, mustParse(t, b), secret)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%x, %v, layeh has\n%x", got, err, want)
		}
	}
}

func TestEncodeErrorsNameTheAttribute(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	full := func(last int) radius.Attributes { // 16 attributes of 255 octets leave less than one more
		attributes := radius.Attributes{}
		for range 15 {
			attributes.Add(18, make([]byte, 253))
		}
		attributes.Add(25, make([]byte, last))
		return attributes
	}
	many := full(231)
	plain := packet(1, 1, [16]byte{}, avp(1, "nemo"))
	proxied := packet(1, 1, [16]byte{}, avp(33, "state"))
	for _, c := range []struct {
		name       string
		request    []byte
		attributes radius.Attributes
		want       error
		text       string
	}{
		{"type 0", plain, radius.Attributes{{Type: 0}}, wire.ErrAttributeType, "attribute 0"},
		{"type 256", plain, radius.Attributes{{Type: 1}, {Type: 256}}, wire.ErrAttributeType, "attribute 256"},
		{"type invalid", plain, radius.Attributes{{Type: radius.TypeInvalid}}, wire.ErrAttributeType, "attribute -1"},
		{"nil", plain, radius.Attributes{{Type: 1}, nil, {Type: 1}}, wire.ErrNilAttribute, "number 2 of 3"},
		{"value of 254", plain, radius.Attributes{{Type: 18, Attribute: make([]byte, 254)}}, wire.ErrValueTooLong, "attribute 18 (Reply-Message) has 254"},
		{"no name", plain, radius.Attributes{{Type: 241, Attribute: make([]byte, 254)}}, wire.ErrValueTooLong, "attribute 241 has 254"},
		{"one octet too many", plain, append(full(231), &radius.AVP{Type: 24}), wire.ErrPacketTooLong, "attribute 24 (State), number 17 of 17"},
		{"last too long", plain, full(232), wire.ErrPacketTooLong, "attribute 25 (Class), number 16 of 16"},
		{"no room for Proxy-State", proxied, many, wire.ErrPacketTooLong, "attribute 33 (Proxy-State) of the request"},
		{"exactly full", plain, many, nil, ""},
		{"exactly full with Proxy-State", proxied, full(224), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustParse(t, c.request)
			dst := append(make([]byte, 0, 8192), "dst"...)
			got, err := wire.Encode(dst, &radius.Packet{Code: 2, Attributes: c.attributes}, c.request, s, secret)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if err != nil && (!strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "wire: ") || string(got) != "dst") {
				t.Errorf("%q, %v", got, err)
			}
			if err == nil && len(got) != len("dst")+wire.MaxPacketLength {
				t.Errorf("%d octets", len(got)-3)
			}
		})
	}
}

func TestEncodersWantSecret(t *testing.T) {
	b := packet(1, 1, [16]byte{})
	for _, secret := range []*wire.Secret{nil, {}, wire.NewSecret(nil)} {
		if got, err := wire.Encode([]byte("dst"), &radius.Packet{Code: 2}, b, mustParse(t, b), secret); !errors.Is(err, wire.ErrNoSecret) || string(got) != "dst" {
			t.Errorf("Encode: %q, %v", got, err)
		}
		if got, err := wire.EncodeRequest([]byte("dst"), &radius.Packet{Code: 1}, secret); !errors.Is(err, wire.ErrNoSecret) || string(got) != "dst" {
			t.Errorf("EncodeRequest: %q, %v", got, err)
		}
	}
}

func TestEncodeRequest(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	random := [16]byte{1, 2, 3}
	plain := radius.Attributes{
		{Type: 1, Attribute: radius.Attribute("nemo")},
		{Type: 33, Attribute: radius.Attribute("a")},
		{Type: 40, Attribute: radius.NewInteger(1)},
		{Type: 33, Attribute: radius.Attribute("b")},
	}
	rest := slices.Concat(avp(1, "nemo"), avp(33, "a"), avp(40, "\x00\x00\x00\x01"), avp(33, "b"))
	for code := range 256 {
		for _, ma := range []bool{false, true} {
			p := &radius.Packet{Code: radius.Code(code), Identifier: 42, Authenticator: random, Attributes: plain}
			if ma {
				p.Attributes = append(slices.Clone(plain), &radius.AVP{Type: 80})
			}
			got, err := wire.EncodeRequest(dirty("dst"), p, secret)
			var want []byte
			switch {
			case code == 1, code == 12:
				want = packet(byte(code), 42, random, ma0, rest)
			case code != 4 && code != 40 && code != 43:
				if !errors.Is(err, wire.ErrCode) || string(got) != "dst" {
					t.Errorf("code %d: %q, %v", code, got, err)
				}
				continue
			case ma:
				want = packet(byte(code), 42, random, ma0, rest)
			default:
				want = packet(byte(code), 42, random, rest)
				p.Secret = []byte(testSecret)
				if layeh, err := p.Encode(); err != nil || !bytes.Equal(layeh, sign(want, testSecret)) {
					t.Errorf("code %d: layeh has %x, %v", code, layeh, err)
				}
			}
			if want = sign(want, testSecret); err != nil || string(got) != "dst"+string(want) {
				t.Errorf("code %d: %x, %v, want\n%x", code, got, err, want)
			}
			if s := mustParse(t, want); !wire.Verify(want, s, secret) || s.AcctStatusType != 1 {
				t.Errorf("code %d does not verify", code)
			}
		}
	}
}
