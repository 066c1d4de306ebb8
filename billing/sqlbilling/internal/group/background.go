package group

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

const (
	backgroundGroup  = 512                   // rows of one transaction
	backgroundBulk   = 4096                  // the same, where one statement writes them
	backgroundLinger = 50 * time.Millisecond // nobody waits for these rows, so a group may gather
	backgroundTries  = 5
)

// A BackgroundConfig is what a Background needs. All of it must be set.
type BackgroundConfig struct {
	Table   string // for the log
	DB      *dialect.DB
	Dialect *dialect.Dialect
	Buffer  int           // rows that may wait
	Timeout time.Duration // of one attempt
	Log     *zap.Logger
}

// A Background writes rows that nobody waits for, in groups. What it has no room for is
// dropped and counted.
type Background[T any] struct {
	BackgroundConfig
	write func(ctx context.Context, rows []T) error
	most  int // rows of a group
	rows  chan T
	stop  chan struct{} // closed by Close
	done  chan struct{} // closed when run has returned

	quiet EverySecond // of errors in the log; run's own

	written, dropped, failed atomic.Uint64

	mu     sync.RWMutex // held for a moment only
	closed bool         // guarded by mu: rows is not sent to any more
}

// StartBackground starts one, which writes by write.
func StartBackground[T any](c BackgroundConfig, write func(ctx context.Context, rows []T) error) *Background[T] {
	p := &Background[T]{
		BackgroundConfig: c, write: write, most: backgroundGroup,
		rows: make(chan T, c.Buffer), stop: make(chan struct{}), done: make(chan struct{}),
	}
	if c.Dialect.Bulk != nil {
		p.most = backgroundBulk
	}
	go p.run()
	return p
}

// Offer queues a row if there is room, and drops it otherwise, and after Close.
func (p *Background[T]) Offer(r T) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.closed {
		select {
		case p.rows <- r:
			return
		default:
		}
	}
	p.dropped.Add(1)
}

// Close writes what was taken, and returns when the goroutine has.
func (p *Background[T]) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	close(p.stop)
	<-p.done
}

// Counts are how many rows were written, dropped since there was no room, and not written
// for an error; those of a nil Background are 0.
func (p *Background[T]) Counts() (written, dropped, failed uint64) {
	if p == nil {
		return 0, 0, 0
	}
	return p.written.Load(), p.dropped.Load(), p.failed.Load()
}

// run writes groups until Close was called and nothing is left.
func (p *Background[T]) run() {
	defer close(p.done)
	group := make([]T, 0, p.most)
	linger := time.NewTimer(backgroundLinger)
	defer linger.Stop()
	var quiet EverySecond
	var dropped uint64
	for {
		group = group[:0]
		stopped := false
		select {
		case r := <-p.rows:
			group = append(group, r)
			if len(p.rows) < min(p.most, cap(p.rows)/2) {
				linger.Reset(backgroundLinger)
				select {
				case <-linger.C:
				case <-p.stop:
				}
			}
		case <-p.stop:
			stopped = true
		}
		group = p.drain(group)
		p.writeGroup(group)
		if n := p.dropped.Load(); n != dropped && (stopped || quiet.Allows(time.Now())) {
			p.Log.Warn(p.Table+": rows dropped, the buffer was full", zap.Uint64("dropped", n-dropped))
			dropped = n
		}
		if stopped && len(group) == 0 {
			return
		}
	}
}

// drain adds what waits, up to a group.
func (p *Background[T]) drain(group []T) []T {
	for len(group) < p.most {
		select {
		case r := <-p.rows:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// writeGroup writes a group, and drops it when that fails for good. While the database
// is busy it tries again as long as nothing is lost by it: nobody waits for these
// rows, and the buffer has room for those that come.
func (p *Background[T]) writeGroup(group []T) {
	if len(group) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tries := 0
	again := func() {
		if tries++; tries >= backgroundTries && (p.stopping() || len(p.rows) > cap(p.rows)/2) {
			cancel()
		}
	}
	err := Patiently(ctx, p.Dialect, again, func() error {
		attempt, cancel := context.WithTimeout(context.Background(), p.Timeout)
		defer cancel()
		return p.write(p.DB.Context(attempt), group)
	})
	if err == nil {
		p.written.Add(uint64(len(group)))
		return
	}
	p.DB.Tell(err)
	p.failed.Add(uint64(len(group)))
	if p.quiet.Allows(time.Now()) {
		p.Log.Error(p.Table+": rows not written", zap.Int("rows", len(group)), zap.Uint64("since the start", p.failed.Load()), zap.Error(err))
	}
}

// stopping reports whether Close was called.
func (p *Background[T]) stopping() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// Insert runs an INSERT for n rows: once where the dialect can do that, else for each, in
// one transaction.
func Insert(ctx context.Context, db *dialect.DB, d *dialect.Dialect, query string, kinds []dialect.Kind, n int, row func(i int) []any) error {
	if d.Bulk != nil {
		var values []any
		for i := range n {
			values = append(values, row(i)...)
		}
		_, err := db.Write.ExecContext(ctx, query, d.Bulk.Pack(kinds, values)...)
		return err
	}
	tx, err := db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var stmt *sqlx.Stmt
	if stmt, err = tx.PreparexContext(ctx, query); err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	for i := range n {
		if _, err := stmt.ExecContext(ctx, row(i)...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
