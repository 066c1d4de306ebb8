//go:build !race

package sqlbilling_test

import (
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// An evaluation must stay cheap: it is done for every login.
func TestEvaluateAllocations(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	if _, err := f.EnsureDemo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	req := &billing.AccessRequest{UserName: "user0", Time: at(0)}
	const budget = 130
	if n := testing.AllocsPerRun(100, func() { _, _ = f.Authorize(t.Context(), req) }); n > budget {
		t.Errorf("%v allocations for an Access-Request, the budget is %d", n, budget)
	}
}
