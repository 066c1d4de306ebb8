package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

//go:embed schema.sql
var schema string

//go:embed pool.sql
var pool string

func init() {
	for _, name := range []string{"postgres", "postgresql"} {
		dialect.Register(&dialect.Dialect{
			Name:    name,
			Open:    open,
			Tables:  tables,
			Create:  create,
			Reloads: []string{reloads},
			Pools:   []string{pool},
			Leases:  prepareLeases,
			Now:     now,
			Prepare: prepare,
			Among: func(table string, c dialect.Column) string {
				return table + " WHERE " + text(c) + " = ANY (?::text[])"
			},
			List:         func(values []string) []any { return []any{values} },
			Seconds:      seconds,
			Moment:       moment,
			Text:         func(c dialect.Column) string { return "COALESCE(" + text(c) + ", '')" },
			Stored:       stored,
			Clean:        func(s string, c dialect.Column) string { return dialect.Plain(s, c.Length) },
			Bulk:         &dialect.Bulk{Source: source, Pack: pack, Update: update},
			Lacks:        lacks,
			Unique:       unique,
			ForUpdate:    " FOR UPDATE",
			ShareReloads: "LOCK TABLE radpool_reload IN ROW SHARE MODE",
			OwnReloads:   "LOCK TABLE radpool_reload IN EXCLUSIVE MODE",
			Classify:     classify,
		})
	}
}

// Whoever creates tables holds this advisory lock: IF NOT EXISTS is no help when
// two do so at once.
const schemaLock = "SELECT pg_advisory_xact_lock(82658467)"

const reloads = `DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(82658467);
  CREATE TABLE IF NOT EXISTS radpool_reload (
    nasipaddress text NOT NULL,
    reloadtime   bigint NOT NULL,
    PRIMARY KEY (nasipaddress, reloadtime)
  );
END $$`

const (
	batch       = 256 // users of one statement
	writers     = 2
	nearReaders = 2
	farReaders  = 8
	near        = time.Millisecond // a round trip to a database that is near takes less
	spareAfter  = 10 * time.Millisecond
)

// settle sets a connection up. Plans are made once, for any number of names or rows,
// and go by index: there is nothing to gain from another plan, and much to lose when
// the first was made while the tables were empty.
func settle(ctx context.Context, c *pgx.Conn) error {
	for _, s := range []string{
		"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_hashjoin = off",
		"SET enable_mergejoin = off", "SET jit = off",
	} {
		if _, err := c.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// open connects, and finds out how far away the server is.
func open(ctx context.Context, target string, o dialect.Options) (*dialect.DB, error) {
	dsn := target
	if len(target) > 1 && target[:2] == "//" {
		dsn = "postgres:" + target
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: %w; as in postgres://USER:PASSWORD@HOST:PORT/DATABASE", withoutDSN(err))
	}
	if strings.IndexByte(cfg.Host, '@') > 0 { // and what is before it may be of the password
		return nil, errors.New("PostgreSQL: there is more than one @ in the DSN: in a password it is written %40")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 5 * time.Second
	}
	label := fmt.Sprintf("PostgreSQL database %s at %s:%d", cfg.Database, cfg.Host, cfg.Port)
	var g generation
	db := &dialect.DB{
		Write: sqlx.NewDb(stdlib.OpenDB(*cfg, g.options()...), "pgx"), Label: label, Server: true, Batch: batch,
		Writers: o.Writers, Readers: o.Readers, Source: cfg, Failed: g.failed,
	}
	db.Read = db.Write
	if db.Writers == 0 {
		db.Writers = writers
	}
	db.Write.SetMaxOpenConns(db.Writers + 2) // radpostauth, and one for what is rare
	db.Write.SetMaxIdleConns(db.Writers + 2)
	if err := db.Write.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", label, startError{err}), db.Write.Close())
	}
	if db.Readers > 0 {
		return db, nil
	}
	trip := time.Duration(1<<63 - 1)
	for range 3 {
		start := time.Now()
		if err := db.Write.PingContext(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", label, startError{err}), db.Write.Close())
		}
		trip = min(trip, time.Since(start))
	}
	if db.Readers = farReaders; trip < near {
		db.Readers, db.SpareAfter = nearReaders, spareAfter
	}
	return db, nil
}
