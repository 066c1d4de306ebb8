package sqlbilling_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	msqlite "modernc.org/sqlite"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/sqlite"
)

// countingDriver counts the statements that are run on its connections.
type countingDriver struct{ driver.Driver }

var statements atomic.Int64

type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type countingConn struct{ sqliteConn }

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countingStmt struct{ sqliteStmt }

func (d countingDriver) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return countingConn{c.(sqliteConn)}, nil
}

func (c countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return countingStmt{s.(sqliteStmt)}, nil
}

func (c countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	statements.Add(1)
	return c.sqliteConn.QueryContext(ctx, query, args)
}

func (c countingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	statements.Add(1)
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (s countingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	statements.Add(1)
	return s.sqliteStmt.QueryContext(ctx, args)
}

func (s countingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	statements.Add(1)
	return s.sqliteStmt.ExecContext(ctx, args)
}

var registerCounting = sync.OnceFunc(func() {
	sql.Register("sqlite-counting", countingDriver{&msqlite.Driver{}})
	d, err := dialect.Named("sqlite")
	if err != nil {
		panic(err)
	}
	counting := *d
	counting.Name, counting.Open = "counting", sqlite.Open("sqlite-counting")
	dialect.Register(&counting)
})

// One Access-Request is one statement, whatever the subscriber has; so is a batch.
func TestOneStatementAnAccessRequest(t *testing.T) {
	registerCounting()
	f := open(t, sqlbilling.Options{})
	f.rows(pass, check("Simultaneous-Use", ":=", "2"), check("User-Profile", ":=", "gold"), check("Radpool-Balance", ":=", "0"),
		reply("Reply-Message", "=", "hi"), reply("Fall-Through", "=", "Yes"), member("alice", "a", "1"), member("alice", "b", "2"),
		greply("a", "Fall-Through", "=", "Yes"), greply("b", "Fall-Through", "=", "Yes"), member("gold", "g", "1"),
		greply("g", "Session-Timeout", "=", "5"), greply("radpool-restricted", "Filter-Id", "=", "pay"))
	f.account(record("open", billing.Start, 0), record("shut", billing.Start, 0), record("shut", billing.Stop, 5))
	b, err := sqlbilling.Open(t.Context(), "counting:"+f.file, sqlbilling.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	for range 3 {
		before := statements.Load()
		g, err := b.Authorize(t.Context(), aliceRequest(t))
		if got, want := summary(g, err), cleartext+" no-money [Reply-Message=hi Session-Timeout=5] restricted[Filter-Id=pay] sessions 1/2"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if n := statements.Load() - before; n != 1 {
			t.Errorf("%d statements, want 1", n)
		}
	}
	reqs := make([]*billing.AccessRequest, 100)
	for i := range reqs {
		reqs[i] = &billing.AccessRequest{UserName: fmt.Sprintf("user%d", i), Time: at(0)}
	}
	reqs[50] = aliceRequest(t)
	before := statements.Load()
	grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
	b.AuthorizeBatch(t.Context(), reqs, grants, errs)
	if n := statements.Load() - before; n != 1 || errs[50] != nil || grants[50].OpenSessions != 1 || grants[49].Reason != billing.ReasonUnknownUser {
		t.Errorf("%d statements, %v", n, grants[50])
	}
	if _, err := b.Authorize(t.Context(), &billing.AccessRequest{Time: at(0)}); err != nil || statements.Load() != before+1 {
		t.Errorf("a request without a name asked the database (%v)", err)
	}
}

// Names and values are data, whatever octets they have.
func TestHostileText(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	names := []string{"' OR 1=1 --", `"; DROP TABLE radcheck; --`, "\xff\xfe", "nul\x00", "nul", "nul\x00more", strings.Repeat("x", 253),
		"trailing", "trailing ", " trailing", "CASE", "case", "Case", "%", "_", "usér", "用户", `back\slash`, "a'b", "[1,2]", "?1", ":x", "\n"}
	for i, name := range names {
		f.exec("INSERT INTO radcheck (username, attribute, op, value) VALUES (?, 'Cleartext-Password', ':=', ?)", name, fmt.Sprintf("p%d", i))
		f.exec("INSERT INTO radreply (username, attribute, op, value) VALUES (?, 'Reply-Message', '=', ?)", name, fmt.Sprintf("r%d", i))
	}
	reqs := make([]*billing.AccessRequest, len(names))
	for i, name := range names {
		reqs[i] = &billing.AccessRequest{UserName: name, Time: at(0)}
	}
	grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
	f.AuthorizeBatch(t.Context(), reqs, grants, errs)
	for i := range names {
		single := f.authorize(reqs[i])
		want := fmt.Sprintf("%s [Reply-Message=r%d]", cleartext, i)
		if got := summary(grants[i], errs[i]); got != want || summary(single, nil) != want ||
			single.Password.VerifyPAP(fmt.Appendf(nil, "p%d", i)) != billing.ReasonNone {
			t.Errorf("%q: %s and %s, want %s", names[i], got, summary(single, nil), want)
		}
	}
	for _, name := range []string{"' OR '1'='1", "cASE", "trailing  ", "nul\x00\x00", "x"} {
		if g := f.authorize(&billing.AccessRequest{UserName: name, Time: at(0)}); g.Reason != billing.ReasonUnknownUser {
			t.Errorf("%q is %s", name, summary(g, nil))
		}
	}
	for i, name := range names {
		rec := record(fmt.Sprintf("s%d", i), billing.Start, 0)
		rec.UserName, rec.CallingStationID, rec.ConnectInfo = name, name, name
		f.account(rec, rec)
		var n int
		if err := f.raw.Get(&n, "SELECT COUNT(*) FROM radacct WHERE username = ? AND callingstationid = ? AND connectinfo_start = ?", name, name, name); err != nil || n != 1 {
			t.Errorf("%q is stored %d times (%v)", name, n, err)
		}
	}
}

// Many at once: everything is acknowledged once, groups form, and the rows are the
// same as one by one.
func TestConcurrentAccounting(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f, alone := e.open(t, sqlbilling.Options{}), e.open(t, sqlbilling.Options{})
		const sessions = 40
		var wg sync.WaitGroup
		for i := range sessions {
			recs := story(fmt.Sprintf("s%d", i))
			if i < 8 {
				alone.account(recs...)
			}
			for _, rec := range append(recs, recs...) {
				wg.Go(func() {
					if err := f.Account(t.Context(), rec); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Go(func() {
				if _, err := f.Authorize(t.Context(), &billing.AccessRequest{UserName: "alice", Time: at(0)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s := f.Stats()
		if s.Records != sessions*8 || s.Groups == 0 || s.Groups > s.Records || s.Failed != 0 || s.Rows < sessions {
			t.Errorf("%+v", s)
		}
		all := f.dump()
		for line := range strings.Lines(alone.dump()) {
			if !strings.Contains(all, line) {
				t.Errorf("no %s", line)
			}
		}
	})
}

// An existing database is used as it is, also one of an older FreeRADIUS without
// some columns, and what another server wrote is kept.
func TestExistingDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "old.db")
	raw := rawDB(t, file)
	for _, q := range []string{
		`CREATE TABLE radcheck (id INTEGER PRIMARY KEY AUTOINCREMENT, username varchar(64) NOT NULL DEFAULT '', attribute varchar(64) NOT NULL DEFAULT '', op char(2) NOT NULL DEFAULT '==', value varchar(253) NOT NULL DEFAULT '')`,
		`CREATE TABLE radreply (id INTEGER PRIMARY KEY AUTOINCREMENT, username varchar(64), attribute varchar(64), op char(2), value varchar(253))`,
		`CREATE TABLE radgroupcheck (id INTEGER PRIMARY KEY AUTOINCREMENT, groupname varchar(64), attribute varchar(64), op char(2), value varchar(253))`,
		`CREATE TABLE radgroupreply (id INTEGER PRIMARY KEY AUTOINCREMENT, groupname varchar(64), attribute varchar(64), op char(2), value varchar(253))`,
		`CREATE TABLE radusergroup (username varchar(64), groupname varchar(64), priority int)`,
		`CREATE TABLE RadAcct (RadAcctId INTEGER PRIMARY KEY, AcctSessionId varchar(64), AcctUniqueId varchar(32), UserName varchar(64), GroupName varchar(64) DEFAULT 'old',
			NASIPAddress varchar(15), AcctStartTime datetime, AcctStopTime datetime, AcctSessionTime int, AcctInputOctets bigint, AcctOutputOctets bigint, AcctTerminateCause varchar(32))`,
		`CREATE TABLE radpostauth (id INTEGER PRIMARY KEY, username varchar(64), pass varchar(64), reply varchar(32), authdate timestamp)`,
		`INSERT INTO radcheck (username, attribute, op, value) VALUES ('alice', 'Cleartext-Password', ':=', 'secret')`,
		`INSERT INTO radusergroup VALUES ('alice', 'b', 2), ('alice', 'a', 1)`,
		`INSERT INTO radgroupreply (groupname, attribute, op, value) VALUES ('a', 'Reply-Message', NULL, 'x'), ('a', 'Session-Timeout', '=', '7')`,
		fmt.Sprintf(`INSERT INTO radacct VALUES (7, 's', '%s', 'alice', 'g', '192.0.2.1', '2023-11-14 22:13:30', NULL, 5, 9, NULL, NULL)`, uniqueID("s")),
	} {
		if _, err := raw.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	core, logs := observer.New(zap.WarnLevel)
	f := openFile(t, file, sqlbilling.Options{Logger: zap.New(core)})
	var logged []string
	for _, e := range logs.All() {
		logged = append(logged, fmt.Sprint(e.Message, e.ContextMap()))
	}
	for _, want := range []string{"missing:nasreload]", "missing:radacct.class]", "missing:radacct.acctupdatetime]",
		"index:UNIQUE (acctuniqueid)]", "index:(username, acctstoptime)]", "index:(nasipaddress, acctstoptime)]"} {
		if n := strings.Count(strings.Join(logged, "\n"), want); n != 1 {
			t.Errorf("%q is logged %d times: %q", want, n, logged)
		}
	}
	if got, want := summary(f.authorize(aliceRequest(t)), nil), cleartext+" [Session-Timeout=7]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.account(record("s", billing.InterimUpdate, 60), story("t")[3], record("", billing.AccountingOn, 100))
	f.PostAuth(&billing.AuthResult{Access: aliceRequest(t), Time: at(0), Accepted: true, Reason: billing.ReasonNoMoney})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var rows, posts int
	if err := raw.Get(&rows, `SELECT COUNT(*) FROM radacct WHERE
		(radacctid = 7 AND acctstarttime = '2023-11-14 22:13:30' AND acctstoptime = ? AND acctinputoctets = 9 AND groupname = 'g' AND acctterminatecause = 'NAS-Reboot')
		OR (acctsessionid = 't' AND acctstoptime = ? AND acctoutputoctets = 30064771072 AND groupname = 'old')`, epoch+100, epoch+900); err != nil || rows != 2 {
		t.Errorf("%d rows as they should be (%v)\n%s", rows, err, f.dump())
	}
	if err := raw.Get(&posts, `SELECT COUNT(*) FROM radpostauth WHERE username = 'alice' AND reply = 'Access-Accept'`); err != nil || posts != 1 {
		t.Errorf("%d rows in radpostauth (%v)", posts, err)
	}
}

func TestPostAuth(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		for _, store := range []bool{false, true} {
			f := e.open(t, sqlbilling.Options{StorePasswords: store})
			alice := &billing.AccessRequest{UserName: "alice"}
			f.PostAuth(&billing.AuthResult{Access: alice, Time: at(1), Accepted: true, Password: []byte("secret")})
			f.PostAuth(&billing.AuthResult{Access: alice, Time: at(2), Reason: billing.ReasonWrongPassword, Password: []byte("guess")})
			f.PostAuth(&billing.AuthResult{Access: alice, Time: at(3), Reason: billing.ReasonExpired})
			if err := f.Close(); err != nil { // writes what waits
				t.Fatal(err)
			}
			var got []string
			if err := f.raw.Select(&got, "SELECT CONCAT(username, ' ', pass, ' ', reply, ' ', "+e.seconds("authdate")+", ' ', reason) FROM radpostauth ORDER BY id"); err != nil {
				t.Fatal(err)
			}
			want := []string{"alice *** Access-Accept 1700000001 ", "alice *** Access-Reject 1700000002 wrong-password", "alice  Access-Reject 1700000003 expired"}
			if store {
				want[0], want[1] = strings.Replace(want[0], "***", "secret", 1), strings.Replace(want[1], "***", "guess", 1)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%q, want %q", got, want)
			}
			if s := f.Stats(); s.PostAuthWritten != 3 || s.PostAuthDropped+s.PostAuthFailed != 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}

// PostAuth never blocks: what has no room is dropped and counted.
func TestPostAuthOverflow(t *testing.T) {
	f := open(t, sqlbilling.Options{PostAuthBuffer: 4})
	f.exec("BEGIN IMMEDIATE")
	const sent = 1000
	for range sent {
		f.PostAuth(&billing.AuthResult{Access: &billing.AccessRequest{UserName: "alice"}, Time: at(0)})
	}
	f.exec("ROLLBACK")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := f.Stats()
	var stored uint64
	if err := f.raw.Get(&stored, "SELECT COUNT(*) FROM radpostauth"); err != nil {
		t.Fatal(err)
	}
	if s.PostAuthDropped == 0 || s.PostAuthWritten != stored || s.PostAuthWritten+s.PostAuthDropped+s.PostAuthFailed != sent {
		t.Errorf("%+v, %d stored", s, stored)
	}
}

func TestEnsureDemo(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		if n, err := f.EnsureDemo(t.Context(), 300); err != nil || n != 300 {
			t.Fatal(n, err)
		}
		if n, err := f.EnsureDemo(t.Context(), 300); err != nil || n != 0 {
			t.Error("again:", n, err)
		}
		g := f.authorize(&billing.AccessRequest{UserName: "user255", Time: at(0)})
		if got, want := summary(g, nil), cleartext+" [Reply-Message=hello Session-Timeout=3600 Framed-IP-Address=10.0.1.0]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if g.Password.VerifyPAP([]byte("pass255")) != billing.ReasonNone {
			t.Error("the password is another")
		}
		if _, err := f.EnsureDemo(t.Context(), 1<<24); err == nil {
			t.Error("no bound")
		}
	})
}

func TestMemory(t *testing.T) {
	b, err := sqlbilling.Open(t.Context(), "sqlite::memory:", sqlbilling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.EnsureDemo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	g, err := b.Authorize(t.Context(), &billing.AccessRequest{UserName: "user0", Time: at(0)})
	if err = errors.Join(err, b.Account(t.Context(), record("s", billing.Start, 0))); err != nil || g.Password.IsZero() {
		t.Error(g, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
