//go:build !race && !radpooldebug

package wire_test

import (
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// The debug mode of arena allocates, and so does sync.Pool under the race detector.
func TestCodecDoesNotAllocate(t *testing.T) {
	for _, codes := range [][2]byte{{1, 2}, {4, 5}, {12, 2}, {43, 44}} {
		sc := newScene(t, codes[0], codes[1])
		s := mustParse(t, sc.b)
		rs := mustParse(t, sc.reply)
		auth := wire.Authenticator(sc.b)
		hidden := make([]byte, 32)
		request := &radius.Packet{Code: radius.Code(codes[0]), Attributes: sc.resp.Attributes}
		for _, step := range []struct {
			name string
			run  func() bool
		}{
			{"the whole way", func() bool { b, err := sc.whole(); return b != nil && err == nil }},
			{"Parse", func() bool { _, m := wire.Parse(sc.b, 200); return m == wire.WellFormed }},
			{"Verify", func() bool { return wire.Verify(sc.b, s, sc.secret) }},
			{"Encode", func() bool { _, err := wire.Encode(sc.dst, &sc.resp, sc.b, s, sc.secret); return err == nil }},
			{"EncodeRequest", func() bool { _, err := wire.EncodeRequest(sc.dst, request, sc.secret); return err == nil }},
			{"VerifyResponse", func() bool { return wire.VerifyResponse(sc.reply, rs, auth, sc.secret) }},
			{"RevealPassword", func() bool { _, err := wire.RevealPassword(sc.dst, hidden, auth, sc.secret); return err == nil }},
			{"HidePassword", func() bool { _, err := wire.HidePassword(sc.dst, hidden, auth, sc.secret); return err == nil }},
			{"a bad password", func() bool { _, err := wire.RevealPassword(sc.dst, hidden[:7], auth, sc.secret); return err != nil }},
		} {
			ok := true
			if n := testing.AllocsPerRun(200, func() { ok = step.run() && ok }); n != 0 || !ok {
				t.Errorf("code %d, %s: %v allocations, ok: %v", codes[0], step.name, n, ok)
			}
		}
	}
}
