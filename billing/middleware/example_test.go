package middleware_test

import (
	"context"
	"fmt"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/middleware"
)

// A back end with all of it before it.
func Example() {
	backend := billing.NewMemory(0)
	backend.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland")})

	limit, err := middleware.NewLimit(middleware.LimitOptions{Burst: 3})
	if err != nil {
		panic(err)
	}
	cache, err := middleware.NewCache(middleware.CacheOptions{})
	if err != nil {
		panic(err)
	}
	breaker, err := middleware.NewBreaker(middleware.BreakerOptions{})
	if err != nil {
		panic(err)
	}
	processor := &billing.Processor{
		Handler: billing.Chain(backend, limit.Middleware, cache.Middleware, breaker.Middleware),
	}
	for range 4 {
		reply, err := billingtest.Do(context.Background(), processor, billingtest.PAP("alice", "wonderland"))
		fmt.Println(reply.Outcome(), err)
	}
	fmt.Println(cache.Stats().Hits, "from the cache,", limit.Stats().Limited, "limited")
	// Output:
	// Access-Accept <nil>
	// Access-Accept <nil>
	// Access-Accept <nil>
	// Access-Reject <nil>
	// 2 from the cache, 1 limited
}

// A Tracer that prints what begins and ends.
func ExampleTracer() {
	trace := middleware.Tracer(func(ctx context.Context, op middleware.Operation) (context.Context, func(error)) {
		fmt.Println("begin", op.Name)
		return ctx, func(err error) { fmt.Println("end", op.Name, err) }
	})
	processor := &billing.Processor{Handler: billing.Chain(billing.NewMemory(0), trace.Backend)}
	if _, err := billingtest.Do(context.Background(), trace.Requests(processor), billingtest.PAP("alice", "wonderland")); err != nil {
		panic(err)
	}
	// Output:
	// begin radius.request
	// begin billing.authorize
	// end billing.authorize <nil>
	// end radius.request <nil>
}
