package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// A found is what a database has of the schema, and what answers Access-Requests on
// that. It does not change: when the tables do there is another one.
type found struct {
	l       layout
	history bool // radpool_reload is there
	lookup  dialect.Lookup
	post    *postAuthSQL   // nil: radpostauth is not written
	leaser  dialect.Leaser // nil: there is no usable radippool
	poolErr error          // what is wrong with it; nil: there is none
}

// equip prepares what works on a database with these tables.
func (b *Backend) equip(ctx context.Context, tables dialect.Tables) (*found, error) {
	f := new(found)
	var err error
	if f.l, err = inspect(tables); err != nil {
		return nil, err
	}
	if f.history, err = b.ensure(ctx, &f.l, "radpool_reload", b.d.Reloads, "nasreload has to do"); err != nil {
		return nil, err
	}
	if f.lookup, err = b.d.Prepare(ctx, b.db, f.l.tables, dialect.Question{
		Profile: b.opts.DefaultProfile, Restricted: b.opts.RestrictedGroup, Names: dialect.Comparison(b.opts.Names),
		Timeout: b.opts.QueryTimeout,
	}); err != nil {
		return nil, err
	}
	if f.l.postAuth && b.opts.PostAuthBuffer > 0 {
		f.post = newPostAuthSQL(b.db, b.d, &f.l)
	}
	if err := b.equipPools(ctx, f); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// close closes what was prepared.
func (f *found) close() error {
	err := f.lookup.Close()
	if f.leaser != nil {
		err = errors.Join(err, f.leaser.Close())
	}
	return err
}

// now is what was found in the database last.
func (b *Backend) now() *found { return b.current.Load() }

// fruitless is how long the tables are not read again after that has shown nothing:
// then it is something else that is wrong with a statement, and stays wrong.
const fruitless = time.Second

// renew is for a statement that failed on f. It returns what to try it on again, or
// false where that is of no use. err may be a sign that the tables have changed: then
// they are read again, and who asks at the same time waits for that.
func (b *Backend) renew(ctx context.Context, f *found, err error) (*found, bool) {
	if now := b.now(); now != f {
		return now, true
	}
	if b.d.Classify(err) != dialect.Changed && !errors.Is(err, errPool) {
		return f, false
	}
	select {
	case b.reading <- struct{}{}:
		defer func() { <-b.reading }()
	case <-ctx.Done():
		return f, false
	}
	if now := b.now(); now != f {
		return now, true
	}
	if time.Since(b.fruitless) < fruitless {
		return f, false
	}
	// Whoever asked may go away meanwhile: the next one wants to know as well.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.opts.WriteTimeout)
	defer cancel()
	next, readErr := b.reread(ctx, f, err)
	if readErr != nil {
		b.opts.Logger.Error("a table has changed, and cannot be used as it is", zap.String("database", b.db.Label),
			zap.NamedError("statement", err), zap.Error(readErr))
	}
	if next == f {
		b.fruitless = time.Now()
	}
	return next, readErr == nil // what was missing for a moment may be there again
}

// onTables has do work on the tables as they were found, and again, on what they are by
// then, where it fails since they have changed.
func (b *Backend) onTables(ctx context.Context, do func(*found) error) (err error) {
	f := b.now()
	for range group.Attempts {
		if err = do(f); err == nil {
			return nil
		}
		var again bool
		if f, again = b.renew(ctx, f, err); !again {
			break
		}
	}
	return err
}

// reread reads the tables again, and uses them as they are from now on; err is what
// made it necessary, or nil. It returns f where they are as they were, or cannot be
// used. The caller holds b.reading.
func (b *Backend) reread(ctx context.Context, f *found, err error) (*found, error) {
	tables, e := b.d.Tables(ctx, b.db)
	if e != nil {
		return f, e
	}
	changes := changed(f.l.tables, tables)
	if len(changes) == 0 {
		return f, nil
	}
	next, e := b.equip(ctx, tables)
	if e != nil {
		return f, e
	}
	b.current.Store(next)
	b.opts.Logger.Warn("tables have changed, and were read again", zap.String("database", b.db.Label),
		zap.Strings("changes", changes), zap.NamedError("statement", err))
	// Nobody waits for what it has in hand: that fails, and is tried again.
	_ = f.close()
	return next, nil
}

// lookAgain is how often the tables are read without need: a column that is new is
// no reason for a statement to fail.
const lookAgain = time.Minute

// watch looks at the tables from time to time, until ctx ends.
func (b *Backend) watch(ctx context.Context) {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			b.look(ctx)
		}
	}
}

// look reads the tables again. What goes wrong with that is no news: statements fail
// as well then.
func (b *Backend) look(ctx context.Context) {
	select {
	case b.reading <- struct{}{}:
		defer func() { <-b.reading }()
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.WriteTimeout)
	defer cancel()
	if _, err := b.reread(ctx, b.now(), nil); err != nil && !errors.Is(err, context.Canceled) {
		b.opts.Logger.Debug("the tables were not read again", zap.String("database", b.db.Label), zap.Error(err))
	}
}

// mostChanges bounds how many changes one line in the log names.
const mostChanges = 20

// changed names the columns that differ, of the tables that matter here.
func changed(old, now dialect.Tables) (list []string) {
	for _, table := range tablesUsed {
		for _, c := range old[table] {
			switch is, there := now.Column(table, c.Name); {
			case !there:
				list = append(list, table+"."+c.Name+" is gone")
			case is != c:
				list = append(list, table+"."+c.Name+" is another")
			}
		}
		for _, c := range now[table] {
			if _, there := old.Column(table, c.Name); !there {
				list = append(list, table+"."+c.Name+" is new")
			}
		}
	}
	slices.Sort(list)
	if more := len(list) - mostChanges; more > 0 {
		list = append(list[:mostChanges], fmt.Sprintf("and %d more", more))
	}
	return list
}
