package billing_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// TestEAPOneStateManyTimes sends each packet of a conversation four times at once, while the
// back end fails now and then: each State is good for one answer, a packet that could not be
// answered may come again, and each conversation ends in one Access-Accept.
func TestEAPOneStateManyTimes(t *testing.T) {
	const copies, conversations = 4, 40
	var calls atomic.Uint64
	back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
		if calls.Add(1)%3 != 0 {
			return billing.Grant{}, errors.New("away")
		}
		return billing.Grant{Password: billing.Cleartext("pw")}, nil
	}}
	p := &billing.Processor{Handler: back}
	var all sync.WaitGroup
	for i := range conversations {
		all.Go(func() {
			peer := billingtest.EAPMD5(fmt.Sprint("user", i), "pw")
			if i%2 == 0 {
				peer = billingtest.EAPMSCHAPv2(fmt.Sprint("user", i), "pw")
			}
			next, _, err := peer.Next(nil)
			if err != nil {
				t.Error(err)
				return
			}
			last := billingtest.Run(t, p, next)
			for round := 0; last.Challenged(); round++ {
				if next, _, err = peer.Next(last); err != nil {
					t.Error(err)
					return
				}
				if last = answeredOnce(t, p, next, copies); last == nil {
					return
				}
			}
			if _, _, err := peer.Next(last); err != nil || !last.Accepted() {
				t.Errorf("conversation %d: %v, %v", i, last, err)
			}
		})
	}
	all.Wait()
	if s := p.Stats(); s.EAPWaiting != 0 || s.Accepted != conversations || s.EAPPushed+s.EAPTimedOut != 0 {
		t.Errorf("%+v", s)
	}
}

// answeredOnce sends a request several times at once, and all of them again where the back end
// failed for the one that had the State. It returns the one answer that is none to an unknown
// State, or nil.
func answeredOnce(t *testing.T, p *billing.Processor, r billingtest.Request, copies int) *billingtest.Reply {
	for try := range 100 {
		replies := make([]*billingtest.Reply, copies)
		var at sync.WaitGroup
		for k := range replies {
			at.Go(func() { replies[k] = billingtest.Run(t, p, r.Seed(uint64(1000*try+k))) })
		}
		at.Wait()
		var answer *billingtest.Reply
		failed := 0
		for _, reply := range replies {
			switch {
			case reply.Challenged() || reply.Accepted():
				if answer != nil {
					t.Errorf("one State has two answers: %v, %v", answer, reply)
				}
				answer = reply
			case !reply.Rejected():
				failed++
			}
		}
		if answer != nil {
			return answer
		}
		if failed == 0 {
			t.Errorf("all of %d copies were rejected", copies)
			return nil
		}
	}
	t.Error("no answer")
	return nil
}
