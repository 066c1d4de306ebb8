package billingtest_test

import (
	"context"
	"fmt"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// newShop is the billing system of the examples.
func newShop() *billing.Memory {
	shop := billing.NewMemory(0)
	shop.Put("alice", billing.Grant{
		Password: billing.Cleartext("wonderland"),
		Reply:    radius.Attributes{{Type: rfc2865.SessionTimeout_Type, Attribute: radius.NewInteger(3600)}},
	})
	shop.Put("bob", billing.Grant{Password: billing.Cleartext("builder"), Reason: billing.ReasonNoMoney})
	return shop
}

// A table of requests and what must come of them. In a test the loop calls
// billingtest.Run(t, handler, row.request).
func Example() {
	handler := &billing.Processor{Handler: newShop(), ShowReasons: true}
	for _, row := range []struct {
		name    string
		request billingtest.Request
	}{
		{"PAP", billingtest.PAP("alice", "wonderland")},
		{"CHAP", billingtest.CHAP("alice", "wonderland")},
		{"MS-CHAPv2", billingtest.MSCHAPv2("alice", "wonderland")},
		{"wrong password", billingtest.PAP("alice", "guess")},
		{"no money", billingtest.PAP("bob", "builder")},
		{"stranger", billingtest.PAP("mallory", "x")},
		{"Start", billingtest.Start("alice", "5AC0")},
	} {
		reply, err := billingtest.Do(context.Background(), handler, row.request)
		if err != nil {
			fmt.Println(row.name, err)
			continue
		}
		fmt.Printf("%s: %s %q\n", row.name, reply.Outcome(), reply.Message())
	}
	// Output:
	// PAP: Access-Accept ""
	// CHAP: Access-Accept ""
	// MS-CHAPv2: Access-Accept ""
	// wrong password: Access-Reject "Wrong password"
	// no money: Access-Reject "Out of money"
	// stranger: Access-Reject "Unknown user"
	// Start: Accounting-Response ""
}

// Records out: what a back end gets of the packets.
func ExampleRecorder() {
	var back billingtest.Recorder
	handler := &billing.Processor{Handler: &back}
	stop := billingtest.Stop("alice", "5AC0").SessionTime(90*time.Minute).Octets(1_000, 5_000_000_000)
	if _, err := billingtest.Do(context.Background(), handler, stop); err != nil {
		fmt.Println(err)
	}
	for _, rec := range back.Records() {
		fmt.Println(rec.Status, rec.UserName, rec.SessionTime, rec.InputOctets, rec.OutputOctets)
	}
	// Output: Stop alice 1h30m0s 1000 5000000000
}

// A whole server, and a network that loses every fourth datagram: the NAS sends
// again until it has its reply.
func ExampleNewService() {
	service, err := billingtest.NewService(&billing.Processor{Handler: newShop()}, billingtest.ServiceConfig{
		Network: billingtest.NetworkConfig{Seed: 7, Loss: 0.25},
		Timeout: time.Millisecond, // of a test that is in no hurry, and in no bubble of testing/synctest
		Tries:   billingtest.MaxTries,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer service.Close()
	nas, err := service.NewClient()
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		reply, err := nas.Do(context.Background(), billingtest.PAP("alice", "wonderland"))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reply.Outcome(), reply.Uint32(rfc2865.SessionTimeout_Type))
	}
	// Output:
	// Access-Accept 3600
	// Access-Accept 3600
	// Access-Accept 3600
}

// The suite against a back end that pads passwords.
func ExampleCheck() {
	factory := func(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		shop := billing.NewMemory(0)
		for _, s := range subscribers {
			// A mistake: the column is one of fixed width.
			shop.Put(s.UserName, billing.Grant{Password: billing.Cleartext(s.Password + " ")})
		}
		return &billingtest.Backend{Handler: shop}, nil
	}
	errs := billingtest.Check(context.Background(), factory, "unknown-user", "known-user")
	fmt.Println(errs[0])
	// Output: known-user: Authorize: a subscriber's Grant must let in who knows the password, and nobody else: user "alice" with PAP against Cleartext-Password: Access-Reject (wrong-password), must be Access-Accept
}
