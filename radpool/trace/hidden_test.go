package trace_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/netip"
	"strings"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

type noFiles struct{}

func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// The value of no attribute that holds a password, is made of one or is a key is printed,
// neither as text nor in hexadecimal, in a request or in a reply.
func TestNothingSecret(t *testing.T) {
	const password = "hunter2!"
	inVendor := func(vendor, code byte) radius.Attribute {
		return append(radius.Attribute{0, 0, vendor / 100, vendor % 100, code, byte(2 + len(password))}, password...)
	}
	microsoft := func(code byte) radius.Attribute {
		return append(radius.Attribute{0, 0, 1, 55, code, byte(2 + len(password))}, password...)
	}
	for name, avp := range map[string]*radius.AVP{
		"User-Password":         {Type: 2, Attribute: radius.Attribute(password)},
		"CHAP-Password":         {Type: 3, Attribute: radius.Attribute(password)},
		"CHAP-Challenge":        {Type: 60, Attribute: radius.Attribute(password)},
		"Tunnel-Password":       {Type: 69, Attribute: radius.Attribute("\x01" + password)},
		"ARAP-Password":         {Type: 70, Attribute: radius.Attribute(password)},
		"EAP-Message":           {Type: 79, Attribute: radius.Attribute(password)},
		"Message-Authenticator": {Type: 80, Attribute: radius.Attribute(password)},
		"Digest-Response":       {Type: 103, Attribute: radius.Attribute(password)},
		"MS-CHAP-Response":      {Type: 26, Attribute: microsoft(1)},
		"MS-CHAP-CPW-2":         {Type: 26, Attribute: microsoft(4)},
		"MS-CHAP-NT-Enc-PW":     {Type: 26, Attribute: microsoft(6)},
		"MS-CHAP-Challenge":     {Type: 26, Attribute: microsoft(11)},
		"MS-CHAP-MPPE-Keys":     {Type: 26, Attribute: microsoft(12)},
		"MS-MPPE-Send-Key":      {Type: 26, Attribute: microsoft(16)},
		"MS-MPPE-Recv-Key":      {Type: 26, Attribute: microsoft(17)},
		"MS-CHAP2-Response":     {Type: 26, Attribute: microsoft(25)},
		"MS-CHAP2-Success":      {Type: 26, Attribute: microsoft(26)},
		"none":                  {Type: 26, Attribute: microsoft(200)},
		"two at once":           {Type: 26, Attribute: append(microsoft(11), microsoft(25)[4:]...)},
		"cut off":               {Type: 26, Attribute: microsoft(25)[:12]},
		"too short":             {Type: 26, Attribute: append(radius.Attribute{0, 0, 1, 55, 25, 1}, password...)},
		"Ascend-Send-Secret":    {Type: 26, Attribute: append(radius.Attribute{0, 0, 2, 17, 214, byte(2 + len(password))}, password...)},
		"Cisco-AVPair":          {Type: 26, Attribute: append(radius.Attribute{0, 0, 0, 9, 1, byte(6 + len(password))}, "psk="+password...)},
		"no octets":             {Type: 26, Attribute: inVendor(0, 1)[:4]},
	} {
		t.Run(name, func(t *testing.T) {
			tr, out := tracer(t)
			req := request(radius.CodeAccessRequest, func(p *radius.Packet) { p.Attributes = radius.Attributes{avp} })
			resp := radpool.NewResponse(req)
			tr.Middleware(radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
				resp.Code = radius.CodeAccessAccept
				resp.Attributes = radius.Attributes{avp, nil}
			})).Handle(t.Context(), req, resp)
			got := out.all()
			for _, part := range []string{"unter", hex.EncodeToString([]byte("unter")), string(testSecret)} {
				if strings.Contains(got, part) {
					t.Errorf("%q is in\n%s", part, got)
				}
			}
			if strings.Count(got, "\n") < 4 || strings.Count(got, "<<<")%2 != 0 {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// What does not reach the Handler is a line that says why.
func TestDrop(t *testing.T) {
	from := netip.MustParseAddrPort("192.0.2.9:1000")
	for want, d := range map[string]radpool.DropInfo{
		"2026-08-01T10:00:00.001Z A datagram from 192.0.2.9:1000 is dropped: malformed, no\\nlength\n": {
			Outcome: radpool.Malformed, Detail: "no\nlength", RemoteAddr: from,
		},
		"2026-08-01T10:00:00.001Z Access-Request Id 7 from 192.0.2.9:1000 (nas1) is dropped: failed, away\n": {
			Outcome: radpool.Failed, Code: radius.CodeAccessRequest, Identifier: 7, RemoteAddr: from,
			Client: &radpool.Client{Name: "nas1", Secret: testSecret}, Err: errors.New("away"),
		},
	} {
		tr, out := tracer(t)
		tr.Drop(d)
		if got := out.all(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
