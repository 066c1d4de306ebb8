package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/radpool/radpool/billing/internal/sqlitefile"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

//go:embed schema.sql
var schema string

//go:embed pool.sql
var pool string

//go:embed authorize.sql
var authorize string

//go:embed authorizeone.sql
var authorizeOne string

// The table of reloads has the standard's nasreload beside it: that one keeps
// only the newest event of a NAS, which is not enough to close a session at the
// same moment whatever the order of records.
const reloads = `CREATE TABLE IF NOT EXISTS radpool_reload (
  nasipaddress TEXT NOT NULL,
  reloadtime   INTEGER NOT NULL,
  PRIMARY KEY (nasipaddress, reloadtime)
) WITHOUT ROWID`

func init() {
	dialect.Register(&dialect.Dialect{
		Name:    "sqlite",
		Open:    Open("sqlite"),
		Tables:  tables,
		Create:  create,
		Reloads: []string{reloads},
		Pools:   []string{pool},
		Leases:  prepareLeases,
		Now:     now,
		RowID:   "rowid",
		Prepare: prepare,
		Among: func(table string, c dialect.Column) string {
			return table + " WHERE " + c.Name + " IN (SELECT value FROM json_each(?))"
		},
		List:     list,
		Seconds:  seconds,
		Moment:   moment,
		Text:     func(c dialect.Column) string { return "COALESCE(" + c.Name + ", '')" },
		Stored:   func(expr string, _ dialect.Column) string { return expr },
		Number:   func(c dialect.Column) string { return "CAST(COALESCE(" + c.Name + ", 0) AS INTEGER)" },
		Lacks:    lacks,
		Unique:   unique,
		Classify: classify,
	})
}

const (
	readers = 2   // what was measured to be best
	batch   = 128 // users of one statement
)

// busyTimeout is how long SQLite itself waits for a lock, in milliseconds. It is
// short because it knows nothing of contexts; sqlbilling tries again.
const busyTimeout = "50"

// now are the seconds since 1970.
const now = "CAST(strftime('%s', 'now') AS INTEGER)"

// walLimit is how large the WAL stays, in octets, after it had to grow since
// another process was reading for long. SQLite on its own never shrinks it.
const walLimit = "16777216"

// Open returns the function that opens a file through the named driver of
// database/sql. It is exported for tests that wrap the driver.
func Open(driver string) func(context.Context, string, dialect.Options) (*dialect.DB, error) {
	return func(ctx context.Context, target string, o dialect.Options) (*dialect.DB, error) {
		if target == ":memory:" {
			return openMemory(driver)
		}
		if target == "" {
			return nil, errors.New("the name of the file is missing, as in sqlite:/var/lib/radpool.db")
		}
		label := "SQLite file " + target
		if err := sqlitefile.Check(target, o.MustExist); err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		f := &file{name: target}
		write, err := openPool(driver, f, "_txlock=immediate&_pragma=busy_timeout("+busyTimeout+
			")&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=trusted_schema(0)&_pragma=journal_size_limit("+walLimit+")")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		write.SetMaxOpenConns(1)
		if err := settle(ctx, write); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", label, err), write.Close())
		}
		read, err := openPool(driver, f, "_pragma=busy_timeout("+busyTimeout+")&_pragma=query_only(1)")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", label, err), write.Close())
		}
		n := o.Readers
		if n == 0 {
			n = readers
		}
		read.SetMaxOpenConns(n)
		read.SetMaxIdleConns(n)
		return &dialect.DB{
			Write: write, Read: read, Label: label, Local: true, Readers: n, Batch: batch, Writers: 1, Failed: f.failed,
		}, nil
	}
}

// openPool returns a pool of connections to a file that is there: mode=rw, since
// SQLite would make a file that was removed anew, and empty.
func openPool(driverName string, f *file, query string) (*sqlx.DB, error) {
	named, err := sql.Open(driverName, "") // opens nothing, and knows the driver of that name
	if err != nil {
		return nil, err
	}
	c := &connector{driver: named.Driver(), dsn: sqlitefile.Source(f.name, "mode=rw&"+query), file: f}
	return sqlx.NewDb(sql.OpenDB(c), "sqlite"), named.Close()
}

// openMemory opens a database that lives in its only connection.
func openMemory(driver string) (*dialect.DB, error) {
	db, err := sqlx.Open(driver, ":memory:?_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return &dialect.DB{Write: db, Read: db, Label: "SQLite in memory", Readers: 1, Batch: batch, Writers: 1}, nil
}

// settle checks that the file is a database that can be written durably.
func settle(ctx context.Context, db *sqlx.DB) error {
	var mode string
	if err := db.GetContext(ctx, &mode, "PRAGMA journal_mode"); err != nil {
		return sqlitefile.Explain(err)
	}
	if !strings.EqualFold(mode, "wal") {
		return fmt.Errorf("cannot be put into WAL mode (it is in mode %q)", mode)
	}
	tx, err := db.BeginTxx(ctx, nil) // BEGIN IMMEDIATE: fails where nothing may be written
	if err != nil {
		return sqlitefile.Explain(err)
	}
	return tx.Rollback()
}

func seconds(c dialect.Column) string {
	n := c.Name
	return "CASE typeof(" + n + ") WHEN 'text' THEN CAST(strftime('%s', " + n + ") AS INTEGER) ELSE CAST(" + n + " AS INTEGER) END"
}

// moment stores seconds as they are, but for the end of a lease: FreeRADIUS compares
// that with text.
func moment(expr string, c dialect.Column) string {
	if c.Name == "expiry_time" {
		return "datetime(" + expr + ", 'unixepoch')"
	}
	return expr
}

func classify(err error) dialect.Class {
	if errors.Is(err, errMoved) {
		return dialect.Busy // the next attempt is on what has the name now
	}
	switch sqlitefile.Code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return dialect.Busy
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return dialect.BadRow
	case sqlite3.SQLITE_ERROR:
		// There is no code for it.
		for _, words := range []string{"no such column", "no such table", "has no column named"} {
			if strings.Contains(err.Error(), words) {
				return dialect.Changed
			}
		}
	}
	return dialect.Broken
}

func tables(ctx context.Context, db *dialect.DB) (dialect.Tables, error) {
	rows, err := db.Write.QueryContext(ctx, `SELECT lower(m.name), lower(c.name)
		FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return nil, sqlitefile.Explain(err)
	}
	defer func() { _ = rows.Close() }()
	t := make(dialect.Tables)
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		t[table] = append(t[table], dialect.Column{Name: column})
	}
	if err := rows.Err(); err != nil {
		return nil, sqlitefile.Explain(err)
	}
	return t, nil
}

// create makes the tables, in one transaction.
func create(ctx context.Context, db *dialect.DB) error {
	tx, err := db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		if e := tx.Rollback(); e != nil {
			return errors.Join(err, e)
		}
		// Another process may have been faster.
		if there, e := tables(ctx, db); e == nil && len(there) > 0 {
			return nil
		}
		return err
	}
	return tx.Commit()
}

// lacks looks for a scan of the table in the plan of a query. Where all of several
// columns have to be in the index it looks at the indexes instead: a plan is content
// with the first. Open sessions are found by an index of those alone as well.
func lacks(ctx context.Context, db *dialect.DB, table string, columns ...string) (bool, error) {
	if len(columns) > 1 && columns[len(columns)-1] != "acctstoptime" {
		return lacksAll(ctx, db, table, strings.Join(columns, ",")+",")
	}
	query := "EXPLAIN QUERY PLAN SELECT COUNT(*) FROM " + table + " WHERE " + strings.Join(columns, " = 'x' AND ")
	if len(columns) > 1 {
		query += " IS NULL" // when a session stopped
	} else {
		query += " = 'x'"
	}
	// A plan is made with what this connection knows of the schema. A statement that
	// runs makes it look whether another has changed it.
	if _, err := db.Write.ExecContext(ctx, "SELECT 1 FROM "+table+" LIMIT 1"); err != nil {
		return false, sqlitefile.Explain(err)
	}
	var plan []struct {
		ID      int    `db:"id"`
		Parent  int    `db:"parent"`
		NotUsed int    `db:"notused"`
		Detail  string `db:"detail"`
	}
	if err := db.Write.SelectContext(ctx, &plan, query); err != nil {
		return false, sqlitefile.Explain(err)
	}
	for _, step := range plan {
		if strings.HasPrefix(step.Detail, "SCAN "+table) {
			return true, nil
		}
	}
	return false, nil
}

// lacksAll reports whether no index of all rows begins with columns, each with a comma.
func lacksAll(ctx context.Context, db *dialect.DB, table, columns string) (yes bool, err error) {
	err = db.Write.GetContext(ctx, &yes, `SELECT NOT EXISTS (SELECT 1 FROM pragma_index_list(?1) l WHERE NOT l.partial AND ?2 =
		substr((SELECT group_concat(lower(coalesce(name, '')), '') FROM (SELECT name || ',' AS name FROM pragma_index_info(l.name) ORDER BY seqno)), 1, length(?2)))`,
		table, columns)
	return yes, sqlitefile.Explain(err)
}

func unique(ctx context.Context, db *dialect.DB) (yes bool, err error) {
	err = db.Write.GetContext(ctx, &yes, `SELECT EXISTS (SELECT 1 FROM pragma_index_list('radacct') l
		WHERE l."unique" AND NOT l.partial AND (SELECT group_concat(lower(name)) FROM pragma_index_info(l.name)) = 'acctuniqueid')`)
	return yes, sqlitefile.Explain(err)
}

// names packs user names as JSON of hexadecimal: a name may hold any octet, and
// JSON may not.
func names(users []string) any {
	n := 2
	for _, u := range users {
		n += 2*len(u) + 3
	}
	b := append(make([]byte, 0, n), '[')
	for i, u := range users {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = hex.AppendEncode(b, []byte(u))
		b = append(b, '"')
	}
	return string(append(b, ']'))
}

// list packs what is known to be plain text: identities in hexadecimal and
// addresses.
func list(values []string) []any {
	b, err := json.Marshal(values)
	if err != nil {
		panic("sqlbilling: " + err.Error()) // strings can always be encoded
	}
	return []any{string(b)}
}
