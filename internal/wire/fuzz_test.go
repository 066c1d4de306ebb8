package wire_test

import (
	"bytes"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

func FuzzParse(f *testing.F) {
	for _, c := range malformedCases {
		f.Add(c.datagram, 4)
	}
	for _, e := range exchanges {
		f.Add(unhex(f, e.request), 200)
		f.Add(unhex(f, e.reply), 0)
	}
	secret := wire.NewSecret([]byte(testSecret))
	f.Fuzz(func(t *testing.T, b []byte, maxAttributes int) {
		before := bytes.Clone(b)
		if checkParse(t, b, maxAttributes) != wire.WellFormed {
			return
		}
		s := mustParse(t, b)
		wire.Verify(b, s, secret)
		wire.VerifyResponse(b, s, [16]byte{}, secret)
		if !bytes.Equal(b, before) {
			t.Fatalf("%x became %x", before, b)
		}

		var p radius.Packet
		wire.Decode(nil, b, s, &p)
		if again, err := p.MarshalBinary(); err != nil || !bytes.Equal(again, b[:s.Length]) {
			t.Fatalf("%x decoded and encoded is %x, %v", b[:s.Length], again, err)
		}
		if s.IsRequest() {
			checkRequestRoundTrip(t, &p, secret)
			checkReply(t, &p, b, s, secret)
		}
	})
}

// checkRequestRoundTrip encodes a decoded request anew, and decodes it again.
func checkRequestRoundTrip(t *testing.T, p *radius.Packet, secret *wire.Secret) {
	t.Helper()
	b, err := wire.EncodeRequest(nil, p, secret)
	if err != nil {
		return // the Message-Authenticator that it gained did not fit
	}
	s := mustParse(t, b)
	if !wire.Verify(b, s, secret) {
		if s.RequiresMessageAuthenticator() && !s.HasMessageAuthenticator() {
			return // EAP-Message in a request that does not gain one
		}
		t.Fatalf("%x does not verify", b)
	}
	var q radius.Packet
	wire.Decode(nil, b, s, &q)
	p.Attributes.Del(80)
	q.Attributes.Del(80)
	if p.Code != q.Code || p.Identifier != q.Identifier || len(p.Attributes) != len(q.Attributes) {
		t.Fatalf("%+v became %+v", p, q)
	}
	for i, v := range p.Attributes {
		if w := q.Attributes[i]; v.Type != w.Type || !bytes.Equal(v.Attribute, w.Attribute) {
			t.Fatalf("attribute %d: %v became %v", i, v, w)
		}
	}
}

// checkReply answers a request with its own attributes.
func checkReply(t *testing.T, p *radius.Packet, b []byte, s *wire.Shape, secret *wire.Secret) {
	t.Helper()
	code := map[radius.Code]radius.Code{1: 2, 4: 5, 12: 2, 40: 41, 43: 44}[p.Code]
	reply, err := wire.Encode(nil, &radius.Packet{Code: code, Attributes: p.Attributes}, b, s, secret)
	if err != nil {
		return // no room
	}
	rs := mustParse(t, reply)
	eap := rs.HasEAP() && !rs.HasMessageAuthenticator()
	if !wire.VerifyResponse(reply, rs, wire.Authenticator(b), secret) && !eap {
		t.Fatalf("reply %x to %x does not verify", reply, b)
	}
	var sent, returned []string
	for _, list := range []struct {
		packet []byte
		states *[]string
	}{{b, &sent}, {reply, &returned}} {
		attributes, _ := refParse(list.packet, 0)
		for _, a := range attributes {
			if a.typ == 33 {
				*list.states = append(*list.states, string(a.value))
			}
		}
	}
	if len(sent) != len(returned) {
		t.Fatalf("Proxy-State: %q returned as %q", sent, returned)
	}
	for i := range sent {
		if sent[i] != returned[i] {
			t.Fatalf("Proxy-State: %q returned as %q", sent, returned)
		}
	}
}

func FuzzReveal(f *testing.F) {
	f.Add([]byte(""), []byte("secret"), []byte("0123456789abcdef"))
	f.Add(make([]byte, 16), []byte(testSecret), []byte("0123456789abcdef"))
	f.Add(make([]byte, 128), bytes.Repeat([]byte("long"), 40), []byte("0123456789abcdef"))
	f.Add(make([]byte, 17), []byte("s"), []byte("0123456789abcdef"))
	f.Fuzz(func(t *testing.T, hidden, key, auth16 []byte) {
		if len(auth16) != 16 {
			return
		}
		auth := [16]byte(auth16)
		secret := wire.NewSecret(key)
		got, err := wire.RevealPassword(nil, hidden, auth, secret)
		if legal := len(key) > 0 && len(hidden)%16 == 0 && len(hidden) <= 128; (err == nil) != legal {
			t.Fatalf("%d octets: %v", len(hidden), err)
		}
		if err != nil || len(hidden) == 0 {
			return
		}
		again, err := wire.HidePassword(nil, got, auth, secret)
		if err != nil || len(again) > len(hidden) || !bytes.HasPrefix(hidden, again[:len(got)]) {
			t.Fatalf("%x revealed as %q, hidden again as %x, %v", hidden, got, again, err)
		}
		if bytes.IndexByte(got, 0) >= 0 || len(again) != len(hidden) {
			return // layeh stops at the first NUL; shorter padding hides as less
		}
		if layeh, err := radius.UserPassword(hidden, key, auth16); err != nil || !bytes.Equal(layeh, got) {
			t.Fatalf("%x revealed as %q, layeh has %q, %v", hidden, got, layeh, err)
		}
	})
}
