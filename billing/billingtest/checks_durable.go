package billingtest

import "github.com/radpool/radpool/billing"

// ruleLasting is of what every check has stored when it is over.
const ruleLasting = "what Sessions shows must be the same after Reopen: all that was acknowledged outlives a crash, as it was"

// reopens reports whether the back end can be looked at before and after a crash.
func (s *suite) reopens() bool { return s.backend.Sessions != nil && s.backend.Reopen != nil }

// reopen replaces the back end with what a crash leaves. It ends the check when
// there is none.
func (s *suite) reopen() {
	again, err := s.backend.Reopen(s.ctx)
	if err != nil || again == nil || again.Handler == nil || again.Sessions == nil {
		s.fail("Backend.Reopen", "a back end must open again after a crash, with Handler and Sessions", "the error %v", orNone(err))
		s.backend.Close = nil // it is over
		s.stop()
	}
	s.backend = again
}

// lasts compares what there is before and after a crash: whatever the check has
// done to sessions, it was to be durable. Sessions with a record that was refused
// are left out, since nothing was promised about these.
func (s *suite) lasts() {
	method := "Account"
	if s.check.needs&needBatch != 0 {
		method = "AccountBatch"
	}
	before := s.sessions()
	s.reopen()
	after := s.sessions()
	for id, want := range before {
		got, found := after[id]
		switch {
		case s.refused[id]:
		case !found:
			s.fail(method, ruleLasting, "user %q, Acct-Session-Id %q: the session is gone after Reopen", want.UserName, want.SessionID)
		default:
			if diff := want.changed(got); diff != "" {
				s.fail(method, ruleLasting, "user %q, Acct-Session-Id %q: after Reopen %s", want.UserName, want.SessionID, diff)
			}
		}
	}
	for id, got := range after {
		if _, found := before[id]; !found && !s.refused[id] {
			s.fail(method, ruleLasting, "user %q, Acct-Session-Id %q: there is a session after Reopen that was not there before", got.UserName, got.SessionID)
		}
	}
}

func checkDurable(s *suite) {
	const rule = "Account must return nil only when the record is durable"
	first, second := s.visit("durable-1"), s.visit("durable-2")
	s.send(first.start, first.interim1, first.interim2, first.stop, second.start)
	batched := s.visit("durable-3")
	if b := s.batch(); b != nil {
		errs := make([]error, 1)
		if !s.guard("AccountBatch", func() {
			b.AccountBatch(s.ctx, []*billing.AccountingRecord{s.record(batched.start)}, errs)
		}) || errs[0] != nil {
			s.fail("AccountBatch", ruleStored, "a Start: %v", orNone(errs[0]))
			return
		}
	}
	hadBatch := s.batch() != nil
	s.reopen()
	s.expectVisit(rule, "after opening again: a session that had ended", first, first.ended)
	s.expectVisit(rule, "after opening again: a session that was open", second, second.open)
	if hadBatch {
		s.expectVisit(rule, "after opening again: a Start that came to AccountBatch", batched, batched.open)
	}
	s.send(second.stop)
	s.expectVisit(ruleStored, "a Stop after opening again", second, second.ended)
}
