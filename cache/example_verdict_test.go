package cache_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/radpool/radpool/cache"
)

// What a server does with each verdict.
func ExampleVerdict() {
	table, err := cache.New(cache.Config{MaxRequests: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var tickets []cache.Ticket
	receive := func(identifier, authenticator byte) string {
		request := cache.Request{
			Key:           cache.Key{Client: netip.MustParseAddrPort("192.0.2.1:1645"), Code: 4, Identifier: identifier},
			Authenticator: [16]byte{authenticator},
			Length:        120,
		}
		ticket, verdict, reply := table.Begin(now, &request, nil)
		switch verdict {
		case cache.Fresh, cache.Superseded: // the older one has got a Ticket that is void
			tickets = append(tickets, ticket)
			return "run it"
		case cache.Replay:
			return "send again: " + string(reply)
		case cache.InFlight, cache.Silent, cache.Full:
			return "drop it: " + verdict.String()
		}
		return "cannot be"
	}
	fmt.Println(receive(1, 10))
	fmt.Println(receive(1, 10)) // a retransmission
	fmt.Println(receive(1, 11)) // the NAS has given up, and asks anew
	fmt.Println("send the old reply:", tickets[0].Finish(now, []byte("old")))
	fmt.Println(receive(2, 12)) // there is room for one
	fmt.Println("send the new reply:", tickets[1].Finish(now, []byte("new")))
	fmt.Println(receive(1, 11))
	// Output:
	// run it
	// drop it: InFlight
	// run it
	// send the old reply: false
	// drop it: Full
	// send the new reply: true
	// send again: new
}
