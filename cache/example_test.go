package cache_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/radpool/radpool/cache"
)

// A request, its retransmission while it runs, and another after its reply.
func Example() {
	c, err := cache.New(cache.Config{MaxRequests: 16384, CleanupDelay: 5 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	request := cache.Request{
		Key: cache.Key{
			Client:     netip.MustParseAddrPort("192.0.2.1:1645"),
			Code:       1, // Access-Request
			Identifier: 42,
		},
		Authenticator: [16]byte{1, 2, 3}, // as verified
		Length:        57,
	}

	ticket, verdict, _ := c.Begin(now, &request, nil)
	fmt.Println(verdict)

	_, verdict, _ = c.Begin(now.Add(time.Second), &request, nil)
	last, copies := ticket.Seen()
	fmt.Println(verdict, copies, last.Sub(now))

	fmt.Println("send:", ticket.Finish(now.Add(2*time.Second), []byte("Access-Accept")))

	_, verdict, reply := c.Begin(now.Add(3*time.Second), &request, nil)
	fmt.Printf("%v %s\n", verdict, reply)

	_, verdict, _ = c.Begin(now.Add(8*time.Second), &request, nil)
	fmt.Println(verdict)
	// Output:
	// Fresh
	// InFlight 1 1s
	// send: true
	// Replay Access-Accept
	// Fresh
}

// A client that gave up and uses the Identifier for another request: the
// first must not be answered any more.
func ExampleTicket_Current() {
	c, err := cache.New(cache.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	request := cache.Request{Key: cache.Key{Client: netip.MustParseAddrPort("[2001:db8::1]:1812"), Code: 1}}

	first, _, _ := c.Begin(now, &request, nil)
	request.Authenticator[0]++
	second, verdict, _ := c.Begin(now.Add(4*time.Second), &request, nil)

	fmt.Println(verdict, first.Current(), second.Current())
	fmt.Println(first.Finish(now.Add(5*time.Second), []byte("late")))
	// Output:
	// Superseded false true
	// false
}

// An idle server frees what has expired, when there is something to free.
func ExampleCache_Expire() {
	c, err := cache.New(cache.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	request := cache.Request{Key: cache.Key{Client: netip.MustParseAddrPort("192.0.2.1:1646"), Code: 4}}
	ticket, _, _ := c.Begin(now, &request, nil)
	ticket.Finish(now, []byte("Accounting-Response"))

	next := c.Expire(now)
	fmt.Println(next.Sub(now), c.Stats().Retained)
	next = c.Expire(next)
	fmt.Println(next.IsZero(), c.Stats().Retained, c.Stats().Bytes)
	// Output:
	// 10s 1
	// true 0 0
}

// Wrong values are errors, never clamped.
func ExampleNew() {
	_, err := cache.New(cache.Config{CleanupDelay: time.Minute})
	fmt.Println(err)
	// Output:
	// cache: CleanupDelay is 1m0s, must be at most MaxAge, which is 30s
}
