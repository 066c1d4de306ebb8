package radpool_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// What operators look at: which client asks what, how many replies there were, and hooks for
// what is dropped and for handlers that panic.
func ExampleHooks() {
	clients, err := radpool.NewClients(radpool.Client{
		Name: "bras", Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte("testing123"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	failed := make(chan struct{})
	server := &radpool.Server{
		Clients: clients,
		Handler: radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
			if rfc2865.UserName_GetString(req.Packet) == "olga" {
				panic("no tariff")
			}
			resp.Code = radius.CodeAccessAccept
		}),
		Hooks: radpool.Hooks{
			Panic: func(p radpool.PanicInfo) { fmt.Println("panic:", p.Value) },
			Drop: func(d radpool.DropInfo) {
				fmt.Println(d.Code, "of", d.Client.Name, "is", d.Outcome)
				close(failed)
			},
		},
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- server.ServeServices(conn, radpool.Auth) }()

	nas, err := net.Dial("udp", conn.LocalAddr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = nas.Close() }()
	for i, user := range []string{"ivan", "olga"} {
		request := radius.New(radius.CodeAccessRequest, []byte("testing123"))
		request.Identifier = byte(i)
		if err := rfc2865.UserName_SetString(request, user); err != nil {
			fmt.Println(err)
		}
		octets, err := request.Encode()
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := nas.Write(octets); err != nil {
			fmt.Println(err)
			return
		}
	}
	<-failed
	if err := server.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	<-served

	for _, c := range clients.States() {
		fmt.Println(c.Name, "has asked", c.Access.Requests, "and got no answer to", c.Access.Dropped)
	}
	stats := server.Stats()
	fmt.Println("replies:", stats.AccessTimes.Count(), "and half of them within a minute:", stats.AccessTimes.Quantile(0.5) < time.Minute)
	// Output:
	// panic: no tariff
	// Access-Request of bras is failed
	// bras has asked 2 and got no answer to 1
	// replies: 1 and half of them within a minute: true
}
