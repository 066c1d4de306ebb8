package eap_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/radpool/radpool/eap"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]struct {
		packet eap.Packet
		err    error
	}{
		"":                             {err: eap.ErrTooShort},
		"\x02\x01\x00":                 {err: eap.ErrTooShort},
		"\x02\x01\x00\x04":             {err: eap.ErrTooShort}, // a Response without a Type
		"\x02\x01\x00\x03\x01":         {err: eap.ErrTooShort},
		"\x02\x01\x00\x07\x01x":        {err: eap.ErrTooShort}, // cut off
		"\x02\x01\x10\x01\x01":         {err: eap.ErrTooLong},
		"\x00\x01\x00\x04":             {err: eap.ErrCode},
		"\x05\x01\x00\x05\x01":         {err: eap.ErrCode},
		"\x02\x01\x00\x05\x01":         {packet: eap.Packet{Code: eap.CodeResponse, Identifier: 1, Type: eap.TypeIdentity}},
		"\x01\xff\x00\x07\x04ab":       {packet: eap.Packet{Code: eap.CodeRequest, Identifier: 255, Type: eap.TypeMD5, Data: []byte("ab")}},
		"\x02\x01\x00\x06\x01ab and w": {packet: eap.Packet{Code: eap.CodeResponse, Identifier: 1, Type: eap.TypeIdentity, Data: []byte("a")}},
		"\x03\x09\x00\x04":             {packet: eap.Packet{Code: eap.CodeSuccess, Identifier: 9}},
		"\x04\x09\x00\x05x":            {packet: eap.Packet{Code: eap.CodeFailure, Identifier: 9}},
	} {
		got, err := eap.Parse([]byte(in))
		if !errors.Is(err, want.err) || got.Code != want.packet.Code || got.Identifier != want.packet.Identifier ||
			got.Type != want.packet.Type || !bytes.Equal(got.Data, want.packet.Data) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

func TestNames(t *testing.T) {
	got := fmt.Sprint(eap.CodeRequest, eap.CodeResponse, eap.CodeSuccess, eap.CodeFailure, eap.Code(9), " ",
		eap.TypeNAK, eap.TypeMSCHAPv2, eap.Type(99))
	if want := "Request Response Success Failure Code(9) NAK MSCHAPv2 Type(99)"; got != want {
		t.Errorf("%q", got)
	}
}

// FuzzParse: what is parsed and put together again is the packet without what it had
// too much.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "\x02\x01\x00\x05\x01", "\x01\xff\x00\x07\x04abcd", "\x03\x09\x00\x04"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := eap.Parse(b)
		if err != nil {
			return
		}
		out := p.Append(nil)
		if p.Code == eap.CodeRequest || p.Code == eap.CodeResponse {
			if !bytes.HasPrefix(b, out) {
				t.Fatalf("%x became %x", b, out)
			}
		}
		again, err := eap.Parse(out)
		if err != nil || again.Code != p.Code || again.Identifier != p.Identifier || again.Type != p.Type || !bytes.Equal(again.Data, p.Data) {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
	})
}

func TestFragments(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {1}, 253: {253}, 254: {253, 1}, 1000: {253, 253, 253, 241}} {
		packet := bytes.Repeat([]byte("x"), n)
		var lengths []int
		var whole []byte
		eap.Fragments(packet, func(v []byte) { lengths, whole = append(lengths, len(v)), append(whole, v...) })
		if fmt.Sprint(lengths) != fmt.Sprint(want) || !bytes.Equal(whole, packet) {
			t.Errorf("%d octets: %v, want %v", n, lengths, want)
		}
	}
}
