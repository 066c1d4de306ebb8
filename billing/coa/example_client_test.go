package coa_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc3576"

	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

// serveNAS is a NAS with one session, and returns where it listens and how it ends.
func serveNAS() (netip.AddrPort, func()) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	clients, err := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte("testing123")})
	if err != nil {
		log.Fatal(err)
	}
	server := &radpool.Server{Clients: clients, Handler: radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		if rfc2866.AcctSessionID_GetString(req.Packet) != "81a00012" {
			resp.NAK(rfc3576.ErrorCause_Value_SessionContextNotFound)
			return
		}
		resp.ACK()
	})}
	ended := make(chan error)
	go func() { ended <- server.ServeServices(conn, radpool.CoA) }()
	return netip.MustParseAddrPort(conn.LocalAddr().String()), func() {
		_ = server.Close()
		<-ended
	}
}

// The NAS of each session is found in the billing system's list of them. A Controller has such a
// Client for its NAS.
func ExampleNewClient() {
	addr, end := serveNAS()
	defer end()
	client, err := coa.NewClient(coa.ClientConfig{Find: func(s *coa.Session) (coa.Target, bool) {
		known := s.NASAddr == netip.MustParseAddr("192.0.2.1")
		return coa.Target{Addr: addr, Secret: []byte("testing123"), Profile: radclient.MikroTik}, known
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	ctx := context.Background()
	session := &coa.Session{
		SessionID: "81a00012", UserName: "alice", NASAddr: netip.MustParseAddr("192.0.2.1"), FramedAddr: netip.MustParseAddr("10.0.0.1"),
	}
	slow := radius.Attributes{{Type: rfc2865.FilterID_Type, Attribute: radius.Attribute("1mbit")}}
	fmt.Println(client.Change(ctx, session, slow))

	session.SessionID = "another"
	fmt.Println(errors.Is(client.Disconnect(ctx, session), coa.ErrNotFound))
	session.NASAddr = netip.MustParseAddr("192.0.2.2")
	fmt.Println(errors.Is(client.Disconnect(ctx, session), coa.ErrUnreachable))
	// Output:
	// <nil>
	// true
	// true
}
