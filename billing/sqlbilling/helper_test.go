package sqlbilling_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/goleak"
	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	_ "github.com/radpool/radpool/billing/sqlbilling/sqlite"
	"github.com/radpool/radpool/internal/dict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fixture is a Backend on a new database, and another connection to it.
type fixture struct {
	*sqlbilling.Backend
	t     testing.TB
	e     engine
	file  string // of SQLite
	dsn   string
	raw   *sqlx.DB
	again func(sqlbilling.Options) *fixture // another Backend on the same database
}

// open opens a Backend on a new file of SQLite.
func open(t testing.TB, opts sqlbilling.Options) *fixture {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "radius.db"), opts)
}

func openFile(t testing.TB, file string, opts sqlbilling.Options) *fixture {
	t.Helper()
	f := sqliteEngine.openDSN(t, "sqlite:"+file, "sqlite", "file://"+file+"?_pragma=busy_timeout(5000)", opts)
	f.file = file
	return f
}

func rawDB(t testing.TB, file string) *sqlx.DB {
	t.Helper()
	db, err := sqlx.Open("sqlite", "file://"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (f *fixture) exec(query string, args ...any) {
	f.t.Helper()
	if _, err := f.raw.Exec(f.raw.Rebind(query), args...); err != nil {
		f.t.Fatal(err)
	}
}

// get reads one value, or one row.
func (f *fixture) get(dest any, query string, args ...any) {
	f.t.Helper()
	if err := f.raw.Get(dest, f.raw.Rebind(query), args...); err != nil {
		f.t.Fatal(err)
	}
}

// clear empties the tables of accounting.
func (f *fixture) clear() {
	f.t.Helper()
	f.exec("DELETE FROM radacct")
	f.exec("DELETE FROM nasreload")
	f.exec("DELETE FROM radpool_reload WHERE nasipaddress <> ''")
}

// rows inserts rows, "table who attribute op value".
func (f *fixture) rows(rows ...[5]string) {
	f.t.Helper()
	for _, r := range rows {
		if r[0] == "radusergroup" {
			f.exec("INSERT INTO radusergroup (username, groupname, priority) VALUES (?, ?, ?)", r[1], r[2], r[3])
			continue
		}
		column := "username"
		if r[0] == "radgroupcheck" || r[0] == "radgroupreply" {
			column = "groupname"
		}
		f.exec("INSERT INTO "+r[0]+" ("+column+", attribute, op, value) VALUES (?, ?, ?, ?)", r[1], r[2], r[3], r[4])
	}
}

func (f *fixture) authorize(req *billing.AccessRequest) billing.Grant {
	f.t.Helper()
	g, err := f.Authorize(f.t.Context(), req)
	if err != nil {
		f.t.Fatal(err)
	}
	return g
}

func (f *fixture) account(recs ...*billing.AccountingRecord) {
	f.t.Helper()
	for _, rec := range recs {
		if err := f.Account(f.t.Context(), rec); err != nil {
			f.t.Fatal(err)
		}
	}
}

// dump is all of radacct but the ids, as text.
func (f *fixture) dump() string {
	f.t.Helper()
	rows, err := f.e.acctRows(f.t.Context(), f.raw)
	if err != nil {
		f.t.Fatal(err)
	}
	s := ""
	for _, m := range rows {
		delete(m, "radacctid")
		s += fmt.Sprintf("%#v\n", m) // maps print in the order of their keys
	}
	return s
}

// show is a list of attributes as text.
func show(attrs radius.Attributes) []string {
	var list []string
	for _, avp := range attrs {
		vendor, code, value := uint32(0), int(avp.Type), []byte(avp.Attribute)
		if code == 26 {
			vendor = uint32(value[0])<<24 | uint32(value[1])<<16 | uint32(value[2])<<8 | uint32(value[3])
			code, value = int(value[4]), value[6:]
		}
		a := dict.ByNumber(vendor, code)
		list = append(list, a.Name+"="+a.Format(value))
	}
	return list
}

const epoch = 1_700_000_000 // 2023-11-14 22:13:20 UTC, a Tuesday

func at(sec int64) time.Time { return time.Unix(epoch+sec, 0) }

var nas1 = netip.MustParseAddr("192.0.2.1")

func uniqueID(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

func record(session string, status billing.StatusType, sec int64) *billing.AccountingRecord {
	return &billing.AccountingRecord{
		Status: status, SessionID: session, UniqueID: uniqueID(session), UserName: "alice", Time: at(sec), NASAddr: nas1,
	}
}
