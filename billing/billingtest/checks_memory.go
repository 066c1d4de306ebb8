package billingtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/radpool/radpool/billing"
)

const (
	ruleCancelled = "when the context has ended, an answer is the right one or an error, and a failure is no answer"
	ruleNotStored = "Account must not return nil for a record that is not stored, also when the context has ended"
)

func checkCancelledAuthorize(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	for _, name := range []string{"alice", "nobody"} {
		want := billing.ReasonNone
		if name == "nobody" {
			want = billing.ReasonUnknownUser
		}
		var (
			g   billing.Grant
			err error
		)
		req := s.access(PAP(name, subscribers[0].Password))
		s.soon("Authorize", func() { g, err = s.backend.Handler.Authorize(ctx, req) })
		s.judge("Authorize", ruleCancelled, name, g, err, want)
	}
}

// judge checks an answer that may be an error.
func (s *suite) judge(method, rule, name string, g billing.Grant, err error, want billing.Reason) {
	switch {
	case err != nil:
	case g.Reason != want:
		s.fail(method, rule, "user %q: the Reason is %v, must be %v or an error", name, g.Reason, want)
	case want == billing.ReasonNone && g.Password.VerifyPAP([]byte(subscribers[0].Password)) != billing.ReasonNone:
		s.fail(method, rule, "user %q: a Grant without the right password, and no error", name)
	}
}

func checkCancelledAccount(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	l := newVisit("cancelled")
	for _, r := range []Request{l.start, l.stop} {
		rec := s.record(r)
		var err error
		s.soon("Account", func() { err = s.backend.Handler.Account(ctx, rec) })
		if err != nil {
			continue
		}
		got, found := s.sessions()[rec.UniqueID]
		switch {
		case !found:
			s.fail("Account", ruleNotStored, "%v: there is no session", rec.Status)
		case rec.Status == billing.Stop && got.Stop.IsZero():
			s.fail("Account", ruleNotStored, "%v: the session is open", rec.Status)
		}
	}
}

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
		NASPortID: poison, AcctSessionID: poison,
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
				s.fail("Authorize", rule, "user %q: Reason %v, error %v", sub.UserName, g.Reason, orNone(err))
			}
			poisonAccess(req)
		}
	}
	s.unknown(rule, poison)

	l := newVisit("memory")
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
	l := newVisit("memory-batch")
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

// Sizes of the check for concurrent use.
const (
	workers = 8
	rounds  = 12
)

// checkConcurrent has all workers do the same things at the same time: ask about a
// subscriber each and about nobody, store a session each, and store the records of
// one session that is everybody's.
func checkConcurrent(s *suite) {
	const rule = "methods are called from many workers at once, and each call has its own answer"
	var mine, shared []*visit
	for i := range rounds {
		common := newVisit(fmt.Sprintf("shared-%d", i))
		shared = append(shared, common)
		var wg sync.WaitGroup
		for w := range workers {
			own := newVisit(fmt.Sprintf("worker-%d-%d", w, i))
			mine = append(mine, own)
			wg.Go(func() { s.work(rule, w, own, common) })
		}
		wg.Wait()
	}
	if s.backend.Sessions == nil {
		return
	}
	all := s.sessions()
	expect := func(visits []*visit, how string) {
		for _, l := range visits {
			got, found := all[l.id(s)]
			s.expect(rule, how, got, found, l.ended)
		}
	}
	expect(mine, "a session beside those of other workers")
	expect(shared, "a session whose records come to several workers at once")
	if want := len(mine) + len(shared); len(all) != want {
		s.fail("Account", rule, "there are %d sessions, must be %d", len(all), want)
	}
}

// work is one round of one worker.
func (s *suite) work(rule string, w int, own, common *visit) {
	sub := subscribers[w%len(subscribers)]
	g, ok, err := s.authorize(s.ctx, s.access(PAP(sub.UserName, sub.Password)))
	if !ok {
		return
	}
	right := g.Password.VerifyPAP([]byte(sub.Password)) == billing.ReasonNone
	if err != nil || g.Reason != billing.ReasonNone || !right {
		s.fail("Authorize", rule, "user %q: Reason %v, password right: %v, error %v", sub.UserName, g.Reason, right, orNone(err))
	}
	s.unknown(rule, fmt.Sprintf("nobody-%d", w))
	ours := []Request{common.start, common.interim1, common.interim2, common.stop}
	for _, r := range []Request{ours[w%len(ours)], own.start, own.interim1, own.interim2, own.stop} {
		if rec := s.record(r); !s.account(rec, describe(rec)) {
			return
		}
	}
}
