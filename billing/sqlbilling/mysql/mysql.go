package mysql

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

//go:embed schema.sql
var schema string

//go:embed pool.sql
var pool string

func init() {
	for _, name := range []string{"mysql", "mariadb"} {
		d := modern()
		d.Name = name
		dialect.Register(d)
	}
}

// modern is the dialect of servers with JSON_TABLE.
func modern() *dialect.Dialect {
	return &dialect.Dialect{
		Open:    open,
		Tables:  tables,
		Create:  create,
		Reloads: reloads,
		Pools:   []string{pool},
		Leases: func(ctx context.Context, db *dialect.DB, t dialect.Tables, seconds int64, how dialect.Comparison) (dialect.Leaser, error) {
			return prepareLeases(ctx, db, t, seconds, how, true)
		},
		Now: "UNIX_TIMESTAMP()",
		Prepare: func(ctx context.Context, db *dialect.DB, t dialect.Tables, q dialect.Question) (dialect.Lookup, error) {
			return prepare(ctx, db, t, q, true)
		},
		Among: func(table string, c dialect.Column) string {
			return jsonList(c, false) + " STRAIGHT_JOIN " + table + " ON " + table + "." + c.Name + " = q.u"
		},
		List:         func(values []string) []any { return []any{jsonNames(values)} },
		Seconds:      seconds,
		Moment:       moment,
		Text:         func(c dialect.Column) string { return "COALESCE(" + c.Name + ", '')" },
		Stored:       func(expr string, _ dialect.Column) string { return expr },
		Number:       number,
		Clean:        clean,
		Holds:        holds,
		Bulk:         &dialect.Bulk{Source: source, Pack: pack, Update: update},
		Lacks:        lacks,
		Unique:       unique,
		ForUpdate:    " FOR UPDATE",
		ShareReloads: "SELECT reloadtime FROM radpool_reload WHERE nasipaddress = '' LOCK IN SHARE MODE",
		OwnReloads:   "SELECT reloadtime FROM radpool_reload WHERE nasipaddress = '' FOR UPDATE",
		Classify:     classify,
	}
}

// Old returns the dialect of servers without JSON_TABLE, which Open chooses by
// itself. It is exported for tests, which have a newer server.
func Old() *dialect.Dialect {
	d := modern()
	d.Name = "mysql-old"
	d.Open = func(ctx context.Context, target string, o dialect.Options) (*dialect.DB, error) {
		db, err := open(ctx, target, o)
		if err == nil {
			db.Dialect = nil
		}
		return db, err
	}
	d.Prepare = func(ctx context.Context, db *dialect.DB, t dialect.Tables, q dialect.Question) (dialect.Lookup, error) {
		return prepare(ctx, db, t, q, false)
	}
	d.Leases = func(ctx context.Context, db *dialect.DB, t dialect.Tables, seconds int64, how dialect.Comparison) (dialect.Leaser, error) {
		return prepareLeases(ctx, db, t, seconds, how, false)
	}
	d.Among = func(table string, c dialect.Column) string {
		return table + " WHERE " + c.Name + " IN (" + params(listLength) + ")"
	}
	d.List, d.ListLength = paddedList, listLength
	d.Bulk = nil
	return d
}

// reloads have a row of no NAS: it is what transactions lock to take turns.
var reloads = []string{
	`CREATE TABLE IF NOT EXISTS radpool_reload (
  nasipaddress VARCHAR(45) CHARACTER SET ascii NOT NULL,
  reloadtime   BIGINT NOT NULL,
  PRIMARY KEY (nasipaddress, reloadtime)
) ENGINE = InnoDB`,
	`INSERT IGNORE INTO radpool_reload (nasipaddress, reloadtime) VALUES ('', 0)`,
}

const (
	batch       = 256 // users of one statement
	writers     = 2
	nearReaders = 2
	farReaders  = 8
	near        = time.Millisecond // a round trip to a database that is near takes less
	spareAfter  = 10 * time.Millisecond
	lockWait    = "2" // seconds
)

// open connects, and finds out what the server is able to do.
func open(ctx context.Context, target string, o dialect.Options) (*dialect.DB, error) {
	cfg, err := mysql.ParseDSN(target)
	if err != nil {
		return nil, fmt.Errorf("MySQL: %w; as in mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE", err)
	}
	label := "MySQL database " + cfg.DBName + " at " + cfg.Addr
	if cfg.DBName == "" {
		return nil, fmt.Errorf("%s: the name of the database is missing, as in mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE", label)
	}
	cfg.InterpolateParams, cfg.MultiStatements = false, false
	cfg.Logger = &mysql.NopLogger{} // errors are returned as well
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	plain, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label, err)
	}
	several := cfg.Clone()
	several.MultiStatements = true
	multi, err := mysql.NewConnector(several)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label, err)
	}
	c := &connector{Connector: plain, multi: multi}
	db := &dialect.DB{Label: label, Server: true, Batch: batch, Writers: o.Writers, Readers: o.Readers, Source: c}
	if db.Writers == 0 {
		db.Writers = writers
	}
	db.Write = sqlx.NewDb(sql.OpenDB(c), "mysql")
	db.Read = db.Write
	db.Write.SetMaxOpenConns(db.Writers + 2) // radpostauth, and one for what is rare
	db.Write.SetMaxIdleConns(db.Writers + 2)
	if err := c.explore(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", label, err), db.Write.Close())
	}
	return db, nil
}

// jsonProbe has what statements use of JSON_TABLE. That a column of it has a collation
// stands in no manual.
const jsonProbe = `SELECT COUNT(*) FROM JSON_TABLE('["a"]', '$[*]' COLUMNS (i FOR ORDINALITY,
  u VARCHAR(253) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$')) q`

// explore asks the server what it is, and how far away.
func (c *connector) explore(ctx context.Context, db *dialect.DB) error {
	var server struct {
		Log    int    `db:"log"`
		Format string `db:"format"`
	}
	err := db.Write.GetContext(ctx, &server, "SELECT @@log_bin AS log, @@binlog_format AS format")
	if e, ok := errors.AsType[*mysql.MySQLError](err); err != nil && (!ok || e.Number != 1193) { // 1193: no such variable
		return err
	}
	if server.Log != 0 && server.Format == "STATEMENT" {
		c.repeatable.Store(true)
		db.Write.SetMaxIdleConns(0) // closes those that are READ COMMITTED
		db.Write.SetMaxIdleConns(db.Writers + 2)
	}
	var n int
	if err := db.Write.GetContext(ctx, &n, jsonProbe); err != nil {
		if e, ok := errors.AsType[*mysql.MySQLError](err); !ok || e.Number != 1064 && e.Number != 1146 && e.Number != 1305 {
			return err
		}
		db.Dialect = Old()
	}
	if db.Readers > 0 {
		return nil
	}
	trip := time.Duration(1<<63 - 1)
	for range 3 {
		start := time.Now()
		if err := db.Write.PingContext(ctx); err != nil {
			return err
		}
		trip = min(trip, time.Since(start))
	}
	if db.Readers = farReaders; trip < near {
		db.Readers, db.SpareAfter = nearReaders, spareAfter
	}
	return nil
}
