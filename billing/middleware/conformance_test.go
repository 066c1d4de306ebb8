package middleware_test

import (
	"context"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/middleware"
)

// A batches is a Handler that takes batches.
type batches struct{ billing.Handler }

func (b batches) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	billing.AuthorizeAll(ctx, b.Handler, reqs, grants, errs)
}

func (b batches) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	billing.AccountAll(ctx, b.Handler, recs, errs)
}

// A back end that keeps the rules keeps them with all of this before it.
func TestConformance(t *testing.T) {
	for name, wrap := range map[string]billing.Middleware{
		"alone": func(h billing.Handler) billing.Handler { return h }, "batches": func(h billing.Handler) billing.Handler { return batches{h} },
	} {
		t.Run(name, func(t *testing.T) {
			billingtest.TestHandler(t, func(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
				m := billing.NewMemory(0)
				for _, s := range subscribers {
					m.Put(s.UserName, billing.Grant{Password: billing.Cleartext(s.Password)})
				}
				limit, err := middleware.NewLimit(middleware.LimitOptions{Burst: 1_000_000})
				if err != nil {
					return nil, err
				}
				cache, err := middleware.NewCache(middleware.CacheOptions{})
				if err != nil {
					return nil, err
				}
				breaker, err := middleware.NewBreaker(middleware.BreakerOptions{})
				if err != nil {
					return nil, err
				}
				trace := middleware.Tracer(func(ctx context.Context, _ middleware.Operation) (context.Context, func(error)) {
					return ctx, func(error) {}
				})
				h := billing.Chain(wrap(m), limit.Middleware, cache.Middleware, breaker.Middleware, trace.Backend)
				return &billingtest.Backend{Handler: h}, nil
			})
		})
	}
}
