package billing_test

import (
	"fmt"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
)

// What is wrong with one subscriber is that subscriber's reject: no answer would
// make the NAS take the server for dead. A stranger learns nothing by it.
func TestSubscriberErrorIsRejected(t *testing.T) {
	back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
		return billing.Grant{NoPassword: true}, fmt.Errorf("a row is wrong: %w", billing.ErrSubscriber)
	}}
	for _, policy := range []billing.FailurePolicy{billing.FailSilent, billing.FailReject} {
		p := &billing.Processor{Handler: back, OnError: policy}
		resp := handle(p, withPAP(request("alice"), "pw"))
		if got := back.last(t); resp.Code != radius.CodeAccessReject || resp.Err() != nil || got.Reason != billing.ReasonUnavailable || got.Accepted {
			t.Errorf("OnError %d: %v, %v, %+v", policy, resp.Code, resp.Err(), got)
		}
		if got := message(resp.Packet); got != "Invalid user name or password" {
			t.Errorf("OnError %d: %q", policy, got)
		}
		if s := p.Stats(); s.AuthorizeErrors != 1 || s.Rejected[billing.ReasonUnavailable] != 1 {
			t.Errorf("OnError %d: %+v", policy, s)
		}
	}
}
