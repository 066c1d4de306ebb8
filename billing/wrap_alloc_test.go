//go:build !race

package billing_test

import (
	"context"
	"testing"

	"github.com/radpool/radpool/billing"
)

func TestAroundAllocations(t *testing.T) {
	pass := billing.Around{
		Authorize: func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error, next billing.AuthorizeFunc) {
			next(ctx, reqs, grants, errs)
		},
		Account: func(ctx context.Context, recs []*billing.AccountingRecord, errs []error, next billing.AccountFunc) {
			next(ctx, recs, errs)
		},
	}
	h := pass.Wrap(nothing{})
	req, rec := &billing.AccessRequest{}, &billing.AccountingRecord{}
	if n := testing.AllocsPerRun(200, func() {
		_, _ = h.Authorize(t.Context(), req)
		_ = h.Account(t.Context(), rec)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// nothing is a back end that knows nobody.
type nothing struct{}

func (nothing) Authorize(context.Context, *billing.AccessRequest) (billing.Grant, error) {
	return billing.Grant{}, nil
}

func (nothing) Account(context.Context, *billing.AccountingRecord) error { return nil }
