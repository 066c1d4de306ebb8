package sqlbilling

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A question is what one call asks about some users.
type question struct {
	ctx   context.Context
	names []string // distinct

	// The answer, when done is closed. Until then it is the asker's who runs the
	// statement.
	subs   []subscriber
	common common
	err    error

	lead chan struct{} // the receiver is to run the next statement
	done chan struct{}

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
// A question that comes while all are in use waits, and whoever of the askers is
// free next asks all that wait with one statement: no goroutine is handed
// anything but its answer, and a question that comes alone is asked alone, at
// once.
type lookups struct {
	running int // statements at once, at most
	most    int // names of a statement, at most
	ask     func(ctx context.Context, names []string, subs []subscriber) (common, error)

	mu      sync.Mutex
	waiting []*question // guarded by mu
	active  int         // statements that run; guarded by mu
}

// find answers q, or returns when q.ctx is done.
func (l *lookups) find(q *question) error {
	l.mu.Lock()
	if l.active < l.running {
		l.active++
		b := &questions{list: []*question{q}, names: len(q.names), live: 1}
		q.batch = b
		l.mu.Unlock()
		l.run(b)
		return q.err
	}
	q.lead, q.done = make(chan struct{}, 1), make(chan struct{})
	l.waiting = append(l.waiting, q)
	l.mu.Unlock()
	select {
	case <-q.done:
		return q.err
	case <-q.lead:
		l.run(q.batch)
		return q.err
	case <-q.ctx.Done():
		return l.leave(q)
	}
}

// leave is for an asker who does not wait any longer.
func (l *lookups) leave(q *question) error {
	l.mu.Lock()
	b := q.batch
	if b == nil { // nobody asked yet
		for i, w := range l.waiting {
			if w == q {
				l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
				break
			}
		}
		l.mu.Unlock()
		return q.ctx.Err()
	}
	if b.live--; b.live == 0 && b.cancel != nil {
		b.cancel()
	}
	l.mu.Unlock()
	select {
	case <-q.lead: // the others count on it
		l.run(b)
	default:
	}
	return q.ctx.Err()
}

// pass gives the connection that has become free to what waits.
func (l *lookups) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.active--
		return
	}
	b := &questions{}
	for _, q := range l.waiting {
		if b.names > 0 && b.names+len(q.names) > l.most {
			break
		}
		b.names += len(q.names)
		b.list = append(b.list, q)
		q.batch = b
	}
	b.live = len(b.list)
	rest := copy(l.waiting, l.waiting[len(b.list):])
	clear(l.waiting[rest:])
	l.waiting = l.waiting[:rest]
	b.list[0].lead <- struct{}{}
}

// run asks a batch, gives everybody their answer, and the connection to whoever
// waits. The statement lasts as long as anybody waits for it.
func (l *lookups) run(b *questions) {
	defer l.pass()
	if len(b.list) == 1 {
		q := b.list[0]
		q.subs = make([]subscriber, len(q.names))
		q.common, q.err = l.ask(q.ctx, q.names, q.subs)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	if deadline := latest(b.list); !deadline.IsZero() {
		ctx, cancel = context.WithDeadline(context.Background(), deadline)
	}
	defer cancel()
	l.mu.Lock()
	b.cancel = cancel
	if b.live == 0 {
		cancel()
	}
	l.mu.Unlock()
	names := make([]string, 0, b.names)
	for _, q := range b.list {
		names = append(names, q.names...)
	}
	subs := make([]subscriber, len(names))
	var c common
	err := errInterrupted // if ask panics
	defer func() {
		for _, q := range b.list {
			n := len(q.names)
			q.subs, q.common, q.err = subs[:n:n], c, err
			subs = subs[n:]
			close(q.done)
		}
	}()
	c, err = l.ask(ctx, names, subs)
}

// errInterrupted is what those get who shared a statement with one who panicked.
var errInterrupted = errors.New("the statement was interrupted")

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
	var all subscriber // what is of no user
	return func(r *dialect.Row) error {
		switch {
		case r.Kind == dialect.RowRestricted:
			c.restricted = append(c.restricted, newRow(r))
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
