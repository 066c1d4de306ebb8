package billingtest_test

import (
	"context"
	"slices"
	"testing"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// What a Recorder keeps is its own: the requests are over when the test looks.
func TestRecorderKeepsCopies(t *testing.T) {
	back := billingtest.Recorder{Handler: newShop()}
	p := &billing.Processor{Handler: &back}
	billingtest.Run(t, p, billingtest.PAP("alice", "wonderland").CallingStation("02-00"))
	billingtest.Run(t, p, billingtest.PAP("alice", "guess"))
	billingtest.Run(t, p, billingtest.Start("alice", "1").Class("gold"))
	for range 50 { // the memory becomes other requests'
		billingtest.Run(t, p, billingtest.Start("XXXXX", "2").Class("XXXX"))
	}
	req, rec, res := back.Access()[0], back.Records()[0], back.Results()
	if req.UserName != "alice" || req.CallingStationID != "02-00" || rfc2865.CallingStationID_GetString(req.Request.Packet) != "02-00" {
		t.Errorf("the request: %+v", req)
	}
	if rec.UserName != "alice" || string(rec.Class) != "gold" || rfc2865.Class_GetString(rec.Request.Packet) != "gold" {
		t.Errorf("the record: %+v", rec)
	}
	if len(res) != 2 || !res[0].Accepted || res[1].Accepted || res[1].Reason != billing.ReasonWrongPassword ||
		string(res[1].Password) != "guess" || res[1].Access.UserName != "alice" {
		t.Errorf("the results: %+v", res)
	}
	back.Reset()
	if len(back.Access())+len(back.Records())+len(back.Results()) != 0 {
		t.Error("Reset forgets nothing")
	}
}

func TestZeroRecorder(t *testing.T) {
	var back billingtest.Recorder
	p := &billing.Processor{Handler: &back, ShowReasons: true}
	if reply := billingtest.Run(t, p, billingtest.PAP("alice", "w")); reply.Message() != billing.ReasonUnknownUser.Text() {
		t.Errorf("%v", reply)
	}
	if reply := billingtest.Run(t, p, billingtest.Start("alice", "1")); !reply.Acknowledged() {
		t.Errorf("%v", reply)
	}
}

// batches notes how it is called.
type batches struct {
	*ledger
	calls []string
}

func (b *batches) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	b.calls = append(b.calls, "AuthorizeBatch")
	b.ledger.AuthorizeBatch(ctx, reqs, grants, errs)
}

func (b *batches) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	b.calls = append(b.calls, "AccountBatch")
	b.ledger.AccountBatch(ctx, recs, errs)
}

func TestRecorderPassesBatchesOn(t *testing.T) {
	l := newLedger([]billingtest.Subscriber{{UserName: "alice", Password: "wonderland"}})
	under := &batches{ledger: l}
	for _, h := range []billing.Handler{under, plain{l}} {
		back := billingtest.Recorder{Handler: h}
		replies := billingtest.RunBatch(t, &billing.Processor{Handler: &back}, billingtest.PAP("alice", "wonderland"),
			billingtest.PAP("bob", "x"), billingtest.Start("alice", "1"), billingtest.Start("alice", "2"))
		if !replies[0].Accepted() || !replies[1].Rejected() || !replies[2].Acknowledged() || !replies[3].Acknowledged() {
			t.Errorf("%T: %v", h, replies)
		}
		if a, r := back.Access(), back.Records(); len(a) != 2 || len(r) != 2 || a[1].UserName != "bob" || r[1].SessionID != "2" {
			t.Errorf("%T: recorded %v and %v", h, a, r)
		}
	}
	if want := []string{"AuthorizeBatch", "AccountBatch"}; !slices.Equal(under.calls, want) {
		t.Errorf("the batch handler was called %v, want %v", under.calls, want)
	}
}

func TestRecorderIsBounded(t *testing.T) {
	var back billingtest.Recorder
	rec := &billing.AccountingRecord{}
	for range billingtest.MaxRecorded + 3 {
		if err := back.Account(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(back.Records()); n != billingtest.MaxRecorded || back.Dropped() != 3 {
		t.Errorf("%d kept, %d dropped", n, back.Dropped())
	}
}
