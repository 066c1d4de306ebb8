package sqlbilling_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

func (f *fixture) findings() (list []string) {
	f.t.Helper()
	if err := f.Check(f.t.Context(), func(found sqlbilling.Finding) error {
		list = append(list, found.String())
		return nil
	}); err != nil {
		f.t.Fatal(err)
	}
	return list
}

// Each row is judged by its own, and Authorize rejects exactly those of radcheck that
// are wrong.
func TestCheckRows(t *testing.T) {
	for _, c := range []struct {
		row  [5]string
		want string // severity and reason; empty: nothing is found
	}{
		{pass, ""},
		{check("Crypt-Password", "==", "$1$abcdefgh$irWbblnpmw.5z7wgBnprh0"), ""},
		{check("Expiration", ":=", "10 Jul 2024"), ""},
		{check("Login-Time", ":=", "Wk0800-1800"), ""},
		{check("NAS-IP-Address", "==", "192.0.2.1"), ""},
		{check("Pool-Name", ":=", "main"), ""},
		{reply("Framed-IP-Address", ":=", "192.0.2.7"), ""},
		{reply("Fall-Through", "=", "Yes"), ""},
		{greply("g", "Mikrotik-Rate-Limit", "=", "10M/10M"), ""},

		{check("Cleartxt-Password", ":=", "hunter2"), `wrong: unknown attribute`},
		{check("Max-Daily-Session", ":=", "3600"), `wrong: limits of sqlcounter are not enforced, so nobody gets in by this row: delete it, or use quotas with -schema radpool`},
		{check("Max-Hourly-Session", ":=", "3600"), `wrong: limits of sqlcounter`},
		{check("max-monthly-octets", ":=", "3600"), `wrong: limits of sqlcounter`},
		{gcheck("g", "Max-All-Session", ":=", "3600"), `wrong: limits of sqlcounter`},
		{check("Expire-After", ":=", "3600"), `wrong: limits of sqlcounter`},
		{check("Max-Frobs-Session", ":=", "3600"), `wrong: unknown attribute`},
		{reply("Max-Daily-Session", ":=", "3600"), `wrong: unknown attribute`},
		{check("Cleartext-Password", ":", "hunter2"), `wrong: unknown operator`},
		{check("NT-Password", ":=", "hunter2"), `wrong: `},
		{check("Auth-Type", ":=", "hunter2"), `wrong: this Auth-Type is not supported`},
		{check("Login-Time", ":=", "hunter2"), `wrong: `},
		{check("Expiration", ":=", "hunter2"), `wrong: `},
		{check("Radpool-Credit", ":=", "hunter2"), `wrong: not a whole number`},
		{check("User-Name", "=~", "hunter2("), `wrong: not a regular expression`},
		{check("Huntgroup-Name", "==", "hunter2"), `wrong: huntgroups`},
		{gcheck("g", "Simultaneous-Use", ":=", "hunter2"), `wrong: `},
		{reply("Session-Timeout", ":=", "hunter2"), `wrong: `},
		{reply("Framed-IP-Address", ":=", "`hunter2`"), `wrong: a value in back-quotes`},

		{check("Cleartext-Password", "==", "hunter2"), `suspect: the operator == compares it with the request`},
		{gcheck("g", "NT-Password", "=", "0123456789abcdef0123456789abcdef"), `suspect: the operator = compares`},
		{reply("Simultaneous-Use", ":=", "1"), `suspect: is no attribute of a reply`},
		{greply("g", "Session-Timeout", "==", "3600"), `suspect: the operator == adds nothing`},
	} {
		t.Run(strings.Join(c.row[:], " "), func(t *testing.T) {
			f := open(t, sqlbilling.Options{})
			f.rows(c.row)
			got := f.findings()
			if c.want == "" {
				if len(got) > 0 {
					t.Errorf("found %q", got)
				}
				return
			}
			severity, reason, _ := strings.Cut(c.want, ": ")
			start := severity + ": " + c.row[0] + `, id 1, attribute "` + c.row[2] + `": ` + reason
			if len(got) != 1 || !strings.HasPrefix(got[0], start) || strings.Contains(got[0], "\n") {
				t.Errorf("found %q, want one of %q", got, start)
			}
			if strings.Contains(strings.Join(got, ""), "hunter2") && severity != "suspect" {
				t.Errorf("the value is in %q", got)
			}
			if c.row[0] != "radcheck" || c.row[2] == "Radpool-Credit" {
				return
			}
			_, err := f.Authorize(t.Context(), &billing.AccessRequest{UserName: "alice", Time: at(0)})
			if wrong := severity == "wrong"; wrong != errors.Is(err, billing.ErrSubscriber) {
				t.Errorf("Authorize says %v", err)
			}
		})
	}
}

// What is missing is named with what helps, on every kind of database.
func TestCheckIndexesAndTables(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		if got := f.findings(); len(got) > 0 {
			t.Errorf("a new database: found %q", got)
		}
		f.exec("DROP TABLE radacct")
		f.exec("CREATE TABLE radacct (radacctid INTEGER PRIMARY KEY, acctsessionid VARCHAR(64), acctuniqueid VARCHAR(32), username VARCHAR(64), " +
			"nasipaddress VARCHAR(15), acctstarttime INTEGER, acctstoptime INTEGER)")
		f.exec("INSERT INTO nas (nasname, shortname, secret) VALUES ('192.0.2.1', 'a', 'hunter2'), ('192.0.2.2', 'b', ''), ('192.0.2.0/33', 'c', 'hunter2')")
		f.rows([5]string{"radgroupreply", "gold", "No-Such-Name", "=", "hunter2"})
		f = f.again(sqlbilling.Options{})
		got := f.findings()
		for _, want := range []string{
			"note: radacct.class: is not there, and nothing is written to it",
			"slow: radacct: lacks an index: each accounting record looks its session up by it: CREATE UNIQUE INDEX radacct_acctuniqueid ON radacct (acctuniqueid)",
			"slow: radacct: lacks an index: sessions of those with Simultaneous-Use are counted by it: CREATE INDEX radacct_username_acctstoptime ON radacct (username, acctstoptime)",
			`wrong: radgroupreply, id 1, attribute "No-Such-Name": unknown attribute`,
			`wrong: nas, id 2: "192.0.2.2" has no secret`,
			`wrong: nas, id 3: "192.0.2.0/33" is no network`,
		} {
			if !slices.Contains(got, want) {
				t.Errorf("not found: %s", want)
			}
		}
		if strings.Contains(strings.Join(got, ""), "hunter2") {
			t.Errorf("a secret is in %q", got)
		}
		// What is offered is what helps.
		for _, finding := range got {
			if _, statement, is := strings.Cut(finding, ": CREATE "); is {
				f.exec("CREATE " + statement)
			}
		}
		for _, finding := range f.findings() {
			if strings.HasPrefix(finding, "slow") {
				t.Errorf("still %q", finding)
			}
		}
	})
}

// The indexes of the tables of attributes are looked at as well.
func TestCheckIndexOfNames(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.exec("DROP INDEX radcheck_username")
	want := "slow: radcheck: lacks an index: each Access-Request looks its user up by it: CREATE INDEX radcheck_username ON radcheck (username)"
	if got := f.findings(); !slices.Equal(got, []string{want}) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// Whoever is told may stop, and hears no more.
func TestCheckStops(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.rows(check("No-1", ":=", ""), check("No-2", ":=", ""))
	enough, calls := errors.New("enough"), 0
	err := f.Check(t.Context(), func(sqlbilling.Finding) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
