package trace_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/trace"
)

// because is a reason in words.
type because string

func (b because) String() string { return string(b) }

// A server that prints what it does: Middleware for what reaches the Handler, and Drop for
// what does not.
func Example() {
	stopped := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	tracer, err := trace.New(os.Stdout, trace.Options{Now: func() time.Time { return stopped }})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
		resp.SetReason(because("everybody is let in"))
		resp.Code = radius.CodeAccessAccept
	})
	server := &radpool.Server{Handler: tracer.Middleware(handler), Hooks: radpool.Hooks{Drop: tracer.Drop}}

	// What the server does with a request:
	packet := radius.New(radius.CodeAccessRequest, []byte("secret"))
	packet.Identifier = 7
	_ = rfc2865.UserName_SetString(packet, "ivan")
	_ = rfc2865.UserPassword_SetString(packet, "hunter2")
	req := radpool.NewRequest(packet, nil)
	req.RemoteAddr = netip.MustParseAddrPort("192.0.2.1:40000")
	req.LocalAddr = netip.MustParseAddrPort("192.0.2.2:1812")
	server.Handler.Handle(context.Background(), req, radpool.NewResponse(req))
	// And with one that does not reach the Handler:
	server.Hooks.Drop(radpool.DropInfo{Outcome: radpool.UnknownClient, RemoteAddr: netip.MustParseAddrPort("198.51.100.1:1000")})
	// Output:
	// (0) 2026-08-01T10:00:00.000Z Access-Request Id 7 from 192.0.2.1:40000 to 192.0.2.2:1812
	// (0)   User-Name = "ivan"
	// (0)   User-Password = <<< secret >>>
	// (0) everybody is let in
	// (0) Access-Accept Id 7 to 192.0.2.1:40000 after 0s
	// 2026-08-01T10:00:00.000Z A datagram from 198.51.100.1:1000 is dropped: unknown-client
}
