package ledger_test

import (
	"crypto/md5"
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/goleak"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/sqltest"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	_ "github.com/radpool/radpool/billing/sqlbilling/mysql"
	_ "github.com/radpool/radpool/billing/sqlbilling/postgres"
	_ "github.com/radpool/radpool/billing/sqlbilling/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An engine is a kind of database that tests run on.
type engine struct {
	sqltest.Engine
	stall   []string // begins to hold up whoever writes sessions
	release string
}

var engines = []engine{
	{sqltest.SQLite, []string{"BEGIN IMMEDIATE"}, "ROLLBACK"},
	{sqltest.MariaDB, []string{"LOCK TABLES radpool_session WRITE"}, "UNLOCK TABLES"},
	{sqltest.PostgreSQL, []string{"BEGIN", "LOCK TABLE radpool_session IN EXCLUSIVE MODE"}, "ROLLBACK"},
}

// each runs a test on every kind of database.
func each(t *testing.T, test func(t *testing.T, e engine)) {
	for _, e := range engines {
		t.Run(e.Name, func(t *testing.T) {
			e.Need(t)
			test(t, e)
		})
	}
}

// A fixture is a Backend on a new database, and another connection to it.
type fixture struct {
	*ledger.Backend
	t   testing.TB
	dsn string
	raw *sqlx.DB
}

func (e engine) open(t testing.TB) *fixture {
	t.Helper()
	dsn, driver, rawDSN := e.Create(t)
	return &fixture{t: t, dsn: dsn, Backend: openAgain(t, dsn), raw: openRaw(t, driver, rawDSN)}
}

// openRaw opens a database for looking at, and for making what others made.
func openRaw(t testing.TB, driver, rawDSN string) *sqlx.DB {
	t.Helper()
	raw, err := sqlx.Open(driver, rawDSN)
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

func openAgain(t testing.TB, dsn string) *ledger.Backend {
	t.Helper()
	return openWith(t, dsn, ledger.Options{})
}

func openWith(t testing.TB, dsn string, opts ledger.Options) *ledger.Backend {
	t.Helper()
	b, err := ledger.Open(t.Context(), dsn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (f *fixture) exec(query string, args ...any) {
	f.t.Helper()
	if _, err := f.raw.Exec(f.raw.Rebind(query), args...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) number(query string, args ...any) (n int64) {
	f.t.Helper()
	if err := f.raw.Get(&n, f.raw.Rebind(query), args...); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// priced makes a tariff with all kinds of prices, and subscribers of it with money.
func (f *fixture) priced(users ...string) {
	f.t.Helper()
	f.exec(`INSERT INTO radpool_tariff (name, price_input_mb, price_output_mb, price_hour, price_day, mb_octets, zone, profile, restricted_profile)
		VALUES ('full', 100003, 250007, 1000001, 5000000, 1000000, 'Europe/Berlin', 'fast', 'poor')`)
	f.exec(`INSERT INTO radpool_interval (tariff, position, from_minute, to_minute, price_input_mb, price_output_mb, price_hour)
		VALUES ('full', 1, 1320, 360, 7, 11, 333333)`)
	for _, u := range users {
		f.exec("INSERT INTO radpool_subscriber (username, password, tariff) VALUES (?, ?, 'full')", u, "secret-"+u)
		if err := f.Deposit(f.t.Context(), u, "first", 100_000_000, at(0)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// epoch is in the summer, at 21:30 in Berlin.
var epoch = time.Date(2026, 6, 30, 19, 30, 0, 0, time.UTC).Unix()

func at(second int64) time.Time { return time.Unix(epoch+second, 0) }

var nas = netip.MustParseAddr("192.0.2.1")

func record(session, user string, status billing.StatusType, second int64) *billing.AccountingRecord {
	id := md5.Sum([]byte(session))
	rec := &billing.AccountingRecord{
		Status: status, SessionID: session, UniqueID: hex.EncodeToString(id[:]), UserName: user, Time: at(second), NASAddr: nas,
	}
	if status != billing.Start {
		rec.SessionTime = time.Duration(second) * time.Second
		rec.InputOctets, rec.OutputOctets = uint64(second)*1001, uint64(second)*70_003
	}
	return rec
}

// story is the life of a session, over two days and a change of the interval.
func story(session, user string) []*billing.AccountingRecord {
	return []*billing.AccountingRecord{
		record(session, user, billing.Start, 0), record(session, user, billing.InterimUpdate, 3600),
		record(session, user, billing.InterimUpdate, 7203), record(session, user, billing.Stop, 10_801),
	}
}

// copyFiles copies a database of SQLite as the disk is now.
func copyFiles(t testing.TB, dsn, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(strings.TrimPrefix(dsn, "sqlite:") + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// balance is the only balance in a file of SQLite.
func (f *fixture) balance(file string) (n int64) {
	f.t.Helper()
	raw, err := sqlx.Open("sqlite", "file://"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	if err := raw.Get(&n, "SELECT balance FROM radpool_balance"); err != nil {
		f.t.Fatal(err)
	}
	return n
}
