package billingtest

import (
	"fmt"
	"sync"

	"github.com/radpool/radpool/billing"
)

// Sizes of the check for concurrent use.
const (
	workers = 8
	rounds  = 12
)

const ruleConcurrent = "methods are called from many workers at once, and each call has its own answer"

// checkConcurrent has all workers do the same things at the same time: ask about a
// subscriber each and about nobody, store a session each, and store the records of
// one session that is everybody's. Every other one does so in batches, if it can.
// What they ask is made beforehand, so that their calls do meet.
func checkConcurrent(s *suite) {
	var mine, shared []*visit
	for round := range rounds {
		common := s.visit(fmt.Sprintf("shared-%d", round))
		shared = append(shared, common)
		ask, tell := make([]func(), workers), make([]func(), workers)
		for w := range workers {
			own := s.visit(fmt.Sprintf("worker-%d-%d", w, round))
			mine = append(mine, own)
			ask[w], tell[w] = s.asking(w), s.telling(w, round, own, common)
		}
		atOnce(ask)
		atOnce(tell)
	}
	if s.backend.Sessions == nil {
		return
	}
	all := s.sessions()
	expect := func(visits []*visit, how string) {
		for _, l := range visits {
			got, found := all[l.id(s)]
			s.expect(ruleConcurrent, how, got, found, l.ended)
		}
	}
	expect(mine, "a session beside those of other workers")
	expect(shared, "a session whose records come to several workers at once")
	if want := len(mine) + len(shared); len(all) != want {
		s.fail("Account", ruleConcurrent, "there are %d sessions, must be %d", len(all), want)
	}
}

// atOnce calls all of fs, each in a goroutine.
func atOnce(fs []func()) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for _, f := range fs {
		wg.Go(func() {
			<-start
			f()
		})
	}
	close(start)
	wg.Wait()
}

// inBatches is the Handler's batches if worker w is to use them, or nil.
func (s *suite) inBatches(w int) billing.BatchHandler {
	if w%2 == 0 {
		return nil
	}
	return s.batch()
}

// asking is what worker w asks in one round.
func (s *suite) asking(w int) func() {
	sub := subscribers[w%len(subscribers)]
	reqs := []*billing.AccessRequest{s.access(PAP(sub.UserName, sub.Password)), s.access(PAP(fmt.Sprintf("nobody-%d", w), "x"))}
	grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
	judge := func(method string) {
		right := grants[0].Password.VerifyPAP([]byte(sub.Password)) == billing.ReasonNone
		if errs[0] != nil || grants[0].Reason != billing.ReasonNone || !right {
			s.fail(method, ruleConcurrent, "user %q: Reason %v, password right: %v, error %v", sub.UserName, because(grants[0].Reason), right, orNone(errs[0]))
		}
		if errs[1] != nil || grants[1].Reason != billing.ReasonUnknownUser {
			s.fail(method, ruleConcurrent, "a user who is not known: Reason %v, error %v", grants[1].Reason, orNone(errs[1]))
		}
	}
	if b := s.inBatches(w); b != nil {
		return func() {
			if s.guard("AuthorizeBatch", func() { b.AuthorizeBatch(s.ctx, reqs, grants, errs) }) {
				judge("AuthorizeBatch")
			}
		}
	}
	return func() {
		for i, req := range reqs {
			var ok bool
			if grants[i], ok, errs[i] = s.authorize(s.ctx, req); !ok {
				return
			}
		}
		judge("Authorize")
	}
}

// telling is what worker w stores in one round: a session of its own, and a record
// of the common one, which comes to a worker that has batches and to one that has not:
// another in each round, since who is first is often the same.
func (s *suite) telling(w, round int, own, common *visit) func() {
	ours := [...]Request{common.start, common.interim1, common.interim2, common.stop}
	var recs []*billing.AccountingRecord
	for _, r := range []Request{ours[(w/2+round)%len(ours)], own.start, own.interim1, own.interim2, own.stop} {
		recs = append(recs, s.record(r))
	}
	if b := s.inBatches(w); b != nil {
		return func() {
			errs := make([]error, len(recs))
			if !s.guard("AccountBatch", func() { b.AccountBatch(s.ctx, recs, errs) }) {
				return
			}
			for i, err := range errs {
				if err != nil {
					s.fail("AccountBatch", ruleConcurrent, "%s: %v", describe(recs[i]), err)
				}
			}
		}
	}
	return func() {
		for _, rec := range recs {
			if !s.account(rec, describe(rec)) {
				return
			}
		}
	}
}
