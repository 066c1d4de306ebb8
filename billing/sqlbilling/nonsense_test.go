package sqlbilling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

func from(user string) *billing.AccessRequest {
	return &billing.AccessRequest{UserName: user, Time: at(0), NASAddr: nas1}
}

// A statement that fails halfway has not told all about anybody: what came before the
// error, the password maybe and not the condition beside it, lets nobody in. On a server
// the tables of attributes may be views, which compute what they say.
func TestViewThatFailsLetsNobodyIn(t *testing.T) {
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"}, [5]string{"radcheck", "bob", "Cleartext-Password", ":=", "x"},
			[5]string{"radusergroup", "alice", "gold", "1"}, [5]string{"radgroupcheck", "gold", "Calling-Station-Id", "==", "not a number"})
		fails := "CAST(value AS integer)::text"
		if e.Name == mysqlEngine.Name {
			fails = "CAST(9223372036854775807 + LENGTH(value) AS CHAR)" // beyond 64 bits
		}
		f.exec("ALTER TABLE radgroupcheck RENAME TO conditions")
		f.exec("CREATE VIEW radgroupcheck AS SELECT id, groupname, attribute, op, " + fails + " AS value FROM conditions")
		f.Look()
		if g, err := f.Authorize(t.Context(), from("alice")); err == nil || errors.Is(err, billing.ErrSubscriber) {
			t.Errorf("alice, whose condition cannot be computed: %+v, %v", g, err)
		}
		if g := f.authorize(from("bob")); g.Password.IsZero() {
			t.Errorf("bob: %+v", g)
		}
	})
}

// A column of SQLite holds any type: whatever stands in the priority of one subscriber
// stops nobody else.
func TestPrioritiesOfAnyType(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"}, [5]string{"radcheck", "bob", "Cleartext-Password", ":=", "x"})
	for i, priority := range []string{"'high'", "1e300", "3.5", "4", "-1e300", "0", "x'00'", "-2"} {
		f.exec(fmt.Sprintf("INSERT INTO radusergroup (username, groupname, priority) VALUES ('alice', 'g%d', %s)", i, priority))
		f.rows([5]string{"radgroupreply", fmt.Sprint("g", i), "Reply-Message", "+=", fmt.Sprint(i)}, [5]string{"radgroupreply", fmt.Sprint("g", i), "Fall-Through", ":=", "Yes"})
	}
	reqs := []*billing.AccessRequest{from("alice"), from("bob")}
	grants, errs := make([]billing.Grant, 2), make([]error, 2)
	f.AuthorizeBatch(t.Context(), reqs, grants, errs)
	if errs[0] != nil || errs[1] != nil {
		t.Fatal(errs)
	}
	alone := f.authorize(from("alice"))
	for _, g := range []billing.Grant{grants[0], alone} {
		var order strings.Builder
		for _, avp := range g.Reply {
			order.Write(avp.Attribute)
		}
		// As numbers go, and after them, by id, what is none or is beyond all.
		expect(t, "the groups", order.String(), "47523016")
	}
}

// What other programs have left in radacct, or a column with another type, keeps no other
// session from being written.
func TestStoredNonsenseIsItsOwn(t *testing.T) {
	good, bad := record("good", billing.InterimUpdate, 100), record("bad", billing.InterimUpdate, 100)
	good.InputOctets, bad.InputOctets = 7, 7
	t.Run("SQLite", func(t *testing.T) {
		f := open(t, sqlbilling.Options{})
		f.account(good, bad)
		f.exec("UPDATE radacct SET acctinputoctets = 'much', acctoutputoctets = 1e300, acctsessiontime = NULL, acctupdatetime = 'never' WHERE acctsessionid = 'bad'")
		good.InputOctets, bad.InputOctets = 8, 8
		f.account(good, bad)
		var n []int64
		if err := f.raw.Select(&n, "SELECT acctinputoctets FROM radacct"); err != nil || fmt.Sprint(n) != "[8 8]" {
			t.Errorf("%v, %v", n, err)
		}
	})
	for e, alter := range map[*engine][2]string{
		&mysqlEngine:    {"ALTER TABLE radacct MODIFY acctsessiontime VARCHAR(20)", "UPDATE radacct SET acctsessiontime = 'long' WHERE acctsessionid = 'bad'"},
		&postgresEngine: {"ALTER TABLE radacct ALTER acctsessiontime TYPE numeric", "UPDATE radacct SET acctsessiontime = 1e30 WHERE acctsessionid = 'bad'"},
	} {
		t.Run(e.Name, func(t *testing.T) {
			e.Need(t)
			f := e.open(t, sqlbilling.Options{})
			f.account(good, bad)
			f.exec(alter[0])
			f.exec(alter[1])
			f.Look()
			errs := make([]error, 2)
			f.AccountBatch(t.Context(), []*billing.AccountingRecord{bad, good}, errs)
			if errs[1] != nil {
				t.Errorf("the other session: %v", errs[1])
			}
			if !errors.Is(errs[0], billing.ErrRecord) || !strings.Contains(fmt.Sprint(errs[0]), "acctuniqueid "+bad.UniqueID) || !strings.Contains(fmt.Sprint(errs[0]), "acctsessiontime") {
				t.Errorf("the session whose row is wrong: %v", errs[0])
			}
		})
	}
	t.Run("without a sign", func(t *testing.T) {
		mysqlEngine.Need(t)
		f := mysqlEngine.open(t, sqlbilling.Options{})
		f.account(bad)
		f.exec("ALTER TABLE radacct MODIFY acctinputoctets BIGINT UNSIGNED")
		f.exec("UPDATE radacct SET acctinputoctets = 18446744073709551615")
		f.Look()
		stop := record("bad", billing.Stop, 200)
		f.account(stop)
		var n uint64
		if f.get(&n, "SELECT acctinputoctets FROM radacct WHERE acctstoptime IS NOT NULL"); n != 1<<63-1 {
			t.Errorf("%d octets", n)
		}
	})
}

// A lease of PostgreSQL's that never ends is one: who accounts for it is heard.
func TestInfiniteLease(t *testing.T) {
	postgresEngine.Need(t)
	for _, expiry := range []string{"infinity", "-infinity"} {
		f := postgresEngine.open(t, sqlbilling.Options{})
		now := time.Now().Unix()
		f.leasedAt(0)
		f.exec("UPDATE radippool SET expiry_time = '" + expiry + "' WHERE username = 'alice'")
		f.account(before(now, "s", billing.Start, 0))
		var n int
		if f.get(&n, "SELECT COUNT(*) FROM radacct"); n != 1 {
			t.Errorf("%s: %d sessions", expiry, n)
		}
		var infinite bool
		if f.get(&infinite, "SELECT expiry_time = 'infinity' FROM radippool WHERE username = 'alice'"); infinite != (expiry == "infinity") {
			t.Errorf("%s: it never ends: %v", expiry, infinite)
		}
	}
}

// A limit that the statement did not count for, since the name is written so that SQL does
// not know it, is no limit that is kept: then nobody is let in.
func TestLimitThatIsNotCounted(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for i, name := range []string{"Simultaneous-Use\t", "\r\nSimultaneous-Use", "Simultaneous-Use:1", "\u00a0Simultaneous-Use"} {
			who := fmt.Sprint("user", i)
			f.rows([5]string{"radcheck", who, "Cleartext-Password", ":=", "x"}, [5]string{"radcheck", who, name, ":=", "1"})
			var row *sqlbilling.RowError
			if g, err := f.Authorize(t.Context(), from(who)); !errors.As(err, &row) || row.Table != "radcheck" {
				t.Errorf("%q: %+v, %v", name, g, err)
			}
		}
		f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"}, [5]string{"radcheck", "alice", "  simultaneous-USE ", ":=", "1"})
		f.account(record("s", billing.Start, 0))
		if g := f.authorize(from("alice")); g.SimultaneousUse != 1 || g.OpenSessions != 1 {
			t.Errorf("with blanks: %+v", g)
		}
	})
}

// Of thousands of groups each counts once, in order, whether they are the subscriber's own
// or those of a profile.
func TestThousandsOfGroups(t *testing.T) {
	const groups = 3000
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"}, [5]string{"radcheck", "bob", "Cleartext-Password", ":=", "x"},
			[5]string{"radcheck", "bob", "User-Profile", ":=", "alice"},
			[5]string{"radgroupreply", "many", "Fall-Through", ":=", "Yes"}, [5]string{"radgroupreply", "many", "Session-Timeout", ":=", "60"},
			[5]string{"radgroupreply", "last", "Session-Timeout", ":=", "70"})
		for from := 0; from < groups; from += 1000 {
			values := make([]string, 1000)
			for i := range values {
				values[i] = fmt.Sprintf("('alice', 'many', %d)", groups-from-i)
			}
			f.exec("INSERT INTO radusergroup (username, groupname, priority) VALUES " + strings.Join(values, ", "))
		}
		f.exec("INSERT INTO radusergroup (username, groupname, priority) VALUES ('alice', 'last', 1000000)")
		for _, who := range []string{"alice", "bob"} {
			if got := fmt.Sprint(show(f.authorize(from(who)).Reply)); got != "[Session-Timeout=70]" {
				t.Errorf("%s: %s", who, got)
			}
		}
	})
}

// A column of PostgreSQL's may be given another type while accounting is written: what was
// prepared before that fails from then on, on every connection that has it.
func TestColumnOfAnotherType(t *testing.T) {
	postgresEngine.Need(t)
	f := postgresEngine.open(t, sqlbilling.Options{})
	f.account(record("s", billing.Start, 0))
	f.exec("ALTER TABLE radacct ALTER acctsessiontime TYPE numeric, ALTER acctinputoctets TYPE numeric")
	stop := record("s", billing.Stop, 100)
	stop.InputOctets = 7
	f.account(stop)
	var n int
	if f.get(&n, "SELECT acctinputoctets FROM radacct WHERE acctstoptime IS NOT NULL"); n != 7 {
		t.Errorf("%d octets", n)
	}
}
