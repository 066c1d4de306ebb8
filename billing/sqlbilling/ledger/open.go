package ledger

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
	"github.com/radpool/radpool/internal/dict"
)

// A Backend is a billing system on radpool's own schema. It is used by several
// goroutines at once.
type Backend struct {
	db     *dialect.DB
	d      *dialect.Dialect
	f      flavour
	opts   Options
	dict   *dict.Dictionary
	tables dialect.Tables

	find    *sqlx.Stmt // all about some subscribers
	live    liveStatements
	reading chan struct{} // a place for each statement that runs
	writer  *group.Writer[acct.Record]

	post *group.Background[[]any] // nil: radpool_postauth is not written

	watch     atomic.Pointer[func(userName string)]
	confirmed atomic.Uint64

	authorized, queries, unanswered, ignored, refused atomic.Uint64

	closeOnce func() error
}

var _ billing.BatchHandler = (*Backend)(nil)

// ErrOverloaded is returned by Account when MaxPending records wait already.
var ErrOverloaded = errors.New("ledger: too many accounting records wait to be written")

// ErrClosed is returned by the methods of a Backend that was closed.
var ErrClosed = errors.New("ledger: closed")

// Open opens the database that dsn names, as sqlbilling.Open does, and creates the
// schema where there is none, beside whatever else is in the database. The package
// of the database must be imported. ctx bounds the opening alone.
//
// The error names the database and what is wrong with it, or the field of opts.
func Open(ctx context.Context, dsn string, opts Options) (*Backend, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	words, err := group.Dictionary("ledger", opts.Dictionary, opts.DictionaryFile, opts.Logger)
	if err != nil {
		return nil, err
	}
	var b *Backend
	err = group.Open(ctx, "ledger", dsn, opts.WriteTimeout,
		dialect.Options{Readers: opts.Readers, Writers: opts.Writers, MustExist: opts.MustExist},
		func(db *dialect.DB, d *dialect.Dialect) error {
			b = &Backend{db: db, d: d, opts: opts, dict: words}
			return b.start(ctx)
		})
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Backend) start(ctx context.Context) (err error) {
	if b.f, err = flavourOf(b.d); err != nil {
		return err
	}
	if b.db.Read == b.db.Write && b.db.Source != nil { // a server: readers have no connections of their own
		n := b.db.Writers + b.db.Readers + 1
		b.db.Write.SetMaxOpenConns(n)
		b.db.Write.SetMaxIdleConns(n)
	}
	if err := b.migrate(ctx); err != nil {
		return err
	}
	if b.tables, err = b.d.Tables(ctx, b.db); err != nil {
		return err
	}
	if b.find, err = b.db.Read.PreparexContext(ctx, b.db.Read.Rebind(b.findSQL())); err != nil {
		return err
	}
	b.reading = make(chan struct{}, b.db.Readers)
	var stores []*store
	release := func() error {
		errs := []error{b.find.Close(), b.live.close()}
		for _, s := range stores {
			errs = append(errs, s.close())
		}
		return errors.Join(errs...)
	}
	if err := b.prepareLive(ctx); err != nil {
		return errors.Join(err, release())
	}
	var writes []group.Write[acct.Record]
	for range b.db.Writers {
		s, err := newStore(ctx, b)
		if err != nil {
			return errors.Join(err, release())
		}
		stores, writes = append(stores, s), append(writes, s.write)
	}
	b.writer = group.Start(group.Config{
		DB: b.db, Dialect: b.d, MaxGroup: b.opts.MaxGroup, MaxPending: b.opts.MaxPending, Timeout: b.opts.WriteTimeout,
		What: "accounting records", Package: "ledger", Overloaded: ErrOverloaded, Closed: ErrClosed, Log: b.opts.Logger,
	}, acct.Key, writes)
	if b.opts.PostAuthBuffer > 0 {
		b.startPostAuth()
	}
	b.closeOnce = sync.OnceValue(func() error {
		if b.post != nil {
			b.post.Close()
		}
		b.writer.Close()
		return errors.Join(release(), b.db.Close())
	})
	return nil
}

// column is a column of the schema as the database describes it.
func (b *Backend) column(table, name string) dialect.Column {
	c, _ := b.tables.Column(table, name)
	return c
}

// among is what follows FROM to get the rows of a table whose column has one of the
// values of a list.
func (b *Backend) among(table, column string) string {
	return b.d.Among(table, b.column(table, column))
}

// Ping asks the database for a sign of life, for health checks: the error names the
// database. It takes a connection of those that read, and waits for one if all are in use.
func (b *Backend) Ping(ctx context.Context) error { return b.db.Ping(ctx, "ledger") }

// Close writes the accounting that was taken, and closes the database. Calls that
// come later fail. To call it again is harmless and returns the same.
func (b *Backend) Close() error { return b.closeOnce() }

// Stats are counters since Open.
type Stats struct {
	Authorized uint64 // Access-Requests answered with a Grant
	Queries    uint64 // statements that this took
	Unanswered uint64 // Access-Requests that ended in an error

	Records    uint64 // accounting records that are durable
	Groups     uint64 // transactions that were committed
	Rows       uint64 // sessions that were inserted or changed
	Retries    uint64 // transactions that were tried again, since the database was busy
	Failed     uint64 // records that were not written
	Overloaded uint64 // records that were refused, since MaxPending were waiting
	Ignored    uint64 // records of a status that has no place in the schema
	Abandoned  uint64 // records whose callers had gone before they were written
	Pending    int    // records that wait now

	// Rows of radpool_postauth.
	PostAuthWritten uint64
	PostAuthDropped uint64 // the buffer was full
	PostAuthFailed  uint64 // taken, but not written

	// With Options.Control: sessions that ended after their NAS had confirmed that it
	// ends them.
	Confirmed uint64
}

// Stats returns the counters. Each is exact, though not all are of one moment.
func (b *Backend) Stats() Stats {
	w := b.writer.Counts()
	written, dropped, failed := b.post.Counts()
	return Stats{
		Authorized: b.authorized.Load(), Queries: b.queries.Load(), Unanswered: b.unanswered.Load(),
		Records: w.Records, Groups: w.Groups, Rows: w.Rows, Retries: w.Retries, Failed: b.refused.Load() + w.Failed,
		Overloaded: w.Overloaded, Ignored: b.ignored.Load(), Abandoned: w.Abandoned, Pending: w.Pending,
		Confirmed: b.confirmed.Load(), PostAuthWritten: written, PostAuthDropped: dropped, PostAuthFailed: failed,
	}
}
