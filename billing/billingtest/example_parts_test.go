package billingtest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// Golden packets, as Golden runs them from files: what is different is told with its line.
func ExampleCheckGolden() {
	text := []byte(`Subscribers of the demo.
-- alice.request --
User-Name = "alice", User-Password = "wonderland"
-- alice.reply --
Access-Accept
Session-Timeout = *
-- bob has paid.request --
User-Name = "bob", User-Password = "builder"
-- bob has paid.reply --
Access-Accept
`)
	_, err := billingtest.CheckGolden(context.Background(), &billing.Processor{Handler: newShop()}, "demo.txtar", text)
	fmt.Println(err)
	// Output:
	// bob has paid: demo.txtar:10: it is Access-Reject, want Access-Accept
	// bob has paid: demo.txtar:10: Reply-Message = "Out of money" is not expected
}

// What a worker took at once: replies are in the order of the requests.
func ExampleDoBatch() {
	processor := &billing.Processor{Handler: newShop()}
	replies, err := billingtest.DoBatch(context.Background(), processor,
		billingtest.PAP("alice", "wonderland"), billingtest.PAP("bob", "builder"), billingtest.Start("alice", "5AC0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, reply := range replies {
		fmt.Println(reply.Outcome())
	}
	// Output:
	// Access-Accept
	// Access-Reject
	// Accounting-Response
}

// A network in memory for what opens its own sockets. This one loses everything.
func ExampleNewNetwork() {
	network, err := billingtest.NewNetwork(billingtest.NetworkConfig{Loss: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = network.Close() }()
	server, err1 := network.Listen(netip.MustParseAddrPort("192.0.2.1:1812"))
	nas, err2 := network.Listen(netip.MustParseAddrPort("192.0.2.2:0"))
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return
	}
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(server.LocalAddr().String()))
	for range 3 {
		if _, err := nas.WriteTo([]byte("anybody there?"), to); err != nil {
			fmt.Println(err)
		}
	}
	s := network.Stats()
	fmt.Println(s.Sent, "sent,", s.Delivered, "delivered,", s.Lost, "lost")
	// Output: 3 sent, 0 delivered, 3 lost
}

// What a Failure says, for programs that run the suite themselves.
func ExampleFailure() {
	factory := func(context.Context, []billingtest.Subscriber) (*billingtest.Backend, error) {
		return &billingtest.Backend{Handler: billing.NewMemory(0)}, nil // without its subscribers
	}
	for _, err := range billingtest.Check(context.Background(), factory, "known-user", "durable") {
		if f, ok := errors.AsType[*billingtest.Failure](err); ok {
			fmt.Println(f.Check, "blames", f.Method)
		}
		if s, ok := errors.AsType[*billingtest.SkipError](err); ok {
			fmt.Println(s.Check, "is skipped:", s.Needs)
		}
	}
	// Output:
	// known-user blames Authorize
	// known-user blames Authorize
	// known-user blames Authorize
	// durable is skipped: Backend.Sessions is nil, Backend.Reopen is nil
}
