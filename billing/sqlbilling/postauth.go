package sqlbilling

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	commit "github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

const (
	postAuthGroup  = 512                   // rows of one transaction
	postAuthBulk   = 4096                  // the same, where one statement writes them
	postAuthLinger = 50 * time.Millisecond // nobody waits for these rows, so a group may gather
	postAuthTries  = 5
)

// A postAuthRow is a row of radpostauth.
type postAuthRow struct {
	user, pass, reply, reason string
	at                        int64
}

// postAuth writes radpostauth in the background.
type postAuth struct {
	b    *Backend
	most int // rows of a group
	rows chan postAuthRow
	stop chan struct{} // closed by close
	done chan struct{} // closed when run has returned

	quiet commit.EverySecond // of errors in the log; run's own

	mu     sync.RWMutex // held for a moment only
	closed bool         // guarded by mu: rows is not sent to any more
}

func newPostAuth(b *Backend) *postAuth {
	p := &postAuth{
		b:    b,
		rows: make(chan postAuthRow, b.opts.PostAuthBuffer),
		stop: make(chan struct{}),
		done: make(chan struct{}),
		most: postAuthGroup,
	}
	if b.d.Bulk != nil {
		p.most = postAuthBulk
	}
	return p
}

// PostAuth queues a row for radpostauth and returns at once. When the buffer is
// full, or the Backend closed, the row is dropped and counted.
func (b *Backend) PostAuth(res *billing.AuthResult) {
	if b.post == nil || b.now().post == nil {
		return
	}
	r := postAuthRow{user: b.nameInDB(res.Access.UserName), reply: "Access-Reject", at: res.Time.Unix()}
	if res.Accepted {
		r.reply = "Access-Accept"
	}
	if res.Reason != billing.ReasonNone {
		r.reason = res.Reason.String()
	}
	if len(res.Password) > 0 {
		r.pass = "***"
		if b.opts.StorePasswords {
			r.pass = string(res.Password)
		}
	}
	if !b.post.offer(r) {
		b.stats.postAuthDropped.Add(1)
	}
}

// offer queues a row if there is room.
func (p *postAuth) offer(r postAuthRow) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return false
	}
	select {
	case p.rows <- r:
		return true
	default:
		return false
	}
}

func (p *postAuth) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	close(p.stop)
	<-p.done
}

// run writes groups until close was called and nothing is left.
func (p *postAuth) run() {
	defer close(p.done)
	group := make([]postAuthRow, 0, p.most)
	linger := time.NewTimer(postAuthLinger)
	defer linger.Stop()
	var quiet commit.EverySecond
	var dropped uint64
	for {
		group = group[:0]
		stopped := false
		select {
		case r := <-p.rows:
			group = append(group, r)
			if len(p.rows) < min(p.most, cap(p.rows)/2) {
				linger.Reset(postAuthLinger)
				select {
				case <-linger.C:
				case <-p.stop:
				}
			}
		case <-p.stop:
			stopped = true
		}
		group = p.drain(group)
		p.write(group)
		if n := p.b.stats.postAuthDropped.Load(); n != dropped && (stopped || quiet.Allows(time.Now())) {
			p.b.opts.Logger.Warn("radpostauth: rows dropped, the buffer was full", zap.Uint64("dropped", n-dropped))
			dropped = n
		}
		if stopped && len(group) == 0 {
			return
		}
	}
}

// drain adds what waits, up to a group.
func (p *postAuth) drain(group []postAuthRow) []postAuthRow {
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

// write writes a group, and drops it when that fails for good. While the database
// is busy it tries again as long as nothing is lost by it: nobody waits for these
// rows, and the buffer has room for those that come.
func (p *postAuth) write(group []postAuthRow) {
	if len(group) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tries := 0
	again := func() {
		if tries++; tries >= postAuthTries && (p.stopping() || len(p.rows) > cap(p.rows)/2) {
			cancel()
		}
	}
	err := commit.Patiently(ctx, p.b.d, again, func() error {
		attempt, cancel := context.WithTimeout(context.Background(), p.b.opts.WriteTimeout)
		defer cancel()
		return p.insertSurely(p.b.db.Context(attempt), group)
	})
	if err == nil {
		p.b.stats.postAuthWritten.Add(uint64(len(group)))
		return
	}
	p.b.db.Tell(err)
	p.b.stats.postAuthFailed.Add(uint64(len(group)))
	if p.quiet.Allows(time.Now()) {
		p.b.opts.Logger.Error("radpostauth: rows not written", zap.Int("rows", len(group)),
			zap.Uint64("since the start", p.b.stats.postAuthFailed.Load()), zap.Error(err))
	}
}

// stopping reports whether close was called.
func (p *postAuth) stopping() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// insertSurely is insert on another connection when one has gone away, and on other
// columns when they have changed.
func (p *postAuth) insertSurely(ctx context.Context, group []postAuthRow) (err error) {
	f := p.b.now()
	for range commit.Attempts {
		if f.post == nil { // the table is gone
			return cmp.Or(err, errNoPostAuth)
		}
		if err = p.insert(ctx, f.post, group); err == nil {
			return nil
		}
		if next, again := p.b.renew(ctx, f, err); again {
			f = next
		} else if p.b.d.Classify(err) != dialect.Lost {
			break
		}
	}
	return err
}

// errNoPostAuth is why rows are dropped that were taken while there was a table.
var errNoPostAuth = errors.New("there is no table radpostauth any more")

func (p *postAuth) insert(ctx context.Context, q *postAuthSQL, group []postAuthRow) error {
	if p.b.d.Bulk != nil {
		var values []any
		for i := range group {
			values = append(values, q.values(&group[i])...)
		}
		_, err := p.b.db.Write.ExecContext(ctx, q.text, p.b.d.Bulk.Pack(q.kinds, values)...)
		return err
	}
	tx, err := p.b.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var stmt *sqlx.Stmt
	if stmt, err = tx.PreparexContext(ctx, q.text); err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	for i := range group {
		if _, err := stmt.ExecContext(ctx, q.values(&group[i])...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
