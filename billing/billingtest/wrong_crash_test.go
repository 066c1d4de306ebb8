package billingtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// eachSession makes a replay that changes every session on the disk. It returns
// false for one that is lost.
func eachSession(f func(e *entry) (found bool)) func(*disk) *disk {
	return func(written *disk) *disk {
		again := newDisk()
		for id, e := range written.sessions {
			c := *e
			if f(&c) {
				again.sessions[id] = &c
			}
		}
		again.restarts = written.restarts
		return again
	}
}

// writes makes an account that writes what is chosen, and keeps all in memory.
func (w *wrong) writes(chosen func(rec *billing.AccountingRecord) bool) {
	w.left = newDisk()
	w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
		if chosen(rec) {
			w.left.store(rec)
		}
		return w.ledger.Account(ctx, rec)
	}
}

// crashFaults are right in all that they say, until they crash.
var crashFaults = []fault{
	{"names are written as JSON", "strange-records", "Account", func(w *wrong) {
		w.replay = eachSession(func(e *entry) bool {
			line, err := json.Marshal(e.UserName)
			return err == nil && json.Unmarshal(line, &e.UserName) == nil
		})
	}},
	{"octets are written as JSON numbers", "octets", "Account", func(w *wrong) {
		w.replay = eachSession(func(e *entry) bool {
			line := fmt.Sprint(e.OutputOctets)
			var number any
			if json.Unmarshal([]byte(line), &number) != nil {
				return false
			}
			e.OutputOctets = uint64(number.(float64))
			return true
		})
	}},
	{"Class is not written", "sessions", "Account", func(w *wrong) {
		w.replay = eachSession(func(e *entry) bool { e.Class = ""; return true })
	}},
	{"a record that came again is counted again when the log is read", "repeated", "Account", func(w *wrong) {
		var log []billing.AccountingRecord
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			log = append(log, *rec)
			return w.ledger.Account(ctx, rec)
		}
		w.replay = func(*disk) *disk {
			again := newDisk()
			octets := make(map[string]uint64)
			for i := range log {
				again.store(&log[i])
				octets[log[i].UniqueID] += log[i].InputOctets
			}
			for id, e := range again.sessions {
				e.InputOctets = octets[id]
			}
			return again
		}
	}},
	{"an old record overwrites the row", "any-order", "Account", func(w *wrong) {
		last := make(map[string]uint64)
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			last[rec.UniqueID] = rec.InputOctets
			return w.ledger.Account(ctx, rec)
		}
		w.replay = eachSession(func(e *entry) bool { e.InputOctets = last[e.UniqueID]; return true })
	}},
	{"why a session ended is not written", "any-order", "Account", func(w *wrong) {
		w.replay = eachSession(func(e *entry) bool { e.Detail = ""; return true })
	}},
	{"a restart of the NAS is not replayed", "nas-restart", "Account", func(w *wrong) {
		w.writes(func(rec *billing.AccountingRecord) bool {
			return rec.Status != billing.AccountingOn && rec.Status != billing.AccountingOff
		})
	}},
	{"what a restart of the NAS closed is written, and that there was one is not", "nas-restart", "Account", func(w *wrong) {
		w.replay = func(written *disk) *disk {
			clear(written.restarts)
			for _, e := range written.sessions {
				e.stopped = e.Stop
			}
			return written
		}
	}},
	{"records after one of another status are lost", "other-status", "Account", func(w *wrong) {
		w.replay = eachSession(func(*entry) bool { return false })
	}},
	{"of each batch half is written", "batch-account", "AccountBatch", func(w *wrong) {
		w.left = newDisk()
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			for i, rec := range recs {
				if i < (len(recs)+1)/2 {
					w.left.store(rec)
				}
			}
			w.ledger.AccountBatch(ctx, recs, errs)
		}
	}},
	{"of one session's records in a batch the first is written", "batch-repeated", "AccountBatch", func(w *wrong) {
		w.left = newDisk()
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			seen := make(map[string]bool)
			for _, rec := range recs {
				if !seen[rec.UniqueID] {
					w.left.store(rec)
				}
				seen[rec.UniqueID] = true
			}
			w.ledger.AccountBatch(ctx, recs, errs)
		}
	}},
	{"the log is unreadable after a record with strange names", "batch-one-bad", "AccountBatch", func(w *wrong) {
		over := false
		w.left = newDisk()
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			over = over || strings.Contains(rec.SessionID, "\x00")
			if !over {
				w.left.store(rec)
			}
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"a batch whose context ended is in memory alone", "batch-cancelled", "AccountBatch", func(w *wrong) {
		w.left = newDisk()
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, _ []error) {
			for _, rec := range recs {
				if ctx.Err() == nil {
					w.left.store(rec)
				}
				w.disk.store(rec)
			}
		}
	}},
	{"sessions of the crash before are back", "sessions", "Account", func(w *wrong) {
		w.replay = func(written *disk) *disk {
			e := &entry{}
			e.UniqueID, e.Start = "an old one", time.Unix(1, 0)
			written.sessions[e.UniqueID] = e
			return written
		}
	}},
}

const ruleLasting = "what Sessions shows must be the same after Reopen"

// What is wrong after a crash alone must be said to be so, and not be an accident of
// another rule.
func TestCrashFaultsAreRightBefore(t *testing.T) {
	for i := range crashFaults {
		f := &crashFaults[i]
		blind := func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
			b, err := f.factory(ctx, subscribers)
			b.Reopen = nil
			return b, err
		}
		if errs := billingtest.Check(t.Context(), blind, f.check); len(errs) != 0 {
			t.Errorf("%s: it is wrong before: %v", f.name, errs)
		}
		for _, err := range billingtest.Check(t.Context(), f.factory, f.check) {
			failure, ok := errors.AsType[*billingtest.Failure](err)
			if !ok || !strings.Contains(failure.Rule+failure.Detail, "Reopen") {
				t.Errorf("%s: %v", f.name, err)
			}
		}
	}
}

// Each check that stores sessions ends with a crash.
func TestChecksEndWithACrash(t *testing.T) {
	lasting := []string{
		"sessions", "repeated", "any-order", "octets", "strange-records", "other-status", "nas-restart", "memory",
		"batch-account", "batch-repeated", "batch-one-bad", "batch-cancelled", "concurrent",
	}
	f := fault{make: func(w *wrong) {
		w.replay = eachSession(func(*entry) bool { return false })
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			w.ledger.AccountBatch(context.WithoutCancel(ctx), recs, errs) // so that batch-cancelled has sessions
		}
	}}
	for _, name := range billingtest.CheckNames() {
		noticed := slices.ContainsFunc(billingtest.Check(t.Context(), f.factory, name), func(err error) bool {
			failure, ok := errors.AsType[*billingtest.Failure](err)
			return ok && failure.Check == name && strings.HasPrefix(failure.Rule, ruleLasting)
		})
		if want := slices.Contains(lasting, name); noticed != want {
			t.Errorf("%s ends with a crash: %v, must be %v", name, noticed, want)
		}
	}
}

// A back end that cannot be opened again is told once, by each check that tries.
func TestReopenFails(t *testing.T) {
	for name, reopen := range map[string]func(context.Context) (*billingtest.Backend, error){
		"an error":   func(context.Context) (*billingtest.Backend, error) { return nil, errBroken },
		"no Backend": func(context.Context) (*billingtest.Backend, error) { return nil, nil },
		"no Sessions": func(context.Context) (*billingtest.Backend, error) {
			return &billingtest.Backend{Handler: newLedger(nil)}, nil
		},
	} {
		factory := func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
			b, err := newGoodLedger(ctx, subscribers)
			b.Reopen = reopen
			return b, err
		}
		for _, check := range []string{"octets", "nas-restart", "durable"} {
			errs := billingtest.Check(t.Context(), factory, check)
			if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), check+": Backend.Reopen: ") {
				t.Errorf("%s: %s: %v", name, check, errs)
			}
		}
	}
}

// A record that came back with an error may be lost in a crash, or be found after it.
func TestRefusedRecordsAreNotMissed(t *testing.T) {
	for name, replay := range map[string]func(*disk) *disk{
		"lost":  eachSession(func(e *entry) bool { return e.InputOctets <= 1<<63-1 }),
		"there": nil,
	} {
		f := fault{make: func(w *wrong) {
			w.replay = replay
			w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
				err := w.ledger.Account(ctx, rec)
				if rec.InputOctets > 1<<63-1 {
					err = errBroken
				}
				return err
			}
		}}
		for _, err := range billingtest.Check(t.Context(), f.factory, "batch-one-bad") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The package comment says how much is not checked without Sessions.
func TestSkippedAsDocumented(t *testing.T) {
	factory := func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		b, err := newGoodLedger(ctx, subscribers)
		b.Sessions = nil
		return b, err
	}
	errs := billingtest.Check(t.Context(), factory)
	for _, err := range errs {
		if _, ok := errors.AsType[*billingtest.SkipError](err); !ok {
			t.Error(err)
		}
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Without Sessions %d of %d checks are skipped", len(errs), len(billingtest.CheckNames()))
	if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(string(doc), "//", "")), " "), want) {
		t.Errorf("doc.go does not say: %s", want)
	}
}
