package ledger_test

import (
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/internal/sqltest"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// standard makes a database with the standard tables, so many subscribers of the demo and
// what fill puts in, and takes it over.
func (e engine) standard(t *testing.T, demo int, fill func(f *fixture)) (*fixture, *ledger.Report) {
	t.Helper()
	dsn, driver, rawDSN := e.Create(t)
	standard, err := sqlbilling.Open(t.Context(), dsn, sqlbilling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := standard.EnsureDemo(t.Context(), demo); err != nil {
		t.Fatal(err)
	}
	if err := standard.Close(); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dsn: dsn, Backend: openAgain(t, dsn), raw: openRaw(t, driver, rawDSN)}
	fill(f)
	report, err := f.FromStandard(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f, report
}

// rows inserts rows of one of the tables of attributes.
func (f *fixture) rows(table, column string, rows ...[4]string) {
	f.t.Helper()
	for _, r := range rows {
		f.exec("INSERT INTO "+table+" ("+column+", attribute, op, value) VALUES (?, ?, ?, ?)", r[0], r[1], r[2], r[3])
	}
}

// members puts users in groups.
func (f *fixture) members(rows ...[2]string) {
	f.t.Helper()
	for i, r := range rows {
		f.exec("INSERT INTO radusergroup (username, groupname, priority) VALUES (?, ?, ?)", r[0], r[1], i)
	}
}

// Where the database takes two names for one, as MySQL does in its usual collations, a
// condition under one of them holds for the other.
func TestFromStandardTakesOneNameForOne(t *testing.T) {
	e := engines[1]
	if e.Name != sqltest.MariaDB.Name {
		t.Fatal(e.Name)
	}
	e.Need(t)
	f, report := e.standard(t, 0, func(f *fixture) {
		f.rows("radcheck", "username", [4]string{"alice", "Cleartext-Password", ":=", "x"}, [4]string{"Alice", "Expiration", ":=", "1 Jan 2020"},
			[4]string{"bob", "Cleartext-Password", ":=", "x"}, [4]string{"carol", "Cleartext-Password", ":=", "x"})
		f.rows("radreply", "username", [4]string{"BOB ", "Reply-Message", ":=", "hi"})
		f.rows("radgroupcheck", "groupname", [4]string{"Closed", "NAS-IP-Address", "==", "192.0.2.9"})
		f.rows("radgroupreply", "groupname", [4]string{"GOLD", "Filter-Id", ":=", "gold"})
		f.members([2]string{"Bob", "gold"}, [2]string{"carol", "CLOSED"})
	})
	if report.Subscribers != 3 || report.Tariffs != 3 {
		t.Errorf("%+v", report)
	}
	if g := f.ask("alice", "192.0.2.1", 0); g.Expires.Year() != 2020 {
		t.Errorf("alice: %+v", g)
	}
	if got := replies(t, f.ask("bob", "192.0.2.1", 0)); got != "Reply-Message=hi Filter-Id=gold" {
		t.Errorf("bob gets %s", got)
	}
	if g := f.ask("carol", "192.0.2.1", 0); g.Reason != billing.ReasonBlocked {
		t.Errorf("carol: %v", g.Reason)
	}
}

// A group may have the name that those without a group get for their tariff, and one that
// is made of a subscriber's name.
func TestFromStandardNamesDoNotMeet(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f, _ := e.standard(t, 0, func(f *fixture) {
			f.rows("radcheck", "username", [4]string{"alice", "Cleartext-Password", ":=", "x"}, [4]string{"bob", "Cleartext-Password", ":=", "x"})
			f.rows("radreply", "username", [4]string{"alice", "Reply-Message", ":=", "hi"})
			f.rows("radgroupreply", "groupname", [4]string{"default", "Filter-Id", ":=", "slow"}, [4]string{"user alice", "Filter-Id", ":=", "odd"})
			f.members([2]string{"alice", "default"}, [2]string{"alice", "user alice"})
		})
		if got := replies(t, f.ask("alice", "192.0.2.1", 0)); got != "Reply-Message=hi Filter-Id=slow" {
			t.Errorf("alice gets %s", got)
		}
		if got := replies(t, f.ask("bob", "192.0.2.1", 0)); got != "" {
			t.Errorf("bob, who is in no group, gets %s", got)
		}
	})
}

// Nobody is let in who was not before, and what does not fit is named and stops nothing.
func TestFromStandardLetsNobodyMoreIn(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		long := strings.Repeat("x", 254)
		conditions := map[string][][3]string{
			"never":     {{"Cleartext-Password", "==", "x"}}, // it is compared with the request
			"limit":     {{"Simultaneous-Use", "==", "1"}},
			"nowhere":   {{"Calling-Station-Id", "==", ""}},
			"two":       {{"Calling-Station-Id", "==", "a"}, {"Calling-Station-Id", "==", "b"}},
			"toomany":   {{"Simultaneous-Use", ":=", "1000001"}},
			"noaccount": {{"Radpool-Balance", ":=", "9000000000000000000"}},
		}
		if e.Name == sqltest.PostgreSQL.Name { // whose columns have no limit
			conditions["longer"] = [][3]string{{"Calling-Station-Id", "==", long}}
		}
		f, report := e.standard(t, 0, func(f *fixture) {
			for name, rows := range conditions {
				for _, r := range rows {
					f.rows("radcheck", "username", [4]string{name, r[0], r[1], r[2]})
				}
				f.rows("radcheck", "username", [4]string{name, "Cleartext-Password", ":=", "x"})
			}
			f.rows("radcheck", "username", [4]string{"alice", "Cleartext-Password", ":=", "x"}, [4]string{"alice", "Simultaneous-Use", ":=", "1"},
				[4]string{"alice", "Simultaneous-Use", ":=", "5"}, [4]string{"alice", "Expiration", ":=", "2 Jan 2030"}, [4]string{"alice", "Expiration", ":=", "1 Jan 2030"},
				[4]string{"dave", "Cleartext-Password", ":=", "x"}, [4]string{"erin", "Cleartext-Password", ":=", "x"})
			f.rows("radgroupcheck", "groupname", [4]string{"closed", "Auth-Type", ":=", "Reject"})
			f.rows("radgroupreply", "groupname", [4]string{"open", "Fall-Through", ":=", "Yes"})
			f.members([2]string{"dave", "open"}, [2]string{"dave", "closed"}, [2]string{"erin", "other"}, [2]string{"erin", "closed"})
			if e.Name == sqltest.PostgreSQL.Name {
				f.rows("radreply", "username", [4]string{"alice", "Reply-Message", ":=", long})
				f.rows("radcheck", "username", [4]string{"frank", "Cleartext-Password", ":=", "x"})
				f.members([2]string{"frank", long})
			}
		})
		for name := range conditions {
			if g := f.ask(name, "192.0.2.1", 0); g.Reason != billing.ReasonBlocked {
				t.Errorf("%s: %v", name, g.Reason)
			}
			if !strings.Contains(strings.Join(report.Left, "\n"), name+": ") {
				t.Errorf("%s is not in the report: %q", name, report.Left)
			}
		}
		if g := f.ask("alice", "192.0.2.1", 0); g.Reason != billing.ReasonNone || g.SimultaneousUse != 1 || g.Expires.UTC().Day() > 1 && g.Expires.Year() == 2030 {
			t.Errorf("alice: %+v", g)
		}
		for name, reason := range map[string]billing.Reason{"dave": billing.ReasonBlocked, "erin": billing.ReasonNone} {
			if g := f.ask(name, "192.0.2.1", 0); g.Reason != reason {
				t.Errorf("%s: %v, want %v", name, g.Reason, reason)
			}
		}
		if e.Name == sqltest.PostgreSQL.Name {
			if g := f.ask("frank", "192.0.2.1", 0); g.Reason != billing.ReasonBlocked {
				t.Errorf("frank: %v", g.Reason)
			}
		}
	})
}

// A schema that was cut off in any place is finished by the next who opens it, whatever
// language the server speaks.
func TestSchemaThatWasCutOff(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if e.Name == sqltest.MariaDB.Name {
			f.exec("SET GLOBAL lc_messages = 'de_DE'")
			t.Cleanup(func() { f.exec("SET GLOBAL lc_messages = 'en_US'") })
		}
		if e.Name != sqltest.SQLite.Name { // where a step is done or not
			f.exec("DELETE FROM radpool_schema WHERE version = 2")
			f.exec("DROP TABLE radpool_control")
			f.exec("DROP TABLE radpool_postauth")
		}
		openAgain(t, f.dsn)
		for _, table := range []string{"radpool_control", "radpool_postauth"} {
			if n := f.number("SELECT COUNT(*) FROM " + table); n != 0 {
				t.Errorf("%s has %d rows", table, n)
			}
		}
		if n := f.number("SELECT MAX(version) FROM radpool_schema"); n != 2 {
			t.Errorf("version %d", n)
		}
	})
}
