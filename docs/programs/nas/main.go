// A NAS: it asks to let alice in, and ends her session when the billing system says so.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/netip"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

func main() {
	asked := radclient.Server{Addr: netip.MustParseAddrPort("127.0.0.1:1812"), Secret: []byte("testing123")}
	client, e1 := radclient.New(radclient.Config{Servers: []radclient.Server{asked}})
	billing, e2 := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: asked.Secret})
	conn, e3 := net.ListenPacket("udp", "127.0.0.1:3799")
	p := radclient.NewRequest(radius.CodeAccessRequest)
	if err := errors.Join(e1, e2, e3, rfc2865.UserName_SetString(p, "alice"), rfc2865.UserPassword_SetString(p, "wonderland")); err != nil {
		log.Fatal(err)
	}
	if reply, err := client.Do(context.Background(), p); err != nil || reply.Code != radius.CodeAccessAccept {
		log.Fatal("alice is not let in ", err)
	}
	log.Print("alice is let in")
	nas := &radpool.Server{Clients: billing, Handler: radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		resp.ACK()
		if req.Code != radius.CodeDisconnectRequest || rfc2866.AcctSessionID_GetString(req.Packet) != "5AC0" {
			resp.NAK(503) // Session-Context-Not-Found (RFC 5176 section 3.5)
		}
		log.Print(req.Code, ": ", resp.Code)
	})}
	log.Fatal(nas.ServeServices(conn, radpool.CoA))
}
