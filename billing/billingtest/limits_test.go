package billingtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// withQuota is a back end that is right, and whose subscribers have a quota.
func withQuota(octets uint64) billingtest.Factory {
	return func(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		w := &wrong{ledger: newLedger(subscribers)}
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g, err := w.ledger.Authorize(ctx, req)
			if err == nil && g.Reason == billing.ReasonNone && w.octetsOf(req.UserName) > octets {
				g.Reason, g.Message = billing.ReasonNoMoney, "Quota used up"
			}
			return g, err
		}
		return w.backend(w), nil
	}
}

func (w *wrong) octetsOf(userName string) (sum uint64) {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	for _, e := range w.disk.sessions {
		if e.UserName == userName {
			sum += e.InputOctets + e.OutputOctets
		}
	}
	return sum
}

// TestLimits has a quota that the suite uses up: the failure says that it is the
// Factory's, and no other fails.
func TestLimits(t *testing.T) {
	errs := billingtest.Check(t.Context(), withQuota(1000<<20))
	concurrent := false
	for _, err := range errs {
		if _, skipped := errors.AsType[*billingtest.SkipError](err); skipped {
			continue
		}
		if text := err.Error(); !strings.Contains(text, "no-money") || !strings.Contains(text, "Factory") || !strings.Contains(text, "limit") {
			t.Errorf("the failure does not tell of the limit: %v", err)
		}
		f, ok := errors.AsType[*billingtest.Failure](err)
		concurrent = concurrent || ok && f.Check == "concurrent"
	}
	if !concurrent {
		t.Errorf("a quota of 1000 MB is not used up by concurrent: %v", errs)
	}
	for _, err := range billingtest.Check(t.Context(), withQuota(1<<60), "concurrent", "memory", "batch-one-bad") {
		t.Errorf("a quota that is never reached: %v", err)
	}
}
