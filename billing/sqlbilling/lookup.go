package sqlbilling

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A question is what one call asks about some users.
type question struct {
	ctx   context.Context
	names []string // distinct

	// The answer, when done is closed.
	subs   []subscriber
	common common
	err    error

	done  chan struct{}
	batch *questions // guarded by lookups.mu; nil: waits
}

// common is what an answer says of no user in particular.
type common struct {
	restricted []row
	profiles   map[string][]*membership // of the default profile
}

// A questions is what one statement asks.
type questions struct {
	list   []*question
	names  int
	live   int // askers who still wait; guarded by lookups.mu
	cancel context.CancelFunc
}

// lookups ask questions. As many statements run at once as there are connections.
// A question that comes while one is free is asked alone, at once. Those that come
// while all are in use wait, and the next statement asks all that wait.
//
// A connection is not free for as long as the statement that began last is younger
// than spareAfter: near a database two statements of n names cost it more than one
// of 2n, and a second connection is there for when the first hangs.
type lookups struct {
	running    int // statements at once, at most
	most       int // names of a statement, at most
	spareAfter time.Duration
	ask        func(ctx context.Context, names []string, subs []subscriber) (common, error)

	mu      sync.Mutex
	waiting []*question    // guarded by mu
	active  int            // statements that run; guarded by mu
	newest  statement      // guarded by mu
	begun   uint64         // statements; guarded by mu
	alarm   *time.Timer    // for when those who wait need wait no longer; guarded by mu; nil: is not set
	closed  bool           // guarded by mu
	shared  sync.WaitGroup // statements of several askers; added to while mu is held
}

// A statement that runs; the zero one does not.
type statement struct {
	number uint64
	since  time.Time
}

// close makes find fail, and waits for the statements of several askers.
func (l *lookups) close() {
	l.mu.Lock()
	l.closed = true
	if l.alarm != nil {
		l.alarm.Stop()
	}
	l.mu.Unlock()
	l.shared.Wait()
}

// begin takes a connection for a statement, where one is free. It is called with
// mu held, as all that follow up to pass are.
func (l *lookups) begin() (number uint64, ok bool) {
	if l.active == l.running || l.active > 0 && l.holdOff() > 0 {
		return 0, false
	}
	l.active++
	return l.count(), true
}

func (l *lookups) count() uint64 {
	l.begun++
	l.newest.number = l.begun
	if l.spareAfter > 0 {
		l.newest.since = time.Now()
	}
	return l.begun
}

// holdOff is how long the statement that began last is to be waited for.
func (l *lookups) holdOff() time.Duration {
	if l.spareAfter == 0 || l.newest.number == 0 {
		return 0
	}
	return l.spareAfter - time.Since(l.newest.since)
}

// watch has what waits asked on a spare connection when the time has come.
func (l *lookups) watch() {
	if l.alarm != nil || l.closed || l.active == l.running || len(l.waiting) == 0 {
		return
	}
	l.alarm = time.AfterFunc(l.holdOff(), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.alarm = nil
		if l.closed || len(l.waiting) == 0 {
			return
		}
		if number, ok := l.begin(); ok {
			l.next(number)
		}
		l.watch()
	})
}

// find answers q, or returns when q.ctx is done.
func (l *lookups) find(q *question) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	if number, ok := l.begin(); ok {
		l.mu.Unlock()
		defer l.pass(number)
		q.subs = make([]subscriber, len(q.names))
		q.common, q.err = l.ask(q.ctx, q.names, q.subs)
		return q.err
	}
	q.done = make(chan struct{})
	l.waiting = append(l.waiting, q)
	l.watch()
	l.mu.Unlock()
	select {
	case <-q.done:
		return q.err
	case <-q.ctx.Done():
		l.leave(q)
		return q.ctx.Err()
	}
}

// leave is for an asker who does not wait any longer.
func (l *lookups) leave(q *question) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.batch == nil { // nobody asked yet
		if i := slices.Index(l.waiting, q); i >= 0 {
			l.waiting = slices.Delete(l.waiting, i, i+1)
		}
		return
	}
	if q.batch.live--; q.batch.live == 0 {
		q.batch.cancel()
	}
}

// pass gives the connection of the statement, which has ended, to what waits.
func (l *lookups) pass(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newest.number == number {
		l.newest = statement{}
	}
	if len(l.waiting) == 0 {
		l.active--
		return
	}
	if l.closed {
		for _, q := range l.waiting {
			q.err = ErrClosed
			close(q.done)
		}
		l.waiting = nil
		l.active--
		return
	}
	l.next(l.count())
}

// next asks what waits, as the statement of that number.
func (l *lookups) next(number uint64) {
	b := &questions{}
	for _, q := range l.waiting {
		if b.names > 0 && b.names+len(q.names) > l.most {
			break
		}
		b.names += len(q.names)
		b.list = append(b.list, q)
		q.batch = b
	}
	l.waiting = slices.Delete(l.waiting, 0, len(b.list))
	b.live = len(b.list)
	var ctx context.Context
	if deadline := latest(b.list); deadline.IsZero() {
		ctx, b.cancel = context.WithCancel(context.Background())
	} else {
		ctx, b.cancel = context.WithDeadline(context.Background(), deadline)
	}
	l.shared.Go(func() { l.run(ctx, b, number) })
}

// run asks a batch, gives everybody their answer, and the connection to what waits.
// The statement lasts as long as anybody waits for it.
func (l *lookups) run(ctx context.Context, b *questions, number uint64) {
	defer l.pass(number)
	defer b.cancel()
	names := make([]string, 0, b.names)
	for _, q := range b.list {
		names = append(names, q.names...)
	}
	subs := make([]subscriber, len(names))
	c, err := l.askSafely(ctx, names, subs)
	for _, q := range b.list {
		n := len(q.names)
		q.subs, q.common, q.err = subs[:n:n], c, err
		subs = subs[n:]
		close(q.done)
	}
}

// askSafely is ask, a panic of which is an error: it happens in no asker's own
// goroutine, where the server would recover it.
func (l *lookups) askSafely(ctx context.Context, names []string, subs []subscriber) (c common, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return l.ask(ctx, names, subs)
}

// latest is the time until which somebody waits; zero: without end.
func latest(list []*question) (last time.Time) {
	for _, q := range list {
		deadline, ok := q.ctx.Deadline()
		if !ok {
			return time.Time{}
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return last
}

// collect puts the rows of an answer in their places.
func collect(subs []subscriber, c *common) func(*dialect.Row) error {
	shared := make(names)
	all := subscriber{names: shared} // what is of no user
	for i := range subs {
		subs[i].names = shared
	}
	return func(r *dialect.Row) error {
		switch {
		case r.Kind == dialect.RowRestricted:
			c.restricted = append(c.restricted, shared.row(r))
		case r.User == -1:
			all.add(r)
			c.profiles = all.profiles
		case r.User < 0 || r.User >= len(subs):
			return errNoUser
		default:
			subs[r.User].add(r)
		}
		return nil
	}
}
