package record_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/internal/golden"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/record"
)

// Whatever attribute holds it, and however it is malformed, no secret is in the file, neither
// as text nor in hexadecimal, of a request or of a reply; and the file can be read.
func TestNothingSecret(t *testing.T) {
	const secret = "hunter2!"
	vendor := func(number uint32, code byte, value string) []byte {
		return append([]byte{0, 0, byte(number >> 8), byte(number), code, byte(2 + len(value))}, value...)
	}
	attrs := radius.Attributes{
		{Type: 26, Attribute: append(vendor(311, 25, secret), 7)},                               // an octet behind
		{Type: 26, Attribute: append(vendor(311, 1, secret), vendor(311, 11, secret)[4:10]...)}, // two, one of them cut off
		{Type: 26, Attribute: vendor(311, 25, secret)[:12]},
		{Type: 26, Attribute: append(vendor(9, 1, "psk="+secret), 1, 1)}, // a Length that cannot be
		{Type: 26, Attribute: radius.Attribute(secret)},
		{Type: 26, Attribute: append(radius.Attribute{0, 0, 1, 55}, secret...)},
		{Type: 26, Attribute: vendor(9, 1, "tunnel-password="+secret)},
		{Type: 77, Attribute: radius.Attribute("passcode = " + secret)},
	}
	for code := 1; code < 256; code++ {
		for _, number := range []uint32{0, 9, 311, 529, 14823, 14988, 16924, 25053, 26928} {
			switch a := dict.ByNumber(number, code); {
			case a == nil, !dict.Secret(a), number == 0 && (code == 79 || code == 80): // these are no part of a recording
			case number == 0:
				attrs.Add(radius.Type(code), radius.Attribute(secret))
			default:
				attrs.Add(26, vendor(number, byte(code), secret))
			}
		}
	}
	if len(attrs) < 40 {
		t.Fatalf("only %d attributes", len(attrs))
	}
	r, file := create(t, record.Options{})
	for _, avp := range attrs {
		h := radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
			resp.Code = radius.CodeAccessAccept
			resp.Attributes = radius.Attributes{avp}
		})
		billingtest.Run(t, r.Middleware(h), billingtest.AccessRequest(avp).User("alice"))
	}
	if s := r.Stats(); s.Cases != uint64(len(attrs)) {
		t.Errorf("%+v", s)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"unter", hex.EncodeToString([]byte("unter"))} {
		if at := bytes.Index(text, []byte(part)); at >= 0 {
			t.Errorf("%q is in ...%s...", part, text[max(0, at-100):min(len(text), at+50)])
		}
	}
	if f, err := golden.Parse(file, text); err != nil || len(f.Cases) != len(attrs) {
		t.Error(err)
	}
}
