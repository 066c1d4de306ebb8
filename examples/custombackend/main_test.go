package main

import (
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

func TestBackend(t *testing.T) {
	b := &backend{passwords: map[string]string{"alice": "wonderland"}, octets: map[string]uint64{}}
	h := &billing.Processor{Handler: b}
	if r := billingtest.Run(t, h, billingtest.PAP("alice", "wonderland")); !r.Accepted() {
		t.Errorf("alice: %v", r)
	}
	for _, wrong := range []billingtest.Request{billingtest.PAP("alice", "looking-glass"), billingtest.CHAP("bob", "wonderland")} {
		if r := billingtest.Run(t, h, wrong); !r.Rejected() {
			t.Errorf("%v: %v", wrong, r)
		}
	}
	// Whatever comes last, the greatest counts.
	for _, r := range []billingtest.Request{
		billingtest.Stop("alice", "s1").Octets(5_000_000_000, 1), billingtest.Start("alice", "s1"),
	} {
		if !billingtest.Run(t, h, r).Acknowledged() {
			t.Errorf("%v: not acknowledged", r)
		}
	}
	for session, octets := range b.octets {
		if octets != 5_000_000_001 || len(b.octets) != 1 {
			t.Errorf("session %s has %d octets", session, octets)
		}
	}
}
