package golden_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/golden"
)

// Whatever the text, it is read or refused with a line, and what was read is written so that
// it is read as the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte("c\n-- a.request --\nUser-Name = \"b\\\"\", NAS-Port=7 # x\nTunnel-Type:1 := VLAN\n-- a.reply --\nAccess-Accept\nClass = *\n"))
	f.Add([]byte("-- a.reply --\nsilence"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := golden.Parse("f", text)
		if err != nil {
			var e *golden.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Line > 2+bytes.Count(text, []byte("\n")) {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := golden.Parse("f", file.Text())
		if err != nil || len(again.Cases) != len(file.Cases) {
			t.Fatalf("%v: %d cases, want %d", err, len(again.Cases), len(file.Cases))
		}
	})
}

// Any attributes are written as text that is no difference to them.
func FuzzText(f *testing.F) {
	f.Add([]byte{1, 3, 'b', 'o', 'b', 8, 4, 10, 0, 0, 1, 64, 4, 1, 0, 0, 13, 26, 9, 0, 0, 0, 9, 1, 5, 'a', '"', '\n'})
	f.Add([]byte{26, 2, 0, 0, 61, 4, 0, 0, 0, 15, 61, 1, 0, 97, 2, 0, 64})
	f.Fuzz(func(t *testing.T, octets []byte) {
		var attrs radius.Attributes
		for b := octets; len(b) >= 2; {
			n := min(int(b[1]), len(b)-2, 253)
			if b[0] != 2 && b[0] != 3 { // User-Password and CHAP-Password are those of a request
				attrs = append(attrs, &radius.AVP{Type: radius.Type(b[0]), Attribute: b[2 : 2+n]})
			}
			b = b[2+n:]
		}
		var pairs []golden.Pair
		for _, p := range golden.Attributes(attrs) {
			pairs = append(pairs, p)
		}
		text := []byte("-- a.request --\n-- a.reply --\n")
		text = golden.AppendPacket(text, "Access-Accept", slices.Values(pairs))
		file, err := golden.Parse("f", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		reply := &file.Cases[0].Reply
		if diff := file.Diff(reply, "Access-Accept", attrs); diff != nil || len(reply.Pairs) != len(pairs) {
			t.Fatalf("%v\n%s", diff, text)
		}
		var read radius.Attributes // what was read is sent as it was
		for _, p := range reply.Pairs {
			if p.Any {
				return
			}
			read = append(read, p.AVP)
		}
		if diff := file.Diff(reply, "Access-Accept", read); diff != nil {
			t.Fatalf("%v\n%s", diff, text)
		}
	})
}
