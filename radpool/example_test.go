package radpool_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// A server on the loopback interface, asked by layeh.com/radius's client, and
// shut down. With real addresses ListenAndServe does what net.ListenPacket and
// Serve do here.
func ExampleServer() {
	clients, err := radpool.NewClients(radpool.Client{
		Prefix: netip.MustParsePrefix("127.0.0.0/8"),
		Secret: []byte("testing123"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &radpool.Server{
		Clients: clients,
		Handler: radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
			resp.Code = radius.CodeAccessAccept
			resp.AddString(rfc2865.ReplyMessage_Type, "hello, "+rfc2865.UserName_GetString(req.Packet))
		}),
		Config: radpool.Config{MaxServers: 4},
	}
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(pc) }()

	request := radius.New(radius.CodeAccessRequest, []byte("testing123"))
	if err := rfc2865.UserName_SetString(request, "ivan"); err != nil {
		fmt.Println(err)
	}
	reply, err := radius.Exchange(context.Background(), request, pc.LocalAddr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Code, rfc2865.ReplyMessage_GetString(reply))

	if err := server.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(errors.Is(<-served, radpool.ErrServerClosed))
	stats := server.Stats()
	fmt.Println(stats.Received, "received,", stats.Replied, "replied,", stats.InFlight, "in flight")
	// Output:
	// Access-Accept hello, ivan
	// true
	// 1 received, 1 replied, 0 in flight
}

// A handler needs no server to be tested.
func ExampleHandlerFunc() {
	handler := radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		switch rfc2865.UserName_GetString(req.Packet) {
		case "ivan":
			resp.Code = radius.CodeAccessAccept
			resp.AddUint32(rfc2865.SessionTimeout_Type, 3600)
			resp.AddAddr(rfc2865.FramedIPAddress_Type, netip.MustParseAddr("10.0.0.1"))
		case "nobody":
			// No Code: silence is the answer.
		case "olga":
			resp.Fail(errors.New("the database is away")) // the NAS may ask again
		default:
			resp.Code = radius.CodeAccessReject
		}
	})
	for _, user := range []string{"ivan", "mallory", "nobody", "olga"} {
		packet := radius.New(radius.CodeAccessRequest, []byte("testing123"))
		if err := rfc2865.UserName_SetString(packet, user); err != nil {
			fmt.Println(err)
		}
		req := radpool.NewRequest(packet, nil)
		resp := radpool.NewResponse(req)
		handler.Handle(context.Background(), req, resp)
		switch {
		case resp.Err() != nil:
			fmt.Println(user, "failed:", resp.Err())
		case resp.Code == 0:
			fmt.Println(user, "gets no reply")
		default:
			fmt.Println(user, "gets", resp.Code, "with", len(resp.Attributes), "attributes")
		}
	}
	// Output:
	// ivan gets Access-Accept with 2 attributes
	// mallory gets Access-Reject with 0 attributes
	// nobody gets no reply
	// olga failed: the database is away
}

// Middleware sees the request on the way in and the response on the way out.
func ExampleChain() {
	logged := func(next radpool.Handler) radpool.Handler {
		return radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			next.Handle(ctx, req, resp)
			fmt.Println(req.Code, "from", rfc2865.UserName_GetString(req.Packet), "->", resp.Code)
		})
	}
	// weekdays answers some by itself: what is behind it is not asked.
	weekdays := func(next radpool.Handler) radpool.Handler {
		return radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			if rfc2865.UserName_GetString(req.Packet) == "sunday" {
				resp.Code = radius.CodeAccessReject
				return
			}
			next.Handle(ctx, req, resp)
		})
	}
	billing := radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
		resp.Code = radius.CodeAccessAccept
	})

	handler := radpool.Chain(billing, logged, weekdays)
	for _, user := range []string{"monday", "sunday"} {
		packet := radius.New(radius.CodeAccessRequest, []byte("testing123"))
		if err := rfc2865.UserName_SetString(packet, user); err != nil {
			fmt.Println(err)
		}
		req := radpool.NewRequest(packet, nil)
		handler.Handle(context.Background(), req, radpool.NewResponse(req))
	}
	// Output:
	// Access-Request from monday -> Access-Accept
	// Access-Request from sunday -> Access-Reject
}

// A handler that was written for layeh.com/radius's own server.
func ExampleFromRadius() {
	old := radius.HandlerFunc(func(w radius.ResponseWriter, r *radius.Request) {
		reply := r.Response(radius.CodeAccessReject)
		if rfc2865.UserName_GetString(r.Packet) == "ivan" {
			reply.Code = radius.CodeAccessAccept
		}
		if err := w.Write(reply); err != nil {
			fmt.Println(err)
		}
	})
	handler := radpool.FromRadius(old)

	packet := radius.New(radius.CodeAccessRequest, []byte("testing123"))
	if err := rfc2865.UserName_SetString(packet, "ivan"); err != nil {
		fmt.Println(err)
	}
	req := radpool.NewRequest(packet, nil)
	resp := radpool.NewResponse(req)
	handler.Handle(context.Background(), req, resp)
	fmt.Println(resp.Code)
	// Output:
	// Access-Accept
}

// The most specific prefix wins, and the list can be replaced while it is in use.
func ExampleClients() {
	clients, err := radpool.NewClients(
		radpool.Client{Name: "access network", Prefix: netip.MustParsePrefix("10.0.0.0/8"), Secret: []byte("s3cret")},
		radpool.Client{Name: "BRAS", Prefix: netip.MustParsePrefix("10.1.2.3/32"), Secret: []byte("another"), MessageAuthenticator: radpool.Yes},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(addr string) {
		client, ok := clients.Lookup(netip.MustParseAddr(addr))
		if !ok {
			fmt.Println(addr, "is nobody's")
			return
		}
		fmt.Println(addr, "is of", client.Name)
	}
	show("10.1.2.3")
	show("::ffff:10.9.9.9") // IPv4, as a socket for both families shows it
	show("192.0.2.1")

	err = clients.Replace([]radpool.Client{{Prefix: netip.MustParsePrefix("192.0.2.0/24")}})
	fmt.Println(err)
	show("10.1.2.3") // after an error the old ones stay
	// Output:
	// 10.1.2.3 is of BRAS
	// ::ffff:10.9.9.9 is of access network
	// 192.0.2.1 is nobody's
	// radpool: client 0 (192.0.2.0/24): Secret is empty
	// 10.1.2.3 is of BRAS
}
