package trace_test

import (
	"context"
	"strings"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// Whatever the attributes are, a page is lines of its own that steer no terminal.
func FuzzPage(f *testing.F) {
	f.Add([]byte{1, 6, 'i', 'v', 'a', 'n'})
	f.Add([]byte{26, 10, 0, 0, 1, 55, 25, 3, 'x', 0})
	f.Add([]byte{64, 6, 1, 0, 0, 13, 81, 2})
	f.Add([]byte{1, 5, '\n', 0x1b, 0xff})
	f.Fuzz(func(t *testing.T, wire []byte) {
		attrs, err := radius.ParseAttributes(wire)
		if err != nil {
			return
		}
		tr, out := tracer(t)
		req := request(radius.CodeAccessRequest, func(p *radius.Packet) { p.Attributes = attrs })
		tr.Middleware(radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
			resp.Code = radius.CodeAccessAccept
			resp.Attributes = attrs
		})).Handle(t.Context(), req, radpool.NewResponse(req))
		for line := range strings.Lines(out.all()) {
			if !strings.HasPrefix(line, "(0) ") || !strings.HasSuffix(line, "\n") {
				t.Errorf("got %q", line)
			}
			for _, r := range strings.TrimSuffix(line, "\n") {
				if r < ' ' || r == 0x7f {
					t.Errorf("%q steers a terminal", line)
				}
			}
		}
	})
}
