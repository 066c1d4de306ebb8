package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// ErrOverloaded is returned by Account when MaxPending records wait already.
var ErrOverloaded = errors.New("sqlbilling: too many accounting records wait to be written")

// ErrClosed is returned by the methods of a Backend that was closed.
var ErrClosed = errors.New("sqlbilling: closed")

// An item is one record on its way to the database, as the session that it tells
// of or the reload.
type item struct {
	session session
	reload  reload // if nas is set
	err     error
}

// A job is what one call of Account or AccountBatch has to write. Its items are
// the writer's until done is closed, and the caller's after that.
type job struct {
	ctx   context.Context
	items []item
	done  chan struct{}
}

// A writer commits records in groups. Whoever calls waits in a queue; a
// goroutine takes everything that waits, up to a bound, writes it in one
// transaction, and answers all of it at once. It never waits for company: a
// record that comes alone is written alone, and while a commit lasts the next
// group gathers by itself. Where the database has use for it there are several
// such goroutines.
type writer struct {
	scribes    []*scribe
	maxGroup   int
	maxPending int
	timeout    time.Duration
	log        *zap.Logger
	stats      *counters
	quiet      everySecond // of log; guarded by mu

	mu      sync.Mutex
	pending []*job // guarded by mu
	waiting int    // items in pending; guarded by mu
	closed  bool   // guarded by mu

	wake chan struct{}  // one token: pending or closed changed
	all  sync.WaitGroup // of the scribes
}

// A scribe is one of the goroutines that write.
type scribe struct {
	*writer
	store  *store
	locked bool // the last group failed since the database was busy
}

// start starts a goroutine for each of stores.
func (w *writer) start(stores []*store) {
	for _, st := range stores {
		s := &scribe{writer: w, store: st}
		w.scribes = append(w.scribes, s)
		w.all.Go(s.run)
	}
}

// submit queues items and waits until they are written or ctx is done. It returns
// an error when they were not taken; each item has its own otherwise.
func (w *writer) submit(ctx context.Context, items []item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{ctx: ctx, items: items, done: make(chan struct{})}
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return ErrClosed
	case w.waiting > 0 && w.waiting+len(items) > w.maxPending:
		w.mu.Unlock()
		w.stats.overloaded.Add(uint64(len(items)))
		return ErrOverloaded
	}
	w.pending = append(w.pending, j)
	w.waiting += len(items)
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

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until close was called and nothing is pending.
func (w *scribe) run() {
	for {
		group, closed := w.take()
		if len(group) > 0 {
			w.writeGroup(group)
			continue
		}
		if closed {
			w.signal() // the next one ends as well
			return
		}
		<-w.wake
	}
}

// close makes submit fail, writes what waits, and waits for run to return.
// After it no store is in use.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	w.all.Wait()
}

// take removes a group from the queue: whole jobs, up to maxGroup items, one job
// at least. Jobs whose callers have gone are dropped.
func (w *writer) take() (group []*job, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, taken := 0, 0
	for _, j := range w.pending {
		if taken > 0 && n+len(j.items) > w.maxGroup {
			break
		}
		taken++
		w.waiting -= len(j.items)
		if j.ctx.Err() != nil {
			w.stats.abandoned.Add(uint64(len(j.items)))
			continue
		}
		n += len(j.items)
		group = append(group, j)
	}
	rest := copy(w.pending, w.pending[taken:])
	clear(w.pending[rest:])
	w.pending = w.pending[:rest]
	// What is left is for the next goroutine; and a group of jobs that were all
	// dropped must not look like an empty queue.
	if rest > 0 {
		w.signal()
	}
	return group, w.closed && rest == 0
}

// writeGroup writes the items of a group and answers its jobs.
func (w *scribe) writeGroup(group []*job) {
	var items []*item
	for _, j := range group {
		for i := range j.items {
			items = append(items, &j.items[i])
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.timeout)
	w.writeItems(ctx, items)
	cancel()
	for _, j := range group {
		close(j.done)
	}
}

// writeItems writes items in one transaction. When one row is refused it cuts the
// items in halves until the refused one is alone, so that one bad record fails
// alone.
func (w *scribe) writeItems(ctx context.Context, items []*item) {
	sessions, reloads := coalesce(items)
	rows, err := w.retry(ctx, sessions, reloads)
	if err == nil {
		w.stats.groups.Add(1)
		w.stats.records.Add(uint64(len(items)))
		w.stats.rows.Add(uint64(rows))
		return
	}
	class := w.store.d.Classify(err)
	refused := class == dialect.BadRow || class == dialect.Conflict // one of items is
	if refused && len(items) > 1 {
		half := len(items) / 2
		w.writeItems(ctx, items[:half])
		w.writeItems(ctx, items[half:])
		return
	}
	w.store.db.Tell(err)
	w.stats.failed.Add(uint64(len(items)))
	if w.speaks(time.Now()) {
		w.log.Error("accounting records not written", zap.Int("records", len(items)),
			zap.Uint64("since the start", w.stats.failed.Load()), zap.Error(err))
	}
	err = fmt.Errorf("sqlbilling: %s: %w", w.store.db.Label, err)
	if refused {
		err = &recordError{err}
	}
	for _, it := range items {
		it.err = err
	}
}

// retry writes, and tries again while the database is busy and ctx lasts.
//
// A database that was locked for the whole of one WriteTimeout gets one attempt a
// group from then on, until one succeeds. To wait for it each time would keep
// every worker here, and none would be left for Access-Requests, which SQLite
// answers beside the lock; and the NASes send again whatever is not answered.
func (w *scribe) retry(ctx context.Context, sessions []session, reloads []reload) (rows int, err error) {
	patience, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.locked {
		cancel()
	}
	err = patiently(patience, w.store.d, func() { w.stats.retries.Add(1) }, func() (err error) {
		rows, err = w.store.write(ctx, sessions, reloads)
		return err
	})
	w.locked = err != nil && w.store.d.Classify(err) == dialect.Busy
	return rows, err
}

// speaks reports whether a line may go into the log.
func (w *writer) speaks(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.quiet.allows(now)
}

// coalesce merges what items say of one session, and sorts.
func coalesce(items []*item) ([]session, []reload) {
	var reloads []reload
	sessions := make([]session, 0, len(items))
	at := make(map[string]int, len(items))
	for _, it := range items {
		if it.reload.nas != "" {
			reloads = append(reloads, it.reload)
			continue
		}
		if i, there := at[it.session.uniqueID]; there {
			sessions[i].merge(&it.session)
			continue
		}
		at[it.session.uniqueID] = len(sessions)
		sessions = append(sessions, it.session)
	}
	sortSessions(sessions)
	return sessions, reloads
}
