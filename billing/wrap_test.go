package billing_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// A batcher is a back end that takes batches, leases addresses and hears of results.
type batcher struct {
	fake
	batches []int // how many were asked about at once
}

func (b *batcher) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	b.batches = append(b.batches, len(reqs))
	billing.AuthorizeAll(ctx, &b.fake, reqs, grants, errs)
}

func (b *batcher) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	b.batches = append(b.batches, len(recs))
	billing.AccountAll(ctx, &b.fake, recs, errs)
}

func (b *batcher) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	for _, l := range leases {
		l.Addr = netip.MustParseAddr("10.0.0.9")
	}
}

// asks is an Around that notes who was asked about, and passes all on.
func asks(log *[]string, name string) billing.Middleware {
	return billing.Around{
		Authorize: func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error, next billing.AuthorizeFunc) {
			for _, r := range reqs {
				*log = append(*log, name+" "+r.UserName)
			}
			next(ctx, reqs, grants, errs)
		},
		Account: func(ctx context.Context, recs []*billing.AccountingRecord, errs []error, next billing.AccountFunc) {
			for _, r := range recs {
				*log = append(*log, name+" "+r.SessionID)
			}
			next(ctx, recs, errs)
		},
		Lease: func(ctx context.Context, leases []*billing.AddressLease, next billing.LeaseFunc) {
			*log = append(*log, name+" leases")
			next(ctx, leases)
		},
	}.Wrap
}

// A wrapped Handler can do all that it can alone, and no more: a batch stays a batch.
func TestAroundKeepsWhatAHandlerCan(t *testing.T) {
	b := &batcher{fake: fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
		return billing.Grant{Password: billing.Cleartext("pw"), Pool: "home"}, nil
	}}}
	var log []string
	h := billing.Chain(b, asks(&log, "outer"), billing.Around{}.Wrap, asks(&log, "inner"))
	p := &billing.Processor{Handler: h}
	if p.BatchSize() != 0 {
		t.Error("a BatchHandler is none any more")
	}
	replies := billingtest.RunBatch(t, p, billingtest.PAP("alice", "pw"), billingtest.PAP("bob", "wrong"))
	if !replies[0].Accepted() || replies[0].Addr(8) != netip.MustParseAddr("10.0.0.9") || !replies[1].Rejected() {
		t.Errorf("replies: %v, %v", replies[0], replies[1])
	}
	replies = billingtest.RunBatch(t, p, billingtest.Start("alice", "s1"), billingtest.Stop("alice", "s2"))
	if !replies[0].Acknowledged() || !replies[1].Acknowledged() {
		t.Errorf("replies: %v, %v", replies[0], replies[1])
	}
	if !billingtest.Run(t, p, billingtest.PAP("carol", "pw")).Accepted() || !billingtest.Run(t, p, billingtest.Start("carol", "s3")).Acknowledged() {
		t.Error("carol is not served alone")
	}
	want := []string{
		"outer alice", "outer bob", "inner alice", "inner bob", "outer leases", "inner leases", "outer s1", "outer s2", "inner s1", "inner s2",
		"outer carol", "inner carol", "outer leases", "inner leases", "outer s3", "inner s3",
	}
	if !slices.Equal(log, want) {
		t.Errorf("asked:\n%q, want\n%q", log, want)
	}
	if !slices.Equal(b.batches, []int{2, 2}) {
		t.Errorf("batches of %v", b.batches)
	}
	if len(b.results) != 3 {
		t.Errorf("PostAuth was called %d times", len(b.results))
	}
}

// Requests are better spread over the workers where the back end takes one at a time.
func TestAroundMakesNoBatchHandler(t *testing.T) {
	var log []string
	h := asks(&log, "asked")(granting(billing.Grant{NoPassword: true, Pool: "home"}))
	if _, ok := h.(billing.BatchHandler); ok {
		t.Error("it is a BatchHandler")
	}
	p := &billing.Processor{Handler: h, PoolFull: billing.PoolFullReject}
	if p.BatchSize() != 1 {
		t.Errorf("BatchSize is %d", p.BatchSize())
	}
	if r := billingtest.Run(t, p, billingtest.AccessRequest().User("alice")); !r.Rejected() {
		t.Errorf("a back end without pools has an address: %v", r)
	}
}

// An Around may answer itself, and one request's error is its own.
func TestAroundAnswersItself(t *testing.T) {
	errNo := errors.New("no")
	h := billing.Around{
		Authorize: func(_ context.Context, _ []*billing.AccessRequest, _ []billing.Grant, errs []error, _ billing.AuthorizeFunc) {
			errs[0] = errNo
		},
		Account: func(_ context.Context, _ []*billing.AccountingRecord, errs []error, _ billing.AccountFunc) {
			errs[0] = errNo
		},
	}.Wrap(billing.NewMemory(0))
	for range 2 { // what was used before is not left behind
		if g, err := h.Authorize(t.Context(), &billing.AccessRequest{}); !errors.Is(err, errNo) || !g.Password.IsZero() {
			t.Errorf("%v, %v", g, err)
		}
		if err := h.Account(t.Context(), &billing.AccountingRecord{}); !errors.Is(err, errNo) {
			t.Error(err)
		}
	}
}
