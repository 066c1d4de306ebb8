package sqlbilling_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/internal/sqltest"
	_ "github.com/radpool/radpool/billing/sqlbilling/mysql"
	_ "github.com/radpool/radpool/billing/sqlbilling/postgres"
	"github.com/radpool/radpool/internal/need"
)

// An engine is a kind of database that tests run on.
type engine struct {
	sqltest.Engine

	seconds func(column string) string // a column of time as an integer
	stall   []string                   // begins to hold up whoever writes radacct
	release string                     // ends that
	refuse  []string                   // makes radacct refuse the user "bad"
	kill    string                     // selects the statements that end all other connections
	count   string                     // selects how many statements the server has run
}

var sqliteEngine = engine{
	Engine:  sqltest.SQLite,
	seconds: func(c string) string { return c },
	stall:   []string{"BEGIN IMMEDIATE"}, release: "ROLLBACK",
	refuse: []string{"CREATE TRIGGER refuse BEFORE INSERT ON radacct WHEN NEW.username = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END"},
}

var mysqlEngine = engine{
	Engine:  sqltest.MariaDB,
	seconds: func(c string) string { return "UNIX_TIMESTAMP(" + c + ")" },
	stall:   []string{"LOCK TABLES radacct WRITE"}, release: "UNLOCK TABLES",
	refuse: []string{"CREATE TRIGGER refuse BEFORE INSERT ON radacct FOR EACH ROW BEGIN IF NEW.username = 'bad' THEN SIGNAL SQLSTATE '45000'; END IF; END"},
	kill:   "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
	count:  "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'QUESTIONS'",
}

var postgresEngine = engine{
	Engine:  sqltest.PostgreSQL,
	seconds: func(c string) string { return "EXTRACT(EPOCH FROM " + c + ")::bigint" },
	stall:   []string{"BEGIN", "LOCK TABLE radacct IN EXCLUSIVE MODE"}, release: "ROLLBACK",
	refuse: []string{`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.username = 'bad' THEN RAISE 'no'; END IF; RETURN NEW; END $$`,
		`CREATE TRIGGER refuse BEFORE INSERT ON radacct FOR EACH ROW EXECUTE FUNCTION refuse()`},
	kill: `SELECT 'SELECT pg_terminate_backend(' || pid || ')' FROM pg_stat_activity
		WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()`,
	count: "SELECT COALESCE(SUM(calls), 0)::bigint FROM public.pg_stat_statements",
}

var engines = []engine{sqliteEngine, mysqlEngine, postgresEngine}

// eachEngine runs a test on every kind of database.
func eachEngine(t *testing.T, test func(t *testing.T, e engine)) {
	for _, e := range engines {
		t.Run(e.Name, func(t *testing.T) {
			e.Need(t)
			test(t, e)
		})
	}
}

// eachServer runs a test on every kind of database that is a server.
func eachServer(t *testing.T, test func(t *testing.T, e engine)) {
	for _, e := range engines[1:] {
		t.Run(e.Name, func(t *testing.T) {
			e.Need(t)
			test(t, e)
		})
	}
}

// open opens a Backend on a new database.
func (e engine) open(t testing.TB, opts sqlbilling.Options) *fixture {
	t.Helper()
	dsn, driver, rawDSN := e.Create(t)
	return e.openDSN(t, dsn, driver, rawDSN, opts)
}

func (e engine) openDSN(t testing.TB, dsn, driver, rawDSN string, opts sqlbilling.Options) *fixture {
	t.Helper()
	if opts.Location == nil {
		opts.Location = time.UTC
	}
	b, err := sqlbilling.Open(t.Context(), dsn, opts)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Backend: b, t: t, e: e, dsn: dsn, raw: e.openRaw(t, driver, rawDSN), again: func(opts sqlbilling.Options) *fixture {
		return e.openDSN(t, dsn, driver, rawDSN, opts)
	}}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// openRaw opens a database for looking at, and for making what others made.
func (e engine) openRaw(t testing.TB, driver, rawDSN string) *sqlx.DB {
	t.Helper()
	raw, err := sqlx.Open(driver, rawDSN)
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

// statements is how many the server has run.
func (e engine) statements(t testing.TB, f *fixture) (n int64) {
	t.Helper()
	if err := f.raw.Get(&n, e.count); err != nil {
		need.Missing(t, fmt.Sprintf("a server that counts statements (%v; with .ci/databases it does)", err))
	}
	return n
}

// acctRows are the rows of radacct, times in seconds and text as strings.
func (e engine) acctRows(ctx context.Context, raw *sqlx.DB) ([]map[string]any, error) {
	head, err := raw.QueryxContext(ctx, "SELECT * FROM radacct WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	columns, err := head.Columns()
	_ = head.Close()
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if lower := strings.ToLower(c); strings.HasSuffix(lower, "time") && lower != "acctsessiontime" {
			columns[i] = e.seconds(c) + " AS " + c
		}
	}
	rows, err := raw.QueryxContext(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM radacct ORDER BY acctuniqueid")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []map[string]any
	for rows.Next() {
		m := make(map[string]any)
		if err := rows.MapScan(m); err != nil {
			return nil, err
		}
		for k, v := range m {
			if b, ok := v.([]byte); ok {
				m[k] = string(b)
			}
		}
		list = append(list, m)
	}
	return list, rows.Err()
}
