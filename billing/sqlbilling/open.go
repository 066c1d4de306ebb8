package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
	"github.com/radpool/radpool/internal/dict"
)

// A Backend is a billing system on an SQL database. It is used by several
// goroutines at once.
type Backend struct {
	db   *dialect.DB
	d    *dialect.Dialect
	opts Options
	dict *dict.Dictionary

	current   atomic.Pointer[found]
	reading   chan struct{} // held by who reads the tables again
	fruitless time.Time     // when that has last shown nothing; guarded by reading

	unwatch  context.CancelFunc // ends watch
	watching sync.WaitGroup     // watch

	lookups *lookups
	writer  *group.Writer[acct.Record]
	leases  *group.Writer[dialect.Ask]
	pools   pools
	post    *group.Background[postAuthRow] // nil: radpostauth is not to be written
	stats   counters

	closeOnce func() error
}

var (
	_ billing.BatchHandler = (*Backend)(nil)
	_ billing.PostAuther   = (*Backend)(nil)

	_ billing.AddressPooler = (*Backend)(nil)
)

// Open opens the database that dsn names, and creates the schema where there is
// none:
//
//	sqlite:FILE
//	mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE    what github.com/go-sql-driver/mysql takes
//	postgres://USER:PASSWORD@HOST:PORT/DATABASE    what github.com/jackc/pgx takes
//
// The package of the database must be imported. ctx bounds
// the opening alone. While another process has the database locked Open waits, up
// to Options.WriteTimeout.
//
// The error names the database and what is wrong with it, or the field of opts.
func Open(ctx context.Context, dsn string, opts Options) (*Backend, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	words, err := group.Dictionary("sqlbilling", opts.Dictionary, opts.DictionaryFile, opts.Logger)
	if err != nil {
		return nil, err
	}
	var b *Backend
	err = group.Open(ctx, "sqlbilling", dsn, opts.WriteTimeout,
		dialect.Options{Readers: opts.Readers, Writers: opts.Writers, MustExist: opts.MustExist},
		func(db *dialect.DB, d *dialect.Dialect) error {
			b = &Backend{db: db, d: d, opts: opts, dict: words, reading: make(chan struct{}, 1)}
			return b.start(ctx)
		})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// start reads the layout, prepares the statements and starts the goroutines.
func (b *Backend) start(ctx context.Context) error {
	tables, err := b.tables(ctx)
	if err != nil {
		return err
	}
	f, err := b.equip(ctx, tables)
	if err != nil {
		return err
	}
	b.current.Store(f)
	for _, name := range f.l.missing {
		b.opts.Logger.Warn("the database lacks something optional; it is not written",
			zap.String("database", b.db.Label), zap.String("missing", name))
	}
	if err := b.checkIndexes(ctx); err != nil {
		return errors.Join(err, b.release(nil))
	}
	b.lookups = &lookups{running: b.db.Readers, most: b.db.Batch, spareAfter: b.db.SpareAfter, ask: b.ask}
	var stores []*store
	for range b.db.Writers {
		st, err := newStore(ctx, b)
		if err != nil {
			return errors.Join(err, b.release(stores))
		}
		stores = append(stores, st)
	}
	b.startWriters(stores)
	if b.opts.PostAuthBuffer > 0 {
		b.post = newPostAuth(b)
	}
	ctx, b.unwatch = context.WithCancel(context.WithoutCancel(ctx))
	b.watching.Go(func() { b.watch(ctx) })
	b.closeOnce = sync.OnceValue(func() error { return b.shut(stores) })
	return nil
}

// startWriters starts the goroutines that write.
func (b *Backend) startWriters(stores []*store) {
	writes := make([]group.Write[acct.Record], len(stores))
	for i, st := range stores {
		writes[i] = st.write
	}
	config := group.Config{
		DB: b.db, Dialect: b.d, MaxGroup: b.opts.MaxGroup, MaxPending: b.opts.MaxPending, Timeout: b.opts.WriteTimeout,
		What: "accounting records", Package: "sqlbilling", Overloaded: ErrOverloaded, Closed: ErrClosed, Log: b.opts.Logger,
	}
	b.writer = group.Start(config, acct.Key, writes)
	config.What, config.MaxGroup = "leases of addresses", dialect.MaxAsks
	b.leases = group.Start(config, nil, []group.Write[dialect.Ask]{b.writeLeases})
}

// ensure creates a table where it is missing, and reports whether it is there.
func (b *Backend) ensure(ctx context.Context, l *layout, table string, statements []string, without string) (bool, error) {
	if l.tables[table] != nil {
		return true, nil
	}
	for _, statement := range statements {
		_, err := b.db.Write.ExecContext(ctx, statement)
		switch {
		case err == nil:
		case b.d.Classify(err) == dialect.Busy || ctx.Err() != nil:
			return false, err
		default:
			b.opts.Logger.Warn("cannot create "+table+"; "+without, zap.Error(err))
			return false, nil
		}
	}
	var err error
	l.tables, err = b.d.Tables(ctx, b.db)
	return l.tables[table] != nil, err
}

// checkIndexes logs which indexes an existing database lacks: without them all
// works, and slower with every session that is stored. Where acctuniqueid may be
// there twice, one transaction after the other must look what is there already.
func (b *Backend) checkIndexes(ctx context.Context) error {
	missing, err := b.missingIndexes(ctx, acctIndexes)
	for _, i := range missing {
		if i.unique {
			b.db.Writers = 1
		}
		b.opts.Logger.Warn("radacct lacks an index", zap.String("database", b.db.Label), zap.String("index", i.words()))
	}
	if err != nil {
		return err
	}
	return b.checkPoolIndexes(ctx)
}

// tables reads what tables there are, and creates all of them if there are none.
func (b *Backend) tables(ctx context.Context) (dialect.Tables, error) {
	tables, err := b.d.Tables(ctx, b.db)
	if err != nil || len(tables) > 0 || b.opts.MustExist {
		return tables, err
	}
	if err := b.d.Create(ctx, b.db); err != nil {
		return nil, fmt.Errorf("creating the schema: %w", err)
	}
	return b.d.Tables(ctx, b.db)
}

// ErrOverloaded is returned by Account when MaxPending records wait already, and by
// LeaseAddresses when as many requests do.
var ErrOverloaded = errors.New("sqlbilling: too many accounting records or leases wait to be written")

// ErrClosed is returned by the methods of a Backend that was closed.
var ErrClosed = errors.New("sqlbilling: closed")

// Ping asks the database for a sign of life, for health checks: the error names the
// database. It takes a connection of those that read, and waits for one if all are in use.
func (b *Backend) Ping(ctx context.Context) error { return b.db.Ping(ctx, "sqlbilling") }

// Close writes what was taken, accounting and radpostauth, and closes the
// database. Calls that come later fail with ErrClosed. To call it again is
// harmless and returns the same.
func (b *Backend) Close() error { return b.closeOnce() }

func (b *Backend) shut(stores []*store) error {
	b.unwatch()
	b.watching.Wait()
	if b.post != nil {
		b.post.Close()
	}
	b.writer.Close()
	b.leases.Close()
	b.lookups.close()
	return errors.Join(b.release(stores), b.db.Close())
}

// release closes what was prepared.
func (b *Backend) release(stores []*store) error {
	errs := []error{b.now().close()}
	for _, st := range stores {
		errs = append(errs, st.close())
	}
	return errors.Join(errs...)
}
