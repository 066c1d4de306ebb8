package middleware_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/billing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("the database is away")

// A core is a back end that answers what it is told, and counts what it is asked.
type core struct {
	answer func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error)
	store  func(ctx context.Context) error

	mu    sync.Mutex
	calls []int // how many were asked about at once
	stops int   // records
}

func (c *core) asked() (calls, requests int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.calls {
		requests += n
	}
	return len(c.calls), requests
}

func (c *core) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, n)
}

func (c *core) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	c.count(1)
	return c.answer(ctx, req)
}

func (c *core) Account(ctx context.Context, _ *billing.AccountingRecord) error {
	c.mu.Lock()
	c.stops++
	c.mu.Unlock()
	if c.store == nil {
		return nil
	}
	return c.store(ctx)
}

func (c *core) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	c.count(len(reqs))
	for i, req := range reqs {
		grants[i], errs[i] = c.answer(ctx, req)
	}
}

func (c *core) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	for i, rec := range recs {
		errs[i] = c.Account(ctx, rec)
	}
}

// granting is a core that answers g to everybody.
func granting(g billing.Grant) *core {
	return &core{answer: func(context.Context, *billing.AccessRequest) (billing.Grant, error) { return g, nil }}
}

// good lets in who knows the password.
var good = billing.Grant{Password: billing.Cleartext("pw")}

func access(user string) *billing.AccessRequest {
	return &billing.AccessRequest{UserName: user, Method: billing.MethodPAP, CallingStationID: "02-00-00-00-00-01"}
}
