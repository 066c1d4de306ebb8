package radclient_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radclient"
)

// The first server is silent. The next one is asked, and from then on it is the first that is asked.
func ExampleFailover() {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer silent.Close()
	second, end := serveAlice()
	defer end()

	c, err := radclient.New(radclient.Config{
		Servers: []radclient.Server{
			{Addr: addrOf(silent), Secret: []byte("another")},
			{Addr: second, Secret: []byte("testing123")},
		},
		Retransmission: radclient.Retransmission{IRT: 20 * time.Millisecond},
		Failover:       radclient.Failover{Tries: 1, DeadAfter: 1},
		ServerTurned:   func(_ netip.AddrPort, to radclient.State) { fmt.Println("the first is", to) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	p := radclient.NewRequest(radius.CodeAccessRequest)
	_ = rfc2865.UserPassword_SetString(p, "wonderland")
	for range 2 {
		reply, err := c.Do(context.Background(), p)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(reply.Code, reply.Server == second)
	}
	fmt.Println(c.Stats().Failovers, "request went on to another server")
	// Output:
	// the first is dead
	// Access-Accept true
	// Access-Accept true
	// 1 request went on to another server
}
