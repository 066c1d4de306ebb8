package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// explain is what Explain says, in lines.
func (f *fixture) explain(user string, attributes ...string) (*sqlbilling.Trace, string) {
	f.t.Helper()
	trace, err := f.Explain(f.t.Context(), user, attributes...)
	if err != nil {
		f.t.Fatal(err)
	}
	var lines []string
	for _, s := range trace.Steps {
		lines = append(lines, s.String())
	}
	return trace, strings.Join(append(lines, trace.Reply...), "\n")
}

// Explain names what decided: the interval, the quota or the money, and the final reply, which
// is Authorize's.
func TestExplain(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.speeds()
		f.priced("alice")
		f.exec("UPDATE radpool_subscriber SET profile = 'own', simultaneous_use = 2")
		f.exec("INSERT INTO radpool_profile (profile, position, attribute, value) VALUES ('own', 1, 'Framed-IP-Address', '10.0.0.9')")
		const nas = "NAS-IP-Address=192.0.2.1"
		for _, c := range []struct {
			why  string
			do   string
			want []string
		}{
			{"tariff", "DELETE FROM radpool_interval", []string{
				"radpool_subscriber: alice: tariff full, profile of their own own, password in the form Cleartext-Password",
				"radpool_tariff: full: a megabyte (1000000 octets) from the subscriber costs 0.100003, to it 0.250007; an hour 1.000001, a day 5",
				"radpool_balance: 100, and a credit of 0: there is money",
				"radpool_nas: 192.0.2.1 is of the vendor MikroTik",
				`radpool_profile: the tariff decides: profile "fast", then the subscriber's own "own"`,
				`Mikrotik-Rate-Limit = 100M/100M`, "Framed-IP-Address = 10.0.0.9", "there is no quota",
			}},
			{"interval", "INSERT INTO radpool_interval (tariff, position, from_minute, to_minute, profile) VALUES ('full', 7, 0, 0, 'night')", []string{
				"number 1 holds, 00:00 to 00:00", `the interval decides: its profile "night"`, "Mikrotik-Rate-Limit = 200M/200M",
			}},
			{"quota", "UPDATE radpool_tariff SET quota_octets = 1, quota_profile = 'slow'", []string{
				"0 octets in ", "of a quota of 1",
			}},
			{"money", "UPDATE radpool_balance SET balance = -1", []string{
				"radpool_balance: -0.000001, and a credit of 0: out of money", `the money decides: restricted_profile "poor"`, "Filter-Id = pay",
			}},
			{"blocked", "UPDATE radpool_subscriber SET blocked = 1, expires = 1", []string{"radpool_subscriber: blocked", "the subscription ends 1970-01-01T00:00:01Z"}},
		} {
			f.exec(c.do)
			_, got := f.explain("alice", nas)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is not in\n%s", c.why, want, got)
				}
			}
			if strings.Contains(got, "secret") {
				t.Errorf("%s: the password is in\n%s", c.why, got)
			}
		}
		if trace, _ := f.explain("alice", nas); trace.Accepted || trace.Reason != billing.ReasonBlocked || trace.Limit != 2 {
			t.Errorf("%+v", trace)
		}
		f.exec("UPDATE radpool_subscriber SET blocked = 0, expires = 0")
		if trace, _ := f.explain("alice"); !trace.Accepted || !trace.Restricted || trace.Password != billing.FormCleartext {
			t.Errorf("%+v", trace)
		}
		if trace, got := f.explain("Alice"); trace.Accepted || !strings.Contains(got, `there is no "Alice"`) {
			t.Errorf("%s", got)
		}
		f.exec("UPDATE radpool_tariff SET zone = 'Nowhere/Land'")
		if trace, _ := f.explain("alice"); trace.Row == nil || trace.Row.Table != "radpool_tariff" {
			t.Errorf("%+v", trace)
		}
		if _, err := f.Explain(t.Context(), "alice", "No-Such=1"); err == nil {
			t.Error("an attribute that there is not was taken")
		}
	})
}

// Check is silent about a database that is right, and names each row that is not.
func TestCheck(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.speeds()
		f.priced("alice")
		check := func() (all string) {
			if err := f.Check(t.Context(), func(f sqlbilling.Finding) error {
				all += f.String() + "\n"
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return all
		}
		if got := check(); got != "" {
			t.Errorf("of a database that is right:\n%s", got)
		}
		for _, do := range []string{
			"INSERT INTO radpool_subscriber (username, password, tariff) VALUES ('bob', 'hidden', 'none')",
			"INSERT INTO radpool_subscriber (username, password, password_form, tariff, profile) VALUES ('carl', 'hidden', 'LM-Password', 'full', 'nothing')",
			"INSERT INTO radpool_subscriber (username, tariff) VALUES ('dora', 'full')",
			"INSERT INTO radpool_tariff (name, zone) VALUES ('moon', 'Moon/Crater')",
			"INSERT INTO radpool_tariff (name, quota_profile) VALUES ('lost', 'absent')",
			"INSERT INTO radpool_interval (tariff, position, from_minute, to_minute) VALUES ('ghost', 1, 0, 0)",
			"INSERT INTO radpool_profile (profile, position, attribute, value) VALUES ('bad', 1, 'No-Such', 'x'), ('bad', 2, 'Session-Timeout', 'soon')",
			"UPDATE radpool_balance SET balance = balance + 1",
			"INSERT INTO radpool_ledger (username, reference, at, amount) VALUES ('eve', 'payment:x', 1, 7)",
			"INSERT INTO radpool_nas (address, secret) VALUES ('10.0.0.0/99', 'hidden')",
			"INSERT INTO radpool_nas (address, secret, coa_port) VALUES ('10.0.0.1', 'hidden', 70000)",
		} {
			f.exec(do)
		}
		got := check()
		for _, want := range []string{
			`wrong: radpool_subscriber: "bob" has the tariff "none", which is not there`,
			`wrong: radpool_subscriber: "carl": password: "LM-Password" is no form`,
			`suspect: radpool_subscriber: "carl" has the profile "nothing", which has no attributes`,
			`suspect: radpool_subscriber: "dora" has no password`,
			`wrong: radpool_tariff: tariff "moon"`,
			`suspect: radpool_tariff: tariff "lost" has the profile "absent", which has no attributes`,
			`suspect: radpool_interval: tariff "ghost", which is not there`,
			`wrong: radpool_profile, attribute "No-Such": profile "bad"`,
			`wrong: radpool_profile, attribute "Session-Timeout": profile "bad"`,
			`wrong: radpool_balance: "alice": the balance is 100000001, and the entries in radpool_ledger add up to 100000000`,
			`wrong: radpool_balance: "eve": the balance is 0, and the entries in radpool_ledger add up to 7`,
			`wrong: radpool_nas: "10.0.0.0/99"`,
			`wrong: radpool_nas: "10.0.0.1": coa_port is 70000`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
		if n := strings.Count(got, "\n"); n != 13 || strings.Contains(got, "hidden") {
			t.Errorf("%d findings:\n%s", n, got)
		}
		stop := fmt.Errorf("enough")
		if err := f.Check(t.Context(), func(sqlbilling.Finding) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("got %v", err)
		}
	})
}
