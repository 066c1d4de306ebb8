package billingtest_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// wrong is a ledger of which some methods are another's.
type wrong struct {
	*ledger
	authorize      func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error)
	account        func(ctx context.Context, rec *billing.AccountingRecord) error
	authorizeBatch func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error)
	accountBatch   func(ctx context.Context, recs []*billing.AccountingRecord, errs []error)
	left           *disk                     // what a crash leaves, if that is not what it showed before
	replay         func(written *disk) *disk // what is made of that when opening again
	meeting        atomic.Int64
}

// meet is where a call is overtaken by another, if there is one.
func (w *wrong) meet() {
	w.meeting.Add(1)
	for i := 0; i < 10000 && w.meeting.Load() < 2; i++ {
		runtime.Gosched()
	}
	for range 20 {
		runtime.Gosched() // the others change what they share
	}
	w.meeting.Add(-1)
}

func (w *wrong) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	if w.authorize != nil {
		return w.authorize(ctx, req)
	}
	return w.ledger.Authorize(ctx, req)
}

func (w *wrong) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	if w.account != nil {
		return w.account(ctx, rec)
	}
	return w.ledger.Account(ctx, rec)
}

func (w *wrong) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	if w.authorizeBatch != nil {
		w.authorizeBatch(ctx, reqs, grants, errs)
		return
	}
	for i, req := range reqs {
		grants[i], errs[i] = w.Authorize(ctx, req)
	}
}

func (w *wrong) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	if w.accountBatch != nil {
		w.accountBatch(ctx, recs, errs)
		return
	}
	for i, rec := range recs {
		errs[i] = w.Account(ctx, rec)
	}
}

// change makes an account that stores with the ledger and then changes the session.
func (w *wrong) change(f func(e *entry, rec *billing.AccountingRecord, before entry, known bool)) {
	w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
		w.disk.mu.Lock()
		var before entry
		e, known := w.disk.sessions[rec.UniqueID]
		if known {
			before = *e
		}
		w.disk.mu.Unlock()
		if err := w.ledger.Account(ctx, rec); err != nil {
			return err
		}
		w.disk.mu.Lock()
		defer w.disk.mu.Unlock()
		if e := w.disk.sessions[rec.UniqueID]; e != nil {
			f(e, rec, before, known)
		}
		return nil
	}
}

// forgetRestarts makes an account to which restarts of the NAS are of no concern when
// the first record of a session is one of these.
func (w *wrong) forgetRestarts(first func(rec *billing.AccountingRecord) bool) {
	w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, known bool) {
		if !known && first(rec) {
			e.Stop = time.Time{}
		}
	})
}

// A fault is a way in which back ends go wrong, with the check that must name it
// and the method that is to blame.
type fault struct {
	name, check, method string
	make                func(w *wrong)
}

var errBroken = errors.New("broken")

func (f *fault) factory(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
	w := &wrong{ledger: newLedger(subscribers)}
	f.make(w)
	b := w.backend(w)
	if w.left != nil || w.replay != nil {
		b.Reopen = func(context.Context) (*billingtest.Backend, error) {
			again := &ledger{subscribers: w.subscribers, disk: w.disk}
			if w.left != nil {
				again.disk = w.left
			}
			if w.replay != nil {
				again.disk = w.replay(again.disk)
			}
			return again.backend(again), nil
		}
	}
	return b, nil
}

// Every wrong back end must be caught by the check that is there for its fault, and
// the message must say which method is to blame.
func TestWrongBackEndsAreCaught(t *testing.T) {
	caught := make(map[string]bool)
	for _, faults := range [][]fault{accessFaults, accountFaults, batchFaults, crashFaults} {
		for i := range faults {
			f := &faults[i]
			caught[f.check] = true
			t.Run(f.name, func(t *testing.T) {
				errs := billingtest.Check(t.Context(), f.factory, f.check)
				if len(errs) == 0 {
					t.Fatalf("%s does not notice", f.check)
				}
				blamed := false
				for _, err := range errs {
					failure, ok := errors.AsType[*billingtest.Failure](err)
					if !ok || failure.Rule == "" || failure.Detail == "" || !strings.HasPrefix(err.Error(), f.check+": "+failure.Method+": ") {
						t.Errorf("not a proper failure: %v", err)
						continue
					}
					blamed = blamed || failure.Method == f.method
				}
				if !blamed {
					t.Errorf("nobody blames %s: %v", f.method, errs)
				}
			})
		}
	}
	for _, name := range billingtest.CheckNames() {
		if !caught[name] {
			t.Errorf("no wrong back end shows that %s works", name)
		}
	}
}

// A database that hangs takes with it a method that does not look at its context.
func TestStallIsCaught(t *testing.T) {
	defer billingtest.SetPatience(billingtest.SetPatience(200 * time.Millisecond))
	f := fault{make: func(w *wrong) {
		w.account = func(_ context.Context, rec *billing.AccountingRecord) error {
			w.disk.stalled.RLock()
			defer w.disk.stalled.RUnlock()
			w.disk.store(rec)
			return nil
		}
	}}
	errs := billingtest.Check(t.Context(), f.factory, "stalled")
	if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), "stalled: Account: a method must return soon") {
		t.Errorf("Account hangs: %v", err)
	}
}

// A method that hangs is told, and the check ends.
func TestHangIsCaught(t *testing.T) {
	defer billingtest.SetPatience(billingtest.SetPatience(10 * time.Millisecond))
	for method, check := range map[string]string{
		"Authorize": "cancelled-authorize", "Account": "cancelled-account",
		"AuthorizeBatch": "batch-cancelled", "AccountBatch": "batch-account",
	} {
		release := make(chan struct{})
		f := fault{make: func(w *wrong) {
			wait := func(name string) {
				if name == method {
					<-release
				}
			}
			w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
				wait("Authorize")
				return w.ledger.Authorize(ctx, req)
			}
			w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
				wait("Account")
				return w.ledger.Account(ctx, rec)
			}
			w.authorizeBatch = func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
				wait("AuthorizeBatch")
				w.ledger.AuthorizeBatch(ctx, reqs, grants, errs)
			}
			w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
				wait("AccountBatch")
				w.ledger.AccountBatch(ctx, recs, errs)
			}
		}}
		errs := billingtest.Check(t.Context(), f.factory, check)
		close(release)
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), check+": "+method+": a method must return soon") {
			t.Errorf("%s hangs: %v", method, errs)
		}
	}
}
