package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

func TestFromStandard(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f, report := e.standard(t, 3, func(f *fixture) {
			f.rows("radcheck", "username", [4]string{"alice", "Cleartext-Password", ":=", "wonderland"}, [4]string{"alice", "Simultaneous-Use", ":=", "2"},
				[4]string{"alice", "Radpool-Balance", ":=", "1500000"}, [4]string{"alice", "Expiration", ":=", "1 Jan 2030"},
				[4]string{"bob", "Cleartext-Password", ":=", "builder"}, [4]string{"bob", "Huntgroup-Name", "==", "x"})
			f.members([2]string{"alice", "gold"}, [2]string{"alice", "silver"})
			f.rows("radgroupreply", "groupname", [4]string{"gold", "Mikrotik-Rate-Limit", ":=", "5M/5M"}, [4]string{"gold", "No-Such", ":=", "1"})
		})
		if report.Subscribers != 5 || report.Tariffs != 2 || report.Attributes != 10 {
			t.Errorf("%+v", report)
		}
		left := strings.Join(report.Left, "\n")
		for _, want := range []string{"bob: Huntgroup-Name: there is no such condition; the subscriber is blocked", "gold: No-Such: unknown attribute", "group silver"} {
			if !strings.Contains(left, want) {
				t.Errorf("%q is not in the report:\n%s", want, left)
			}
		}
		if len(report.Left) != 3 {
			t.Errorf("left: %s", left)
		}
		g := f.ask("alice", "192.0.2.1", 0)
		if g.Reason != billing.ReasonNone || g.SimultaneousUse != 2 || g.Expires.Year() < 2029 || g.Password.VerifyPAP([]byte("wonderland")) != billing.ReasonNone {
			t.Errorf("alice: %+v", g)
		}
		if got := replies(t, g); got != "Mikrotik-Rate-Limit=5M/5M" {
			t.Errorf("alice gets %s", got)
		}
		if n := f.number("SELECT balance FROM radpool_balance WHERE username = 'alice'"); n != 1_500_000 {
			t.Errorf("alice has %d", n)
		}
		if g := f.ask("bob", "192.0.2.1", 0); g.Reason != billing.ReasonBlocked {
			t.Errorf("bob: %v", g.Reason)
		}
		if got := fmt.Sprint(replies(t, f.ask("user1", "192.0.2.1", 0))); got != "Reply-Message=hello Framed-IP-Address=10.0.0.2" {
			t.Errorf("user1 gets %s", got)
		}
		if _, err := f.FromStandard(t.Context()); !errors.Is(err, ledger.ErrNotEmpty) {
			t.Errorf("again: %v", err)
		}
	})
}
