package eap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/eap"
)

func identity(name string) eap.Packet {
	return eap.Packet{Code: eap.CodeResponse, Identifier: 200, Type: eap.TypeIdentity, Data: []byte(name)}
}

// all says yes or no to everything.
type all bool

func (a all) MD5(uint8, []byte, []byte) bool { return bool(a) }
func (a all) MSCHAPv2([]byte, []byte, string, []byte) (eap.MSCHAPv2Proof, bool) {
	return eap.MSCHAPv2Proof{Response: "S=" + strings.Repeat("A", 40), RecvKey: [16]byte{1}, SendKey: [16]byte{2}}, bool(a)
}
func (a all) Password([]byte) bool { return bool(a) }

// begin begins a conversation, and returns the first request.
func begin(t *testing.T, c *eap.Config) (*eap.Conversation, eap.Packet) {
	t.Helper()
	v, r := eap.Begin(c, identity("alice"), 1400)
	if r.Verdict != eap.Request {
		t.Fatalf("%+v", r)
	}
	t.Cleanup(v.Close)
	return v, parse(t, r)
}

func parse(t *testing.T, r eap.Result) eap.Packet {
	t.Helper()
	p, err := eap.Parse(r.Packet)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return p
}

// answer is the response to a request.
func answer(to eap.Packet, t eap.Type, data ...byte) eap.Packet {
	return eap.Packet{Code: eap.CodeResponse, Identifier: to.Identifier, Type: t, Data: data}
}

// msResponse is the Type-Data of an MSCHAPv2 response.
func msResponse(id byte, name string) []byte {
	b := append([]byte{2, id, 0, 0, 49}, make([]byte, 49)...)
	b = append(b, name...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

func TestIdentity(t *testing.T) {
	for name, c := range map[string]struct {
		in  eap.Packet
		err error
	}{
		"one octet":  {identity("a"), nil},
		"253 octets": {identity(strings.Repeat("a", 253)), nil},
		"254 octets": {identity(strings.Repeat("a", 254)), eap.ErrIdentity},
		"4 KB":       {identity(strings.Repeat("a", 4000)), eap.ErrIdentity},
		"empty":      {identity(""), eap.ErrIdentity},
		"a request":  {eap.Packet{Code: eap.CodeRequest, Type: eap.TypeIdentity, Data: []byte("a")}, eap.ErrNotIdentity},
		"a method":   {eap.Packet{Code: eap.CodeResponse, Type: eap.TypeMD5, Data: []byte("a")}, eap.ErrNotIdentity},
		"a NAK":      {eap.Packet{Code: eap.CodeResponse, Type: eap.TypeNAK, Data: []byte{4}}, eap.ErrNotIdentity},
	} {
		v, r := eap.Begin(&eap.Config{}, c.in, 0)
		if !errors.Is(r.Err, c.err) || (v == nil) != (c.err != nil) {
			t.Errorf("%s: %+v", name, r)
		}
		if p := parse(t, r); c.err != nil && (p.Code != eap.CodeFailure || p.Identifier != c.in.Identifier) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestMethodsAreChosen(t *testing.T) {
	for name, c := range map[string]struct {
		offer []eap.Method
		naks  [][]byte
		types string
		end   eap.Verdict
	}{
		"the first":              {nil, nil, "[MSCHAPv2]", eap.Request},
		"one that it wants":      {nil, [][]byte{{13, 4}}, "[MSCHAPv2 MD5]", eap.Request},
		"none":                   {nil, [][]byte{{0}}, "[MSCHAPv2]", eap.Failure},
		"nothing said":           {nil, [][]byte{{}}, "[MSCHAPv2]", eap.Failure},
		"those not offered":      {nil, [][]byte{{13, 25}}, "[MSCHAPv2]", eap.Failure},
		"the same again":         {nil, [][]byte{{26}}, "[MSCHAPv2]", eap.Failure},
		"round and round":        {nil, [][]byte{{4}, {26}}, "[MSCHAPv2 MD5]", eap.Failure},
		"the server's order":     {[]eap.Method{eap.MD5{}, long{}, eap.MSCHAPv2{}}, [][]byte{{26, 99}}, "[MD5 Type(99)]", eap.Request},
		"one alone":              {[]eap.Method{eap.MSCHAPv2{}}, [][]byte{{4}}, "[MSCHAPv2]", eap.Failure},
		"a method that fails":    {[]eap.Method{eap.MD5{}, broken{}}, [][]byte{{98}}, "[MD5]", eap.Failure},
		"all bytes there are, 2": {nil, [][]byte{everyByte(), everyByte()}, "[MSCHAPv2 MD5]", eap.Failure},
	} {
		v, last := begin(t, &eap.Config{Methods: c.offer})
		types := []eap.Type{last.Type}
		end := eap.Request
		for _, nak := range c.naks {
			r := v.Receive(answer(last, eap.TypeNAK, nak...))
			if end = r.Verdict; end != eap.Request {
				break
			}
			before := last
			if last = parse(t, r); last.Identifier == before.Identifier {
				t.Errorf("%s: the Identifier stays %d", name, last.Identifier)
			}
			types = append(types, last.Type)
		}
		if fmt.Sprint(types) != c.types || end != c.end {
			t.Errorf("%s: %v, %v", name, types, end)
		}
	}
}

func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func TestExpandedNAKIsNoMethod(t *testing.T) {
	v, last := begin(t, &eap.Config{})
	if r := v.Receive(answer(last, eap.TypeExpanded, 0, 0, 0, 0, 0, 0, 3, 254, 0, 0, 0, 0, 0, 0, 4)); !errors.Is(r.Err, eap.ErrNoMethod) {
		t.Errorf("%+v", r)
	}
}

// TestIgnored: what is no answer to the last request changes nothing, but does not go
// on for ever.
func TestIgnored(t *testing.T) {
	v, last := begin(t, &eap.Config{Methods: []eap.Method{eap.MD5{}}})
	right := answer(last, eap.TypeMD5, append([]byte{16}, make([]byte, 16)...)...)
	other := right
	other.Identifier++
	request := right
	request.Code = eap.CodeRequest
	success := eap.Packet{Code: eap.CodeSuccess, Identifier: last.Identifier}
	for _, c := range []struct {
		in  eap.Packet
		err error
	}{
		{other, eap.ErrIdentifier}, {request, eap.ErrNotResponse}, {success, eap.ErrNotResponse},
		{answer(last, eap.TypeMSCHAPv2, msResponse(last.Identifier, "alice")...), eap.ErrType},
		{answer(last, eap.TypeNotification), eap.ErrType}, {answer(last, eap.TypeIdentity, 'b'), eap.ErrType},
		{answer(last, eap.TypeExpanded, 0, 0, 0, 0, 0, 0, 4), eap.ErrType},
	} {
		r := v.Receive(c.in)
		if r.Verdict != eap.Ignore || !errors.Is(r.Err, c.err) || !bytes.Equal(r.Packet, last.Append(nil)) {
			t.Errorf("%+v: %+v, want %v", c.in, r, c.err)
		}
	}
	if r := v.Receive(right); r.Verdict != eap.Verify {
		t.Errorf("%+v", r)
	}
	if r := v.Verify(all(true)); r.Verdict != eap.Success || r.MSK != nil || parse(t, r).Identifier != last.Identifier {
		t.Errorf("%+v", r)
	}
	if r := v.Receive(right); r.Verdict != eap.Failure {
		t.Errorf("after the end: %+v", r)
	}

	v, _ = begin(t, &eap.Config{MaxRounds: 5})
	rounds := 1
	for v.Receive(other).Verdict == eap.Ignore {
		rounds++
	}
	if rounds != 5 {
		t.Errorf("%d rounds", rounds)
	}
}

func TestNAKIsTooLateAfterAnAnswer(t *testing.T) {
	v, last := begin(t, &eap.Config{Methods: []eap.Method{long{}, eap.MD5{}}})
	last = parse(t, v.Receive(answer(last, 99)))
	if r := v.Receive(answer(last, eap.TypeNAK, 4)); r.Verdict != eap.Ignore {
		t.Errorf("%+v", r)
	}
}

func TestMD5Malformed(t *testing.T) {
	for _, data := range [][]byte{nil, {16}, append([]byte{16}, make([]byte, 15)...), append([]byte{17}, make([]byte, 17)...), {0}} {
		v, last := begin(t, &eap.Config{Methods: []eap.Method{eap.MD5{}}})
		if r := v.Receive(answer(last, eap.TypeMD5, data...)); r.Verdict != eap.Failure || !errors.Is(r.Err, eap.ErrMD5) {
			t.Errorf("%x: %+v", data, r)
		}
	}
	v, last := begin(t, &eap.Config{Methods: []eap.Method{eap.MD5{}}})
	v.Receive(answer(last, eap.TypeMD5, append([]byte{16}, make([]byte, 20)...)...)) // with a name
	if r := v.Verify(all(false)); r.Verdict != eap.Failure || !errors.Is(r.Err, eap.ErrCredentials) {
		t.Errorf("%+v", r)
	}
}

func TestMSCHAPv2(t *testing.T) {
	config := &eap.Config{Methods: []eap.Method{eap.MSCHAPv2{Name: "server"}}}
	for _, right := range []bool{true, false} {
		v, last := begin(t, config)
		d := last.Data
		if d[0] != 1 || d[1] != last.Identifier || int(binary.BigEndian.Uint16(d[2:])) != len(d) || d[4] != 16 || string(d[21:]) != "server" {
			t.Fatalf("challenge %x", d)
		}
		if r := v.Receive(answer(last, eap.TypeMSCHAPv2, msResponse(d[1], `DOMAIN\alice`)...)); r.Verdict != eap.Verify {
			t.Fatalf("%+v", r)
		}
		last = parse(t, v.Verify(all(right)))
		if !right {
			if m := string(last.Data[4:]); last.Data[0] != 4 || !strings.HasPrefix(m, "E=691 R=0 C=") || !strings.Contains(m, " V=3 M=") {
				t.Errorf("failure %q", last.Data)
			}
			if r := v.Receive(answer(last, eap.TypeMSCHAPv2, 4)); !errors.Is(r.Err, eap.ErrCredentials) {
				t.Errorf("%+v", r)
			}
			continue
		}
		if last.Data[0] != 3 || string(last.Data[4:]) != "S="+strings.Repeat("A", 40)+" M=OK" {
			t.Errorf("success %q", last.Data)
		}
		r := v.Receive(answer(last, eap.TypeMSCHAPv2, 3))
		if r.Verdict != eap.Success || len(r.MSK) != 32 || r.MSK[0] != 1 || r.MSK[16] != 2 {
			t.Errorf("%+v", r)
		}
	}
}

func TestMSCHAPv2Attacks(t *testing.T) {
	good := func(id byte) []byte { return msResponse(id, "alice") }
	edit := func(f func([]byte)) func(byte) []byte {
		return func(id byte) []byte { b := good(id); f(b); return b }
	}
	for name, c := range map[string]struct {
		data func(id byte) []byte
		err  error
	}{
		"nothing":                 {func(byte) []byte { return nil }, eap.ErrMSCHAPv2},
		"success at once":         {func(byte) []byte { return []byte{3} }, eap.ErrMSCHAPv2},
		"failure at once":         {func(byte) []byte { return []byte{4} }, eap.ErrMSCHAPv2},
		"a challenge":             {edit(func(b []byte) { b[0] = 1 }), eap.ErrMSCHAPv2},
		"an unknown OpCode":       {edit(func(b []byte) { b[0] = 77 }), eap.ErrMSCHAPv2},
		"change of password":      {edit(func(b []byte) { b[0] = 7 }), eap.ErrChangePassword},
		"another MS-CHAPv2-ID":    {edit(func(b []byte) { b[1]++ }), eap.ErrMSCHAPv2},
		"MS-Length too long":      {edit(func(b []byte) { b[3]++ }), eap.ErrMSCHAPv2},
		"MS-Length too short":     {edit(func(b []byte) { b[3] = 53 }), eap.ErrMSCHAPv2},
		"MS-Length without name":  {edit(func(b []byte) { b[3] = 54 }), eap.ErrMSCHAPv2Name},
		"Value-Size":              {edit(func(b []byte) { b[4] = 48 }), eap.ErrMSCHAPv2},
		"cut off":                 {func(id byte) []byte { return good(id)[:53] }, eap.ErrMSCHAPv2},
		"another name":            {func(id byte) []byte { return msResponse(id, "bob") }, eap.ErrMSCHAPv2Name},
		"a name in another case":  {func(id byte) []byte { return msResponse(id, "Alice") }, eap.ErrMSCHAPv2Name},
		"a name that begins well": {func(id byte) []byte { return msResponse(id, "alice\x00") }, eap.ErrMSCHAPv2Name},
	} {
		v, last := begin(t, &eap.Config{Methods: []eap.Method{eap.MSCHAPv2{}}})
		r := v.Receive(answer(last, eap.TypeMSCHAPv2, c.data(last.Data[1])...))
		if r.Verdict != eap.Failure || !errors.Is(r.Err, c.err) {
			t.Errorf("%s: %+v", name, r)
		}
		if r := v.Verify(all(true)); r.Verdict != eap.Failure {
			t.Errorf("%s: verified: %+v", name, r)
		}
	}
	// Who was refused does not say Success.
	v, last := begin(t, &eap.Config{Methods: []eap.Method{eap.MSCHAPv2{}}})
	v.Receive(answer(last, eap.TypeMSCHAPv2, good(last.Data[1])...))
	last = parse(t, v.Verify(all(false)))
	if r := v.Receive(answer(last, eap.TypeMSCHAPv2, 3)); r.Verdict != eap.Failure {
		t.Errorf("%+v", r)
	}
	// A second response, to the success of the first, is none.
	v, last = begin(t, &eap.Config{Methods: []eap.Method{eap.MSCHAPv2{}}})
	v.Receive(answer(last, eap.TypeMSCHAPv2, good(last.Data[1])...))
	last = parse(t, v.Verify(all(true)))
	if r := v.Receive(answer(last, eap.TypeMSCHAPv2, good(last.Data[1])...)); r.Verdict != eap.Failure {
		t.Errorf("%+v", r)
	}
}

func TestConfigValidate(t *testing.T) {
	if err := (&eap.Config{Methods: eap.DefaultMethods(), MaxRounds: 1}).Validate(); err != nil {
		t.Error(err)
	}
	err := (&eap.Config{Methods: []eap.Method{nil, eap.MD5{}, eap.MD5{}, odd{}}, MaxRounds: eap.LimitMaxRounds + 1}).Validate()
	for _, want := range []string{"Methods[0] is nil", "Methods has MD5 twice", "Methods[3] has the type NAK", "MaxRounds is 1001"} {
		if err == nil || !slices.Contains(strings.Split(err.Error(), "\n"), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
