package radclient_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

// serveExample runs a server for an example, and returns its address and how to end it.
func serveExample(handler radpool.Handler, services radpool.Services) (netip.AddrPort, func()) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return addrOf(pc), serve(&radpool.Server{Handler: handler}, pc, services)
}

// serveAlice runs one that knows a password, and takes all accounting.
func serveAlice() (netip.AddrPort, func()) {
	return serveExample(radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		switch {
		case req.Code == radius.CodeAccountingRequest:
			resp.Code = radius.CodeAccountingResponse
		case rfc2865.UserPassword_GetString(req.Packet) == "wonderland":
			resp.Code = radius.CodeAccessAccept
			resp.AddUint32(rfc2865.SessionTimeout_Type, 3600)
		default:
			resp.Code = radius.CodeAccessReject
		}
	}), radpool.Auth|radpool.Acct)
}

func Example() {
	addr, end := serveAlice()
	defer end()

	c, err := radclient.New(radclient.Config{Servers: []radclient.Server{{Addr: addr, Secret: []byte("testing123")}}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	p := radclient.NewRequest(radius.CodeAccessRequest)
	_ = rfc2865.UserName_SetString(p, "alice")
	_ = rfc2865.UserPassword_SetString(p, "wonderland")
	reply, err := c.Do(context.Background(), p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Code, uint32(rfc2865.SessionTimeout_Get(reply.Packet)))
	// Output: Access-Accept 3600
}

func ExampleTimeoutError() {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer silent.Close()

	c, err := radclient.New(radclient.Config{
		Servers:        []radclient.Server{{Addr: addrOf(silent), Secret: []byte("testing123")}},
		Retransmission: radclient.Retransmission{IRT: 5 * time.Millisecond, MRC: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	_, err = c.Do(context.Background(), radclient.NewRequest(radius.CodeStatusServer))
	if timeout, ok := errors.AsType[*radclient.TimeoutError](err); ok {
		fmt.Println("no reply to", timeout.Copies, "copies")
	}
	// Output: no reply to 2 copies
}

func ExampleAccountingQueue() {
	addr, end := serveAlice()
	defer end()
	c, err := radclient.New(radclient.Config{Servers: []radclient.Server{{Addr: addr, Secret: []byte("testing123")}}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	q, err := radclient.NewAccountingQueue(radclient.AccountingConfig{Client: c})
	if err != nil {
		log.Fatal(err)
	}

	p := radclient.NewRequest(radius.CodeAccountingRequest)
	_ = rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_Start)
	_ = rfc2866.AcctSessionID_SetString(p, "0001")
	if err := q.Send(p); err != nil { // returns at once
		log.Fatal(err)
	}

	left, err := q.Shutdown(context.Background())
	fmt.Println(q.Stats().Acknowledged, "acknowledged,", len(left), "left", err)
	// Output: 1 acknowledged, 0 left <nil>
}
