package sqlbilling

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A life is a session as far as it matters to leases.
type life struct {
	acct.Session
	before acct.Session // what was stored of it until now
}

// A lease is a row of radippool, with the second in which it ends.
type lease struct {
	id                       int64
	addr, user, nas, calling string
	expiry, now, lasts       int64
}

// of reports whether l is the lease that s lives on: it is the same device, or,
// where one of them does not say, the same user on the same NAS.
func (l *lease) of(s *life) bool {
	if l.calling != "" && s.Calling != "" {
		return l.calling == s.Calling
	}
	return l.user != "" && l.nas == s.NASAddr && strings.EqualFold(l.user, s.UserName)
}

// after is when l ends once s is known, which it lives on: lasts seconds after the
// last that was heard of an open session, and at the end of one that has ended. It
// does not depend on the order of records, nor on how often each comes, since the
// one is a maximum, the other a minimum, and no record of a session that has ended
// is one of an open session.
//
// The end of a session frees only what was last given or renewed before it: after
// it the lease is that of the next session of the same device. In the same second
// it is that of s if s began in it, or renewed it, and its end was not known yet.
//
// A NAS whose clock is wrong does not shorten a lease: it is not freed, and ends by
// itself.
func (l *lease) after(s *life) int64 {
	if s.Stop == 0 {
		seen := min(s.Update, l.now)
		if seen+l.lasts <= l.now { // so old that the session would be over
			seen = l.now
		}
		return max(l.expiry, seen+l.lasts)
	}
	given, end := l.expiry-l.lasts, min(s.Stop, l.now)
	own := s.before.Stop == 0 && s.Cause != acct.NASReboot && (s.Start >= given || s.before.Update == given)
	if given < end || given == end && own {
		return min(l.expiry, end-1) // free in this very second
	}
	return l.expiry
}

// pools is what a Backend knows of radippool.
type pools struct {
	seen atomic.Bool  // there was an address in it
	next atomic.Int64 // when to look again, in nanoseconds since 1970
}

// poolInterval is how long nobody looks again when there was no address at all.
const poolInterval = 10 * time.Second

// anyAddress reports whether there is any address at all, and remembers that there was one.
func (p *pools) anyAddress(ctx context.Context, db sqlx.QueryerContext) (bool, error) {
	var one []int
	if err := sqlx.SelectContext(ctx, db, &one, "SELECT 1 FROM radippool LIMIT 1"); err != nil || len(one) == 0 {
		return false, err
	}
	p.seen.Store(true)
	return true, nil
}

// look reports whether the sessions of a transaction may live on leases. A database
// without pools is not to pay for them.
func (p *pools) look(ctx context.Context, tx *sqlx.Tx) (bool, error) {
	if p.seen.Load() {
		return true, nil
	}
	now := time.Now().UnixNano()
	next := p.next.Load()
	if now < next || !p.next.CompareAndSwap(next, now+int64(poolInterval)) {
		return false, nil
	}
	return p.anyAddress(ctx, tx)
}

// A leaseWriter renews and frees leases in the transactions of the accounting.
type leaseWriter struct {
	pools  *pools // nil: there are none
	d      *dialect.Dialect
	l      *layout
	lasts  int64
	find   *sqlx.Stmt
	update *sqlx.Stmt
	free   string
	kinds  []dialect.Kind
	fit    func(string, dialect.Column) string
}

func (w *leaseWriter) prepare(ctx context.Context, b *Backend, l *layout) error {
	if !l.pool {
		return nil
	}
	w.pools, w.d, w.l, w.lasts, w.fit = &b.pools, b.d, l, int64(b.opts.LeaseTime.Seconds()), fitKey(b.d)
	text := func(name string) string {
		if c, ok := l.tables.Column("radippool", name); ok {
			return b.d.Text(c)
		}
		return "''"
	}
	addr, expiry := l.column("radippool", "framedipaddress"), l.column("radippool", "expiry_time")
	prepare := func(stmt **sqlx.Stmt, query string) (err error) {
		*stmt, err = b.db.Write.PreparexContext(ctx, b.db.Write.Rebind(query))
		return err
	}
	if err := prepare(&w.find, "SELECT "+l.rowID(b.d)+", "+strings.Join([]string{
		text("framedipaddress"), text("username"), text("nasipaddress"), text("callingstationid"),
		"COALESCE(" + b.d.Seconds(expiry) + ", 0)", b.d.Now,
	}, ", ")+" FROM "+b.d.Among("radippool", addr)+" ORDER BY "+l.rowID(b.d)+b.d.ForUpdate); err != nil {
		return fmt.Errorf("radippool: %w", err)
	}
	if nas, ok := l.tables.Column("radippool", "nasipaddress"); ok {
		w.free = "UPDATE radippool SET expiry_time = " + b.d.Moment("?", expiry) + " WHERE nasipaddress = " + b.d.Stored("?", nas) +
			" AND " + b.d.Seconds(expiry) + " > ? AND " + b.d.Seconds(expiry) + " < ?"
	}
	if b.d.Bulk == nil {
		return prepare(&w.update, "UPDATE radippool SET expiry_time = "+b.d.Moment("?", expiry)+" WHERE "+l.rowID(b.d)+" = ?")
	}
	w.kinds = []dialect.Kind{dialect.KindInt, dialect.KindInt}
	return prepare(&w.update, b.d.Bulk.Update("radippool", "id", []string{"expiry_time = " + b.d.Moment("v.c1", expiry)}, b.d.Bulk.Source(w.kinds)))
}

// rowID names a row of radippool.
func (l *layout) rowID(d *dialect.Dialect) string {
	if d.RowID != "" {
		return d.RowID
	}
	return "id"
}

func (w *leaseWriter) statements() []*sqlx.Stmt { return []*sqlx.Stmt{w.find, w.update} }

// inUse reports whether the sessions of a transaction may live on leases.
func (w *leaseWriter) inUse(ctx context.Context, tx *sqlx.Tx) (bool, error) {
	if w.pools == nil {
		return false, nil
	}
	return w.pools.look(ctx, tx)
}

// reload frees what a NAS leased before it was restarted.
func (w *leaseWriter) reload(ctx context.Context, tx *sqlx.Tx, r acct.Reload) error {
	if w.free == "" {
		return nil
	}
	if used, err := w.inUse(ctx, tx); err != nil || !used {
		return err
	}
	var now int64
	if err := tx.GetContext(ctx, &now, "SELECT "+w.d.Now); err != nil {
		return err
	}
	at := min(r.At, now)
	nas := w.fit(r.NAS, w.l.column("radippool", "nasipaddress"))
	_, err := tx.ExecContext(ctx, tx.Rebind(w.free), at-1, nas, at-1, at+w.lasts)
	return err
}

// sessions renews and frees the leases that sessions live on, where pools are in use.
func (w *leaseWriter) sessions(ctx context.Context, tx *sqlx.Tx, sessions []life) error {
	by := make(map[string][]*life)
	for i := range sessions {
		if s := &sessions[i]; s.Addr != "" {
			by[s.Addr] = append(by[s.Addr], s)
		}
	}
	if len(by) == 0 {
		return nil
	}
	addrs := slices.Sorted(maps.Keys(by))
	var changed []lease
	row := lease{lasts: w.lasts}
	err := acct.Each(ctx, tx, w.d, w.find, addrs, []any{&row.id, &row.addr, &row.user, &row.nas, &row.calling, &row.expiry, &row.now}, func() {
		l := row
		for _, s := range by[row.addr] {
			if key := w.key(s); l.of(&key) {
				l.expiry = l.after(&key)
			}
		}
		if l.expiry != row.expiry {
			changed = append(changed, l)
		}
	})
	if err != nil {
		return fmt.Errorf("radippool: %w", err)
	}
	return w.write(ctx, tx, changed)
}

// key is s with its texts as radippool holds them.
func (w *leaseWriter) key(s *life) life {
	k := *s
	for name, text := range map[string]*string{"username": &k.UserName, "nasipaddress": &k.NASAddr, "callingstationid": &k.Calling} {
		*text = w.fit(*text, w.l.column("radippool", name))
	}
	return k
}

// write stores when leases end now.
func (w *leaseWriter) write(ctx context.Context, tx *sqlx.Tx, changed []lease) error {
	if len(changed) == 0 {
		return nil
	}
	stmt := tx.Stmtx(w.update)
	if w.d.Bulk == nil {
		for _, l := range changed {
			if _, err := stmt.ExecContext(ctx, l.expiry, l.id); err != nil {
				return err
			}
		}
		return nil
	}
	values := make([]any, 0, 2*len(changed))
	for _, l := range changed {
		values = append(values, l.id, l.expiry)
	}
	_, err := stmt.ExecContext(ctx, w.d.Bulk.Pack(w.kinds, values)...)
	return err
}
