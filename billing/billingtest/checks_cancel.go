package billingtest

import (
	"context"
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
		s.fail(method, rule, "user %q: the Reason is %v, must be %v or an error", name, because(g.Reason), want)
	case want == billing.ReasonNone && g.Password.VerifyPAP([]byte(subscribers[0].Password)) != billing.ReasonNone:
		s.fail(method, rule, "user %q: a Grant without the right password, and no error", name)
	}
}

func checkCancelledAccount(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	l := s.visit("cancelled")
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

// stallTime is how long a request waits for a back end whose database hangs.
const stallTime = 50 * time.Millisecond

// checkStalled ends the context while the method runs.
func checkStalled(s *suite) {
	resume, err := s.backend.Stall(s.ctx)
	if err != nil {
		s.fail("Backend.Stall", "it must be possible to stall the back end", "%v", err)
		return
	}
	resume = sync.OnceFunc(resume)
	defer resume()
	ctx, cancel := context.WithTimeout(s.ctx, stallTime)
	defer cancel()
	// All at once, since each may take until the context ends.
	var (
		grant    billing.Grant
		grantErr error
		acctErr  error
		wg       sync.WaitGroup
	)
	req, rec := s.access(PAP("alice", subscribers[0].Password)), s.record(s.visit("stalled").start)
	wg.Go(func() {
		s.within("Authorize", func() { grant, grantErr = s.backend.Handler.Authorize(ctx, req) })
	})
	wg.Go(func() {
		s.within("Account", func() { acctErr = s.backend.Handler.Account(ctx, rec) })
	})
	wg.Wait()
	if s.failed() {
		return
	}
	s.judge("Authorize", ruleCancelled, "alice", grant, grantErr, billing.ReasonNone)
	resume()
	if _, found := s.sessions()[rec.UniqueID]; acctErr == nil && !found {
		s.fail("Account", ruleNotStored, "it returned nil while the back end hung, and there is no session")
	}
}
