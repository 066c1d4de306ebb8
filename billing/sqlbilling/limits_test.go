package sqlbilling_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// Open sessions are counted for who has a Simultaneous-Use, whether or not anybody
// had one lately: MariaDB and MySQL leave the count out of the statement else.
func TestSessionsOfTheFirstWithALimit(t *testing.T) {
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.rows(rows{
			pass, {"radcheck", "bob", "Cleartext-Password", ":=", "secret"}, {"radcheck", "carol", "Cleartext-Password", ":=", "secret"},
			{"radcheck", "carol", " simultaneous-USE ", ":=", "5"}, {"radusergroup", "bob", "limited", "1"},
		}...)
		for user, n := range map[string]int{"alice": 1, "bob": 2, "carol": 3} {
			for i := range n {
				rec := record(fmt.Sprintf("%s%d", user, i), billing.Start, int64(i))
				rec.UserName = user
				f.account(rec)
			}
		}
		names := []string{"alice", "nobody", "bob", "alice", "carol"}
		want := []string{cleartext, "none unknown-user", cleartext, cleartext, cleartext + " sessions 3/5"}
		check := func(when string) {
			t.Helper()
			if got := f.batch(names); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		check("the first time")
		check("the second time")
		f.rows(rows{{"radgroupcheck", "limited", "Simultaneous-Use", ":=", "9"}}...)
		want[2] = cleartext + " sessions 2/9"
		check("where the group has one as well")
		ordinary := make([]*billing.AccessRequest, 10_000)
		for i := range ordinary {
			ordinary[i] = &billing.AccessRequest{UserName: fmt.Sprintf("ordinary%d", i), Time: at(0)}
		}
		f.AuthorizeBatch(t.Context(), ordinary, make([]billing.Grant, len(ordinary)), make([]error, len(ordinary)))
		check("after a long time without")
	})
}

// Names and values are found, and come as UTF-8, in a database of one character set
// that is not Unicode, whatever that of the connections is.
func TestLatin1(t *testing.T) {
	dsn, driver, rawDSN := mysqlEngine.Create(t)
	raw := mysqlEngine.openRaw(t, driver, rawDSN)
	for _, table := range []string{"radcheck", "radreply", "radgroupcheck", "radgroupreply"} {
		name := "username"
		if table == "radgroupcheck" || table == "radgroupreply" {
			name = "groupname"
		}
		raw.MustExec(`CREATE TABLE ` + table + ` (id INT AUTO_INCREMENT PRIMARY KEY, ` + name + ` VARCHAR(64), attribute VARCHAR(64), op CHAR(2), value VARCHAR(253), KEY (` + name + `)) CHARSET latin1`)
	}
	raw.MustExec(`CREATE TABLE radusergroup (id INT AUTO_INCREMENT PRIMARY KEY, username VARCHAR(64), groupname VARCHAR(64), priority INT, KEY (username)) CHARSET latin1`)
	raw.MustExec(`CREATE TABLE radacct (radacctid BIGINT AUTO_INCREMENT PRIMARY KEY, acctsessionid VARCHAR(64), acctuniqueid VARCHAR(32), username VARCHAR(64),
		nasipaddress VARCHAR(15), acctstarttime DATETIME, acctstoptime DATETIME, acctsessiontime INT, acctinputoctets BIGINT, acctoutputoctets BIGINT,
		acctterminatecause VARCHAR(32), UNIQUE KEY (acctuniqueid)) CHARSET latin1`)
	f := mysqlEngine.openDSN(t, dsn+"?charset=cp1251", driver, rawDSN, sqlbilling.Options{})
	f.rows(rows{
		{"radcheck", "alice", "Cleartext-Password", ":=", "secret"}, {"radreply", "alice", "Reply-Message", "=", "déjà vu €"},
		{"radcheck", "José", "Cleartext-Password", ":=", "secret"}, {"radusergroup", "josé", "gruppé", "1"}, {"radgroupreply", "GRUPPÉ", "Reply-Message", "=", "hello"},
		{"radcheck", "?", "Cleartext-Password", ":=", "other"},
	}...)
	alice, jose := cleartext+" [Reply-Message=déjà vu €]", cleartext+" [Reply-Message=hello]"
	for _, c := range []struct{ names, want []string }{
		{[]string{"alice", "ALICE", "?"}, []string{alice, alice, cleartext}},
		{[]string{"alice", "José", "Иван", "?"}, []string{alice, jose, "none unknown-user", cleartext}},
	} {
		if got := f.batch(c.names); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}
