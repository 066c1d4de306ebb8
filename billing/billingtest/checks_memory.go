package billingtest

import (
	"context"
	"time"

	"github.com/radpool/radpool/billing"
)

// poison is what stands in the memory of a request that is over. It is nobody's
// name.
const poison = "billingtest: used after return"

// poisonAccess does to a request what an arena does: the memory is somebody else's.
func poisonAccess(req *billing.AccessRequest) {
	for _, a := range req.Request.Attributes {
		overwrite(a.Attribute)
	}
	*req = billing.AccessRequest{
		UserName: poison, CallingStationID: poison, CalledStationID: poison, NASIdentifier: poison,
		NASPortID: poison, SessionID: poison,
	}
}

func poisonRecord(rec *billing.AccountingRecord) {
	for _, a := range rec.Request.Attributes {
		overwrite(a.Attribute)
	}
	overwrite(rec.Class)
	*rec = billing.AccountingRecord{
		Status: billing.Start, UserName: poison, SessionID: poison, UniqueID: poison, CallingStationID: poison,
		Time: time.Unix(0, 0), SessionTime: 1<<62 - 1, InputOctets: 1<<63 - 1, OutputOctets: 1<<63 - 1,
	}
}

func overwrite(b []byte) {
	for i := range b {
		b[i] = 0xDB
	}
}

func checkMemory(s *suite) {
	const rule = "a request is not the back end's after the method has returned: nothing of it may be kept but its strings"
	for range 2 {
		for _, sub := range subscribers {
			req := s.access(PAP(sub.UserName, sub.Password))
			g, ok, err := s.authorize(s.ctx, req)
			if ok && (err != nil || g.Reason != billing.ReasonNone) {
				s.fail("Authorize", rule, "user %q: Reason %v, error %v", sub.UserName, because(g.Reason), orNone(err))
			}
			poisonAccess(req)
		}
	}
	s.unknown(rule, poison)

	l := s.visit("memory")
	for _, r := range []Request{l.start, l.interim1, l.interim2, l.stop} {
		rec := s.record(r)
		if !s.account(rec, describe(rec)) {
			return
		}
		poisonRecord(rec)
	}
	s.expectVisit(rule, "when the memory of its records has been overwritten", l, l.ended)
	if n := len(s.sessions()); n != 1 {
		s.fail("Account", rule, "there are %d sessions, must be 1", n)
	}
	if b := s.batch(); b != nil {
		s.batchMemory(b, rule)
	}
}

func (s *suite) batchMemory(b billing.BatchHandler, rule string) {
	l := s.visit("memory-batch")
	for _, pair := range [][]Request{{l.start, l.interim1}, {l.interim2, l.stop}} {
		recs := []*billing.AccountingRecord{s.record(pair[0]), s.record(pair[1])}
		errs := make([]error, len(recs))
		if !s.guard("AccountBatch", func() { b.AccountBatch(s.ctx, recs, errs) }) {
			return
		}
		for i, rec := range recs {
			if errs[i] != nil {
				s.fail("AccountBatch", ruleStored, "%s: %v", describe(rec), errs[i])
			}
			poisonRecord(rec)
			recs[i], errs[i] = nil, context.Canceled
		}
	}
	got, found := s.sessions()[l.id(s)]
	if diff := l.ended.diff(got); !found || diff != "" {
		s.fail("AccountBatch", rule, "when the memory of its records has been overwritten: %s", diff)
	}
}
