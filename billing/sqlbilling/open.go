package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A Backend is a billing system on an SQL database. It is used by several
// goroutines at once.
type Backend struct {
	db   *dialect.DB
	d    *dialect.Dialect
	opts Options
	l    layout

	authorize    *sqlx.Stmt
	authorizeOne *sqlx.Stmt    // nil: authorize serves
	readers      chan struct{} // a token for each read that runs; nil: database/sql sees to that
	writer       *writer
	post         *postAuth // nil: radpostauth is not written
	stats        counters

	closeOnce func() error
}

var (
	_ billing.BatchHandler = (*Backend)(nil)
	_ billing.PostAuther   = (*Backend)(nil)
)

// Open opens the database that dsn names, "sqlite:FILE", and creates the schema
// where there is none. The package of the database must be imported. ctx bounds
// the opening alone. While another process has the database locked Open waits, up
// to Options.WriteTimeout.
//
// The error names the database and what is wrong with it, or the field of opts.
func Open(ctx context.Context, dsn string, opts Options) (*Backend, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	scheme, target, ok := strings.Cut(dsn, ":")
	if !ok {
		return nil, errors.New(`sqlbilling: the DSN does not begin with the kind of the database, as in "sqlite:FILE"`)
	}
	d, err := dialect.Lookup(scheme)
	if err != nil {
		return nil, fmt.Errorf("sqlbilling: %w", err)
	}
	patience, cancel := context.WithTimeout(ctx, opts.WriteTimeout)
	defer cancel()
	var b *Backend
	err = patiently(patience, d, nil, func() (err error) {
		b, err = open(ctx, d, target, opts)
		return err
	})
	return b, err
}

// open is one attempt of Open.
func open(ctx context.Context, d *dialect.Dialect, target string, opts Options) (*Backend, error) {
	db, err := d.Open(ctx, target, dialect.Options{Readers: opts.Readers, MustExist: opts.MustExist})
	if err != nil {
		return nil, fmt.Errorf("sqlbilling: %w", err)
	}
	b := &Backend{db: db, d: d, opts: opts}
	if err := b.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlbilling: %s: %w", db.Label, err), db.Close())
	}
	return b, nil
}

// start reads the layout, prepares the statements and starts the goroutines.
func (b *Backend) start(ctx context.Context) error {
	tables, err := b.tables(ctx)
	if err != nil {
		return err
	}
	if b.l, err = inspect(tables); err != nil {
		return err
	}
	for _, name := range b.l.missing {
		b.opts.Logger.Warn("the database lacks something optional; it is not written",
			zap.String("database", b.db.Label), zap.String("missing", name))
	}
	_, history := tables["radpool_reload"]
	if !history {
		_, err := b.db.Write.ExecContext(ctx, b.d.Reloads)
		switch {
		case err == nil:
			history = true
		case b.d.Classify(err) == dialect.Busy:
			return err
		default:
			b.opts.Logger.Warn("cannot create radpool_reload; nasreload has to do", zap.Error(err))
		}
	}
	if err := b.checkIndexes(ctx); err != nil {
		return err
	}
	st, err := newStore(ctx, b.db, b.d, b.l, history)
	if err != nil {
		return err
	}
	if err := b.prepare(ctx); err != nil {
		return errors.Join(err, st.close())
	}
	b.writer = &writer{
		store: st, maxGroup: b.opts.MaxGroup, maxPending: b.opts.MaxPending, timeout: b.opts.WriteTimeout,
		log: b.opts.Logger, stats: &b.stats, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go b.writer.run()
	if b.l.postAuth && b.opts.PostAuthBuffer > 0 {
		b.post = newPostAuth(b)
		go b.post.run()
	}
	b.closeOnce = sync.OnceValue(b.shut)
	return nil
}

// checkIndexes logs which indexes an existing database lacks: without them all
// works, and slower with every session that is stored.
func (b *Backend) checkIndexes(ctx context.Context) error {
	for _, q := range []struct {
		query string
		arg   any
		index string
	}{
		{"SELECT radacctid FROM radacct WHERE " + b.d.In("acctuniqueid"), b.d.List([]string{"x"}), "UNIQUE (acctuniqueid)"},
		{"SELECT COUNT(*) FROM radacct WHERE username = ? AND acctstoptime IS NULL", "x", "(username, acctstoptime)"},
		{"SELECT COUNT(*) FROM radacct WHERE nasipaddress = ? AND acctstoptime IS NULL", "x", "(nasipaddress, acctstoptime)"},
	} {
		scans, err := b.d.Scans(ctx, b.db, b.db.Write.Rebind(q.query), q.arg)
		if err != nil {
			return err
		}
		if scans {
			b.opts.Logger.Warn("radacct lacks an index", zap.String("database", b.db.Label), zap.String("index", q.index))
		}
	}
	return nil
}

// prepare prepares the statements of Access-Requests.
func (b *Backend) prepare(ctx context.Context) (err error) {
	if b.db.Local {
		b.readers = make(chan struct{}, b.db.Readers)
	}
	if b.authorize, err = b.db.Read.PreparexContext(ctx, b.d.Authorize); err != nil {
		return err
	}
	if b.d.AuthorizeOne != "" {
		b.authorizeOne, err = b.db.Read.PreparexContext(ctx, b.d.AuthorizeOne)
	}
	return err
}

// tables reads what tables there are, and creates all of them if there are none.
func (b *Backend) tables(ctx context.Context) (map[string][]string, error) {
	tables, err := b.d.Tables(ctx, b.db)
	if err != nil || len(tables) > 0 || b.opts.MustExist {
		return tables, err
	}
	tx, err := b.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, b.d.Schema); err != nil {
		if e := tx.Rollback(); e != nil {
			return nil, errors.Join(err, e)
		}
		// Another process may have been faster.
		if tables, e := b.d.Tables(ctx, b.db); e == nil && len(tables) > 0 {
			return tables, nil
		}
		return nil, fmt.Errorf("creating the schema: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	return b.d.Tables(ctx, b.db)
}

// Close writes what was taken, accounting and radpostauth, and closes the
// database. Calls that come later fail with ErrClosed. To call it again is
// harmless and returns the same.
func (b *Backend) Close() error { return b.closeOnce() }

func (b *Backend) shut() error {
	if b.post != nil {
		b.post.close()
	}
	b.writer.close()
	errs := []error{b.authorize.Close()}
	if b.authorizeOne != nil {
		errs = append(errs, b.authorizeOne.Close())
	}
	return errors.Join(append(errs, b.writer.store.close(), b.db.Close())...)
}
