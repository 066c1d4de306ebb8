package group

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// An Item is one record on its way to the database, and what became of it.
type Item[T any] struct {
	Value T
	Err   error

	job *job // that it came with
}

// A Write writes items in one transaction, all of them or none: nil means durable.
// It returns how many rows were written. One Write is called by one goroutine.
type Write[T any] func(ctx context.Context, items []*Item[T]) (rows int, err error)

// A Config is what a Writer needs. All of it must be set.
type Config struct {
	DB      *dialect.DB
	Dialect *dialect.Dialect

	MaxGroup   int           // items of one transaction
	MaxPending int           // items that wait
	Timeout    time.Duration // of one transaction, attempts after a lock included

	What               string // the items, in the plural, in the log
	Package            string // begins errors
	Overloaded, Closed error  // what Submit returns when MaxPending items wait, and after Close
	Log                *zap.Logger
}

// Counts are counters since Start.
type Counts struct {
	Records    uint64 // items that are durable
	Groups     uint64 // transactions that were committed
	Rows       uint64 // rows that were written
	Retries    uint64 // transactions that were tried again, since the database was busy
	Failed     uint64 // items that were not written
	Overloaded uint64 // items that were refused, since MaxPending were waiting
	Abandoned  uint64 // items whose callers had gone before they were written
	Pending    int    // items that wait now
}

// A job is one call of Submit. Its items are the writer's until done is closed, and the
// caller's after that.
type job struct {
	ctx  context.Context
	left int // items that are not written yet; guarded by Writer.mu
	done chan struct{}
}

// A Writer commits items in groups. Whoever calls waits in a queue; a
// goroutine takes everything that waits, up to a bound, writes it in one
// transaction, and answers all of it at once. It never waits for company: an
// item that comes alone is written alone, and while a commit lasts the next
// group gathers by itself. Where the database has use for it there are several
// such goroutines.
type Writer[T any] struct {
	Config
	key   func(*T) string
	quiet EverySecond // of Log; guarded by mu

	records, groups, rows, retries, failed, overloaded, abandoned atomic.Uint64

	mu      sync.Mutex
	pending []*Item[T]            // guarded by mu
	writing map[string]*scribe[T] // who writes items of a key; guarded by mu
	closed  bool                  // guarded by mu

	wake chan struct{}  // one token: pending or closed changed
	all  sync.WaitGroup // of the scribes
}

// A scribe is one of the goroutines that write.
type scribe[T any] struct {
	*Writer[T]
	write  Write[T]
	locked bool // the last group failed since the database was busy
}

// Start starts a goroutine for each of writes. key, which may be nil, names what an item
// writes to. Two transactions that are running never have items of the same key: the
// second would wait for the first one's rows, to find in the end that it has to begin
// again.
func Start[T any](c Config, key func(*T) string, writes []Write[T]) *Writer[T] {
	if len(writes) == 1 {
		key = nil // there is no other transaction
	}
	w := &Writer[T]{Config: c, key: key, writing: make(map[string]*scribe[T]), wake: make(chan struct{}, 1)}
	for _, f := range writes {
		s := &scribe[T]{Writer: w, write: f}
		w.all.Go(s.run)
	}
	return w
}

// Submit queues items and waits until they are written or ctx is done. It returns
// an error when they were not taken, or when it did not wait: then they are still
// the Writer's. Each item has its own error otherwise.
func (w *Writer[T]) Submit(ctx context.Context, items []Item[T]) error {
	if err := ctx.Err(); err != nil || len(items) == 0 {
		return err
	}
	j := &job{ctx: ctx, left: len(items), done: make(chan struct{})}
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return w.Closed
	case len(w.pending) > 0 && len(w.pending)+len(items) > w.MaxPending:
		w.mu.Unlock()
		w.overloaded.Add(uint64(len(items)))
		return w.Overloaded
	}
	for i := range items {
		items[i].job = j
		w.pending = append(w.pending, &items[i])
	}
	w.mu.Unlock()
	w.signal()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		// The writer may be at it; whether the items become durable is not
		// known then, which is what an error says.
		return ctx.Err()
	}
}

// SubmitEach submits what read makes of each of the records that errs has room for,
// and puts into errs what became of it. What read does not want (ok is false) is left
// out; its error is nil, or read's.
func (w *Writer[T]) SubmitEach(ctx context.Context, errs []error, read func(i int) (v T, ok bool, err error)) {
	items := make([]Item[T], 0, len(errs))
	place := make([]int, 0, len(errs))
	for i := range errs {
		var v T
		var ok bool
		if v, ok, errs[i] = read(i); ok {
			items = append(items, Item[T]{Value: v})
			place = append(place, i)
		}
	}
	if len(items) == 0 {
		return
	}
	if err := w.Submit(ctx, items); err != nil {
		for _, i := range place {
			errs[i] = err
		}
		return // the items may still be the writer's
	}
	for k, i := range place {
		errs[i] = items[k].Err
	}
}

func (w *Writer[T]) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until Close was called and nothing is pending.
func (w *scribe[T]) run() {
	for {
		group, closed := w.take()
		if len(group) > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), w.Timeout)
			w.writeItems(ctx, group)
			cancel()
			w.answer(group)
			continue
		}
		if closed {
			w.signal() // the next one ends as well
			return
		}
		<-w.wake
	}
}

// Close makes Submit fail, writes what waits, and waits for the goroutines to
// return. After it no Write is called.
func (w *Writer[T]) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	w.all.Wait()
}

// Counts returns the counters. Each is exact, though not all are of one moment.
func (w *Writer[T]) Counts() Counts {
	w.mu.Lock()
	pending := len(w.pending)
	w.mu.Unlock()
	return Counts{
		Records: w.records.Load(), Groups: w.groups.Load(), Rows: w.rows.Load(), Retries: w.retries.Load(),
		Failed: w.failed.Load(), Overloaded: w.overloaded.Load(), Abandoned: w.abandoned.Load(), Pending: pending,
	}
}

// take removes a group from the queue: what came first, up to MaxGroup items, but for
// those of a key that another goroutine is writing. Items whose callers have gone are
// dropped.
func (w *scribe[T]) take() (group []*Item[T], closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.pending[:0]
	for i, it := range w.pending {
		if len(group) == w.MaxGroup {
			rest = append(rest, w.pending[i:]...)
			w.signal() // it is for the next goroutine
			break
		}
		if it.job.ctx.Err() != nil {
			w.abandoned.Add(1)
			continue
		}
		if w.key != nil {
			key := w.key(&it.Value)
			if by := w.writing[key]; by != nil && by != w {
				rest = append(rest, it) // it is for that one, who takes a group next
				continue
			}
			w.writing[key] = w
		}
		group = append(group, it)
	}
	clear(w.pending[len(rest):])
	w.pending = rest
	return group, w.closed && len(rest) == 0
}

// answer answers the jobs all of whose items are written.
func (w *scribe[T]) answer(group []*Item[T]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, it := range group {
		if w.key != nil {
			delete(w.writing, w.key(&it.Value))
		}
		if it.job.left--; it.job.left == 0 {
			close(it.job.done)
		}
	}
}

// writeItems writes items in one transaction. When one row is refused it cuts the
// items in halves until the refused one is alone, so that one bad record fails
// alone.
func (w *scribe[T]) writeItems(ctx context.Context, items []*Item[T]) {
	rows, err := w.retry(ctx, items)
	if err == nil {
		w.groups.Add(1)
		w.records.Add(uint64(len(items)))
		w.rows.Add(uint64(rows))
		return
	}
	class := w.Dialect.Classify(err)
	refused := class == dialect.BadRow || class == dialect.Conflict || errors.Is(err, dialect.ErrUnreadable) // one of items is
	if refused && len(items) > 1 {
		half := len(items) / 2
		w.writeItems(ctx, items[:half])
		w.writeItems(ctx, items[half:])
		return
	}
	w.failed.Add(uint64(len(items)))
	if w.speaks(time.Now()) {
		w.Log.Error(w.What+" not written", zap.Int("records", len(items)),
			zap.Uint64("since the start", w.failed.Load()), zap.Error(err))
	}
	err = fmt.Errorf("%s: %s: %w", w.Package, w.DB.Label, err)
	if refused {
		err = Refused(err)
	}
	for _, it := range items {
		it.Err = err
	}
}

// retry writes, and tries again while the database is busy and ctx lasts.
//
// A database that was locked for the whole of one Timeout gets one attempt a
// group from then on, until one succeeds. To wait for it each time would keep
// every worker here, and none would be left for Access-Requests, which SQLite
// answers beside the lock; and the NASes send again whatever is not answered.
func (w *scribe[T]) retry(ctx context.Context, items []*Item[T]) (rows int, err error) {
	patience, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.locked {
		cancel()
	}
	err = Patiently(patience, w.Dialect, func() { w.retries.Add(1) }, func() error {
		return Again(w.Dialect, func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, err = w.write(w.DB.Context(ctx), items)
			w.DB.Tell(err) // the next attempt may have better connections
			return err
		}, dialect.Lost, dialect.Conflict)
	})
	w.locked = err != nil && w.Dialect.Classify(err) == dialect.Busy
	return rows, err
}

// speaks reports whether a line may go into the log.
func (w *Writer[T]) speaks(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.quiet.Allows(now)
}
