package sqlbilling_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/mysql"
)

// What is special about databases that are servers.

// batch asks for many users at once, and sums the answers up.
func (f *fixture) batch(names []string) []string {
	f.t.Helper()
	reqs := make([]*billing.AccessRequest, len(names))
	for i, name := range names {
		reqs[i] = &billing.AccessRequest{UserName: name, Time: at(0)}
	}
	grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
	f.AuthorizeBatch(f.t.Context(), reqs, grants, errs)
	list := make([]string, len(names))
	for i := range names {
		list[i] = summary(grants[i], errs[i])
		single, err := f.Authorize(f.t.Context(), reqs[i])
		if alone := summary(single, err); alone != list[i] {
			f.t.Errorf("%q: alone %s, in a batch %s", names[i], alone, list[i])
		}
	}
	return list
}

var hostileNames = []string{"' OR 1=1 --", `"; DROP TABLE radcheck; --`, strings.Repeat("x", 253),
	"trailing", "trailing ", " trailing", "CASE", "case", "Case", "%", "_", "usér", "user", "用户", "😀", `back\slash`, "a'b", "[1,2]",
	"{a,b}", `"`, "$1", "?1", ":x", "\n", "\x01", "null", "NULL", "?"}

// Names are data, whatever octets they have: with NamesExact each finds its own
// rows and no other's, and what cannot be in the database is nobody.
func TestHostileNamesExact(t *testing.T) {
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{Names: sqlbilling.NamesExact})
		for i, name := range hostileNames {
			f.exec("INSERT INTO radcheck (username, attribute, op, value) VALUES (?, 'Cleartext-Password', ':=', 'x')", name)
			f.exec("INSERT INTO radreply (username, attribute, op, value) VALUES (?, 'Reply-Message', '=', ?)", name, fmt.Sprintf("r%d", i))
			f.exec("INSERT INTO radusergroup (username, groupname, priority) VALUES (?, 'g', 1)", name)
		}
		f.rows(greply("g", "Session-Timeout", "=", "7"))
		for i, got := range f.batch(hostileNames) {
			if want := fmt.Sprintf("%s [Reply-Message=r%d Session-Timeout=7]", cleartext, i); got != want {
				t.Errorf("%q: %s, want %s", hostileNames[i], got, want)
			}
		}
		nobody := []string{"' OR '1'='1", "cASE", "trailing  ", "x", "nul\x00", "\xff\xfe", "\xc3", strings.Repeat("x", 254), "USER", "us\u0065\u0301r"}
		for i, got := range f.batch(nobody) {
			if got != "none unknown-user" {
				t.Errorf("%q is %s", nobody[i], got)
			}
		}
	})
}

// Names compare as the column says: in MariaDB without regard to case, accents
// and trailing spaces. Each gets the answer to its own question all the same.
func TestNamesAsColumn(t *testing.T) {
	like := map[string]map[string]bool{
		"MariaDB": {"user1": true, "USER1": true, "user1  ": true, "usér1": true},
	}
	names := []string{"nobody", "USER1", "user1", "user2", "user1  ", "usér1", " user1", "user1\x00", "User2", "\xffuser1"}
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for _, user := range []string{"user1", "user2"} {
			f.exec("INSERT INTO radcheck (username, attribute, op, value) VALUES (?, 'Cleartext-Password', ':=', 'x')", user)
			f.exec("INSERT INTO radreply (username, attribute, op, value) VALUES (?, 'Reply-Message', '=', ?)", user, user)
		}
		for i, got := range f.batch(names) {
			want := "none unknown-user"
			if same := like[e.Name]; names[i] == "user1" || same[names[i]] {
				want = cleartext + " [Reply-Message=user1]"
			} else if names[i] == "user2" || same["USER1"] && names[i] == "User2" {
				want = cleartext + " [Reply-Message=user2]"
			}
			if got != want {
				t.Errorf("%q: %s, want %s", names[i], got, want)
			}
		}
	})
}

// Without regard to case, on every database; and as FreeRADIUS escapes names.
func TestNamesIgnoreCaseAndEscaped(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{Names: sqlbilling.NamesIgnoreCase})
		f.rows([5]string{"radcheck", "Alice", "Cleartext-Password", ":=", "x"}, [5]string{"radusergroup", "ALICE", "g", "1"},
			greply("g", "Session-Timeout", "=", "7"))
		if got := f.batch([]string{"aLICE", "bob"}); got[0] != cleartext+" [Session-Timeout=7]" || got[1] != "none unknown-user" {
			t.Error(got)
		}
		escaped := f.again(sqlbilling.Options{EscapeNames: true})
		escaped.rows([5]string{"radcheck", "a=2Bb=3Dé=FF", "Cleartext-Password", ":=", "x"})
		if got := escaped.batch([]string{"a+b=é\xff", "a=2Bb=3Dé=FF"}); got[0] != cleartext || got[1] != "none unknown-user" {
			t.Error(got)
		}
		rec := record("s", billing.Start, 0)
		rec.UserName = "a+b=é\xff"
		escaped.account(rec)
		var n int
		if f.get(&n, "SELECT COUNT(*) FROM radacct WHERE username = 'a=2Bb=3Dé=FF'"); n != 1 {
			t.Error(escaped.dump())
		}
	})
}

// Accounting stores text that the database cannot hold as FreeRADIUS does, and
// cuts what is too long.
func TestHostileAccounting(t *testing.T) {
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for i, name := range append([]string{"\xff\xfe", "nul\x00more", "é\xc3"}, hostileNames...) {
			rec := record(fmt.Sprintf("s%02d", i), billing.Start, 0)
			rec.UserName, rec.CallingStationID, rec.ConnectInfo = name, name, name
			f.account(rec, rec)
			stored := map[string]string{"\xff\xfe": "=FF=FE", "nul\x00more": "nul=00more", "é\xc3": "é=C3"}[name]
			if stored == "" {
				stored = name
			}
			var got []string
			if err := f.raw.Select(&got, f.raw.Rebind("SELECT CONCAT(username, '|', callingstationid, '|', connectinfo_start) FROM radacct WHERE acctuniqueid = ?"),
				rec.UniqueID); err != nil {
				t.Fatal(err)
			}
			if want := stored + "|" + stored + "|" + stored; len(got) != 1 || got[0] != want {
				t.Errorf("%q is stored as %q, want %q", name, got, want)
			}
		}
		if f.Stats().Cut != 0 {
			t.Error("something was cut")
		}
		f.PostAuth(&billing.AuthResult{Access: &billing.AccessRequest{UserName: "\xff\x00"}, Time: at(0)})
		until(t, "radpostauth", func() bool { s := f.Stats(); return s.PostAuthWritten+s.PostAuthFailed > 0 })
		if s := f.Stats(); s.PostAuthFailed != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A server that was restarted, or cut connections that were idle, costs nobody an
// answer: what is read is read again, and a transaction is tried anew.
func TestConnectionsCutOff(t *testing.T) {
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"})
		for i := range 5 {
			f.account(record(fmt.Sprint("s", i), billing.Start, 0))
			if got := f.batch([]string{"alice", "bob"}); got[0] != cleartext || got[1] != "none unknown-user" {
				t.Error(got)
			}
			var kill []string
			if err := f.raw.Select(&kill, e.kill); err != nil {
				t.Fatal(err)
			}
			if len(kill) == 0 {
				t.Fatal("there is no connection to cut: the test is wrong")
			}
			for _, k := range kill {
				_, _ = f.raw.Exec(k) // it may have ended by itself
			}
		}
		if s := f.Stats(); s.Failed != 0 || s.Unanswered != 0 || s.Records != 5 {
			t.Errorf("%+v", s)
		}
	})
}

// One Access-Request is one statement at the server, with everything that goes
// with it; when many wait it is much less.
func TestStatementsAnAccessRequest(t *testing.T) {
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		if _, err := f.EnsureDemo(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		one := func(i int) {
			req := &billing.AccessRequest{UserName: fmt.Sprintf("user%d", i%100), Time: at(0)}
			if g, err := f.Authorize(t.Context(), req); err != nil || g.Password.IsZero() {
				t.Error(g, err)
			}
			f.PostAuth(&billing.AuthResult{Access: req, Accepted: true, Time: at(0)})
		}
		const requests = 5120
		for _, c := range []struct {
			outstanding int
			most        float64
		}{{1, 1.02}, {256, 0.2}} {
			best := 1e9
			for range 5 { // others may use the server as well
				before := e.statements(t, f)
				var wg sync.WaitGroup
				for w := range c.outstanding {
					wg.Go(func() {
						for i := w; i < requests; i += c.outstanding {
							one(i)
						}
					})
				}
				wg.Wait()
				if best = min(best, float64(e.statements(t, f)-before)/requests); best <= c.most {
					break
				}
			}
			t.Logf("%d outstanding: %.3f statements an Access-Request", c.outstanding, best)
			if best > c.most {
				t.Errorf("%d outstanding: %.3f statements an Access-Request, want %.2f at most", c.outstanding, best, c.most)
			}
		}
	})
}

var registerOld = sync.OnceFunc(func() { dialect.Register(mysql.Old()) })

// A MySQL without JSON_TABLE is served as well, with lists of parameters.
func TestWithoutJSONTable(t *testing.T) {
	registerOld()
	dsn, driver, rawDSN := mysqlEngine.Create(t)
	f := mysqlEngine.openDSN(t, strings.Replace(dsn, "mysql:", "mysql-old:", 1), driver, rawDSN, sqlbilling.Options{Names: sqlbilling.NamesExact})
	var names []string
	var all []*billing.AccountingRecord
	for i := range 200 {
		names = append(names, fmt.Sprintf("user%d", i))
		all = append(all, story(fmt.Sprint("s", i))...)
	}
	names = append(names, "user50 ", "USER50", "\xff")
	if _, err := f.EnsureDemo(t.Context(), 200); err != nil {
		t.Fatal(err)
	}
	for i, got := range f.batch(names) {
		want := fmt.Sprintf("%s [Reply-Message=hello Session-Timeout=3600 Framed-IP-Address=10.0.0.%d]", cleartext, i+1)
		if i >= 200 {
			want = "none unknown-user"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", names[i], got, want)
		}
	}
	for range 2 {
		errs := make([]error, len(all))
		f.AccountBatch(t.Context(), all, errs)
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	alone := sqliteEngine.open(t, sqlbilling.Options{})
	alone.account(story("s0")...)
	if got, want := strings.Count(f.dump(), `"acctinputoctets":3000`), 200; got != want {
		t.Errorf("%d rows, want %d\n%s", got, want, alone.dump())
	}
}

// The schema of FreeRADIUS as it was years ago, in latin1, with short columns and
// without some, and with names that another program wrote.
func TestOldMySQLSchema(t *testing.T) {
	dsn, driver, rawDSN := mysqlEngine.Create(t)
	first := mysqlEngine.openRaw(t, driver, rawDSN)
	for _, q := range []string{
		`CREATE TABLE radcheck (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, UserName VARCHAR(64) NOT NULL DEFAULT '', Attribute VARCHAR(32) NOT NULL DEFAULT '', op CHAR(2) NULL, Value VARCHAR(253) NOT NULL DEFAULT '', KEY UserName (UserName(32))) CHARSET latin1`,
		`CREATE TABLE radreply (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, UserName VARCHAR(64) NOT NULL DEFAULT '', Attribute VARCHAR(32) NOT NULL DEFAULT '', op CHAR(2) NULL, Value VARCHAR(253) NOT NULL DEFAULT '', KEY UserName (UserName(32))) CHARSET koi8r COLLATE koi8r_bin`,
		`CREATE TABLE radgroupcheck (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, GroupName VARCHAR(64), Attribute VARCHAR(32), op CHAR(2), Value VARCHAR(253), KEY (GroupName)) CHARSET utf8mb3`,
		`CREATE TABLE radgroupreply (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, GroupName VARCHAR(64), Attribute VARCHAR(32), op CHAR(2), Value VARCHAR(253), KEY (GroupName)) CHARSET utf8mb4 COLLATE utf8mb4_unicode_ci`,
		`CREATE TABLE radusergroup (UserName VARBINARY(64), GroupName VARCHAR(64), priority INT, KEY (UserName)) CHARSET latin1 COLLATE latin1_bin`,
		`CREATE TABLE radacct (RadAcctId BIGINT AUTO_INCREMENT PRIMARY KEY, AcctSessionId VARCHAR(32), AcctUniqueId VARCHAR(32), UserName VARCHAR(64), GroupName VARCHAR(64) DEFAULT 'old',
			NASIPAddress VARCHAR(15), AcctStartTime DATETIME, AcctStopTime DATETIME, AcctSessionTime INT(12), AcctInputOctets BIGINT, AcctOutputOctets BIGINT,
			CalledStationId VARCHAR(10), AcctTerminateCause VARCHAR(32), KEY (AcctUniqueId)) CHARSET utf8mb3`,
	} {
		first.MustExec(q)
	}
	core, logs := observer.New(zap.WarnLevel)
	f := mysqlEngine.openDSN(t, dsn, driver, rawDSN, sqlbilling.Options{Logger: zap.New(core)})
	f.rows(rows{{"radcheck", "José", "Cleartext-Password", ":=", "secret"}, {"radcheck", "José", "Simultaneous-Use", ":=", "1"},
		{"radcheck", "?", "Cleartext-Password", ":=", "other"}, {"radreply", "Иван", "Reply-Message", "=", "x"}, {"radcheck", "alice", "Cleartext-Password", ":=", "x"},
		{"radusergroup", "José", "g1", "2"}, {"radusergroup", "José", "g2", "1"}, greply("g1", "Session-Timeout", "=", "1"), greply("g2", "Session-Timeout", "=", "2"),
		gcheck("g2", "Calling-Station-Id", "==", "no")}...)
	rec := record("open", billing.Start, 0)
	rec.UserName, rec.CalledStationID = "José", strings.Repeat("ж", 20)
	f.account(rec, rec)
	got := f.batch([]string{"José", "JOSÉ", "Иван", "?", "\U0001F600", "alice"})
	want := []string{cleartext + " [Session-Timeout=1] sessions 1/1", cleartext + " sessions 1/1", "none unknown-user", cleartext, "none unknown-user", cleartext}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %s, want %s", i, got[i], want[i])
		}
	}
	f.account(record("", billing.AccountingOn, 100), story("t")[3])
	foreign, good := record("foreign", billing.Start, 0), record("good", billing.Start, 200)
	foreign.UserName = "\U0001F600" // not in this character set
	errs := make([]error, 2)
	if f.AccountBatch(t.Context(), []*billing.AccountingRecord{foreign, good}, errs); errs[0] == nil || errs[1] != nil {
		t.Errorf("a name that cannot be stored: %v", errs)
	}
	var n int
	if f.get(&n, `SELECT COUNT(*) FROM radacct WHERE GroupName = 'old' AND (AcctSessionId = 'open' AND AcctStopTime = FROM_UNIXTIME(?) AND CalledStationId = ? AND AcctTerminateCause = 'NAS-Reboot'
		OR AcctSessionId = 't' AND AcctStopTime = FROM_UNIXTIME(?) AND AcctOutputOctets = 30064771072)`, epoch+100, strings.Repeat("ж", 10), epoch+900); n != 2 {
		t.Errorf("%d rows as they should be\n%s", n, f.dump())
	}
	if f.Stats().Cut == 0 {
		t.Error("what was cut is not counted")
	}
	var logged []string
	for _, l := range logs.All() {
		logged = append(logged, fmt.Sprint(l.Message, l.ContextMap()))
	}
	for _, want := range []string{"missing:nasreload]", "missing:radpostauth]", "missing:radacct.class]", "missing:radacct.acctupdatetime]",
		"index:(username, acctstoptime)]", "index:(nasipaddress, acctstoptime)]"} {
		if n := strings.Count(strings.Join(logged, "\n"), want); n != 1 {
			t.Errorf("%q is logged %d times: %q", want, n, logged)
		}
	}
}

// A restart of a NAS on one server, and sessions of it on another, at the same
// moment: the sessions are closed all the same.
func TestReloadBesideStarts(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		other := f.again(sqlbilling.Options{WriteTimeout: time.Minute})
		for round := range 20 {
			f.clear()
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					if err := f.Account(t.Context(), record(fmt.Sprint("s", round, i), billing.Start, 10)); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Go(func() {
				if err := other.Account(t.Context(), record("", billing.AccountingOn, 50)); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			var n int
			if f.get(&n, "SELECT COUNT(*) FROM radacct WHERE acctstoptime IS NOT NULL"); n != 8 {
				t.Fatalf("round %d: %d of 8 sessions are closed", round, n)
			}
		}
	})
}
