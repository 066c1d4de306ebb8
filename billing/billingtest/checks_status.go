package billingtest

import (
	"github.com/radpool/radpool/billing"
)

// otherStatuses are Acct-Status-Type values that have nothing to do with sessions
// of subscribers: Tunnel-Start (RFC 2867 section 3.1) and Failed (RFC 2866
// section 5.1).
var otherStatuses = []billing.StatusType{9, 15}

func checkOtherStatus(s *suite) {
	const (
		rule  = "a record of another Acct-Status-Type must be acknowledged, or the NAS would send it for ever"
		alone = "a record of another Acct-Status-Type is none of a session's: it opens none, and changes none"
	)
	l := s.visit("status")
	s.send(l.start)
	var records []*billing.AccountingRecord
	for _, status := range otherStatuses {
		for _, id := range []string{"status", "status-new", ""} {
			r := Accounting(status, "alice", id).Port(7).Class("class of " + id).EventTime(s.began)
			records = append(records, s.record(r))
		}
	}
	for _, rec := range records {
		var err error
		if s.guard("Account", func() { err = s.backend.Handler.Account(s.ctx, rec) }) && err != nil {
			s.fail("Account", rule, "Acct-Status-Type %d, Acct-Session-Id %q: %v", uint32(rec.Status), rec.SessionID, err)
		}
	}
	if b := s.batch(); b != nil {
		errs := make([]error, len(records))
		s.guard("AccountBatch", func() { b.AccountBatch(s.ctx, records, errs) })
		for i, err := range errs {
			if err != nil {
				s.fail("AccountBatch", rule, "Acct-Status-Type %d, Acct-Session-Id %q: %v", uint32(records[i].Status), records[i].SessionID, err)
			}
		}
	}
	if s.backend.Sessions == nil {
		return
	}
	s.expectVisit(alone, "a session that is open", l, l.open)
	if n := len(s.sessions()); n != 1 {
		s.fail("Account", alone, "there are %d sessions, must be 1", n)
	}
}
