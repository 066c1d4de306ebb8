// Package sqltest is for the tests of back ends on SQL databases: empty databases of
// every kind, and the conformance suite on one of them.
package sqltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/internal/need"
)

// An Engine is a kind of database. Who uses it imports its driver.
type Engine struct {
	Name string
	Env  string // names the server; empty: there is none

	// Create makes an empty database, which goes with the test, and returns its DSN
	// for Open, and for database/sql.
	Create func(tb testing.TB) (dsn, driver, rawDSN string)
}

// Where the servers are, and an account there that may create databases.
const (
	mysqlEnv    = "RADPOOL_TEST_MYSQL"    // as in root@tcp(127.0.0.1:3306)/
	postgresEnv = "RADPOOL_TEST_POSTGRES" // as in postgres://root@127.0.0.1:5432/postgres
)

// The engines.
var (
	SQLite     = Engine{Name: "SQLite", Create: createSQLite}
	MariaDB    = Engine{Name: "MariaDB", Env: mysqlEnv, Create: createMariaDB}
	PostgreSQL = Engine{Name: "PostgreSQL", Env: postgresEnv, Create: createPostgreSQL}
)

// Need skips the test where the engine is missing.
func (e Engine) Need(tb testing.TB) {
	tb.Helper()
	if e.Env != "" {
		server(tb, e.Env)
	}
}

// server returns the DSN of a server that tests may use, or skips the test.
func server(tb testing.TB, env string) string {
	tb.Helper()
	dsn := os.Getenv(env)
	if dsn == "" {
		need.Missing(tb, "a database server that "+env+" names (with .ci/databases, which starts throw-away servers and prints the variables)")
	}
	return dsn
}

var databases atomic.Int64

// databaseName is one that no other test, and no other process, uses.
func databaseName() string { return fmt.Sprintf("radpool_test_%d_%d", os.Getpid(), databases.Add(1)) }

// during runs one statement now and another when the test ends.
func during(tb testing.TB, driver, dsn, now, then string) {
	tb.Helper()
	admin, err := sqlx.Open(driver, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	admin.MustExec(now)
	tb.Cleanup(func() {
		if _, err := admin.Exec(then); err != nil {
			tb.Error(err)
		}
		_ = admin.Close()
	})
}

func createSQLite(tb testing.TB) (dsn, driver, rawDSN string) {
	file := filepath.Join(tb.TempDir(), "radius.db")
	return "sqlite:" + file, "sqlite", rawSQLite(file)
}

func rawSQLite(file string) string { return "file://" + file + "?_pragma=busy_timeout(5000)" }

func createMariaDB(tb testing.TB) (dsn, driver, rawDSN string) {
	server, name := server(tb, mysqlEnv), databaseName()
	during(tb, "mysql", server, "CREATE DATABASE "+name, "DROP DATABASE "+name)
	path, params, _ := strings.Cut(server, "?")
	raw := strings.TrimSuffix(path[:strings.LastIndexByte(path, '/')+1]+name+"?"+params, "?")
	return "mysql:" + raw, "mysql", raw
}

// createPostgreSQL makes a schema, which is as good as a database, and cheaper.
func createPostgreSQL(tb testing.TB) (dsn, driver, rawDSN string) {
	server, name := server(tb, postgresEnv), databaseName()
	during(tb, "pgx", server, "CREATE SCHEMA "+name, "DROP SCHEMA "+name+" CASCADE")
	separator := "?"
	if strings.Contains(server, "?") {
		separator = "&"
	}
	dsn = server + separator + "application_name=" + name + "&search_path=" + name
	return dsn, "pgx", dsn
}
