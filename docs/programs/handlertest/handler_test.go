// A unit test of a handler: requests in, replies and records out; no socket, no database.
package handlertest

import (
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

func TestSubscribers(t *testing.T) {
	limit := radius.Attributes{{Type: rfc2865.SessionTimeout_Type, Attribute: radius.NewInteger(3600)}}
	shop := billing.NewMemory(0) // or the back end that you wrote
	shop.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland"), Reply: limit})
	shop.Put("bob", billing.Grant{Password: billing.Cleartext("builder"), Reason: billing.ReasonNoMoney})
	back := &billingtest.Recorder{Handler: shop}
	handler := &billing.Processor{Handler: back, ShowReasons: true}

	for _, row := range []struct {
		request       billingtest.Request
		want, message string
	}{
		{billingtest.PAP("alice", "wonderland"), "Access-Accept", ""},
		{billingtest.CHAP("alice", "wonderland").CallingStation("02-00-5E-10-00-00"), "Access-Accept", ""},
		{billingtest.MSCHAPv2("alice", "looking-glass"), "Access-Reject", "Wrong password"},
		{billingtest.PAP("bob", "builder"), "Access-Reject", "Out of money"},
		{billingtest.Stop("alice", "5AC0").Octets(1_000, 5_000_000_000), "Accounting-Response", ""},
	} {
		if reply := billingtest.Run(t, handler, row.request); reply.Outcome() != row.want || reply.Message() != row.message {
			t.Errorf("%v: %v, want %s %q", row.request, reply, row.want, row.message)
		}
	}
	if recs := back.Records(); len(recs) != 1 || recs[0].OutputOctets != 5_000_000_000 {
		t.Errorf("records: %v", recs)
	}
}
