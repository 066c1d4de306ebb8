package ledger

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

var _ coa.Store = (*Backend)(nil)

// Watch has f called with the name of each subscriber whose balance or usage accounting
// has changed, after that is durable: coa.Controller.Wake. f must return at once. nil:
// nobody is told.
func (b *Backend) Watch(f func(userName string)) {
	if f == nil {
		b.watch.Store(nil)
		return
	}
	b.watch.Store(&f)
}

// tell tells who watches of those whom the change was about.
func (c *change) tell() {
	f := c.watch.Load()
	if f == nil {
		return
	}
	for account := range c.sums {
		(*f)(account)
	}
	for k := range c.usage {
		if _, told := c.sums[k.account]; !told {
			(*f)(k.account)
		}
	}
}

// classPrefix begins the Class that says which mode a session was given. The NAS sends it
// in the session's accounting (RFC 2865 section 5.25), so that no server has to remember.
const classPrefix = "radpool-mode="

// tell puts the mode into an Access-Accept, as the first Class, which is the one that is
// stored.
func tell(g *billing.Grant, mode coa.Mode) {
	list := &g.Reply
	switch mode {
	case coa.Restricted:
		list = &g.Restricted
	case coa.Full, coa.OverQuota:
	default:
		return // a reject
	}
	class := &radius.AVP{Type: rfc2865.Class_Type, Attribute: fmt.Append(nil, classPrefix, uint8(mode))}
	*list = append(radius.Attributes{class}, *list...)
}

// modeOf is the mode that a stored Class tells of.
func modeOf(class string) coa.Mode {
	octets, err := hex.DecodeString(strings.TrimPrefix(class, "0x"))
	if err != nil {
		return coa.Unknown
	}
	digit, ok := bytes.CutPrefix(octets, []byte(classPrefix))
	if !ok || len(digit) != 1 {
		return coa.Unknown
	}
	switch m := coa.Mode(digit[0] - '0'); m {
	case coa.Full, coa.OverQuota, coa.Restricted:
		return m
	}
	return coa.Unknown
}

// expiryGrace is how long after the end of a subscription a session is ended: its
// Session-Timeout does that first.
const expiryGrace = time.Minute

// liveStatements are those about sessions in progress.
type liveStatements struct{ all, users, change, insert *sqlx.Stmt }

func (l *liveStatements) close() error {
	var errs []error
	for _, s := range []*sqlx.Stmt{l.all, l.users, l.change, l.insert} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

func (b *Backend) prepareLive(ctx context.Context) error {
	const end = ` LEFT JOIN radpool_control c ON c.unique_id = s.unique_id
		WHERE s.stop_time = 0 AND s.account <> '' AND s.unique_id > ?`
	const order = " ORDER BY s.unique_id LIMIT ?"
	// Of all sessions those of which it is not certain that they have what they are to have.
	const perhaps = ` JOIN radpool_subscriber u ON u.username = s.account JOIN radpool_tariff t ON t.name = u.tariff
		LEFT JOIN radpool_balance b ON b.username = s.account` + end + ` AND (u.blocked <> 0 OR u.expires <> 0 AND u.expires <= ?
		OR COALESCE(b.balance, 0) + u.credit <= 0 OR t.quota_octets > 0 OR c.unique_id IS NOT NULL OR s.class IN (?, ?))` + order
	for stmt, query := range map[**sqlx.Stmt]string{
		&b.live.all:   liveColumns + " FROM radpool_session s" + perhaps,
		&b.live.users: liveColumns + " FROM (SELECT radpool_session.* FROM " + b.among("radpool_session", "account") + ") s" + end + order,
		&b.live.change: `UPDATE radpool_control SET version = ?, applied = ?, wanted = ?, phase = ?, instead = ?, unsure = ?, tries = ?, next_at = ?
			WHERE unique_id = ? AND version = ?`,
		&b.live.insert: `INSERT INTO radpool_control (version, applied, wanted, phase, instead, unsure, tries, next_at, unique_id)
			SELECT ?, ?, ?, ?, ?, ?, ?, ?, unique_id FROM radpool_session WHERE unique_id = ? AND stop_time = 0`,
	} {
		var err error
		db := b.db.Write
		if stmt == &b.live.all || stmt == &b.live.users {
			db = b.db.Read
		}
		if *stmt, err = db.PreparexContext(ctx, db.Rebind(query)); err != nil {
			return fmt.Errorf("radpool_control: %w", err)
		}
	}
	return nil
}

// Sessions implements coa.Store. Sessions of somebody who is no subscriber any more are
// left alone, and so are those of a subscriber of whom something cannot be understood. A
// call for all of them, from the first on, also forgets what was asked for about sessions
// that have ended.
func (b *Backend) Sessions(ctx context.Context, now time.Time, users []string, after string, limit int) (items []coa.Item, more string, err error) {
	if len(users) == 0 && after == "" {
		if err := b.forgetEnded(ctx); err != nil {
			return nil, "", b.named(err)
		}
	}
	rows, err := b.liveRows(ctx, now, users, after, limit)
	if err == nil && len(rows) > 0 {
		items, err = b.wanted(ctx, now, rows)
	}
	if err != nil {
		return nil, "", b.named(err)
	}
	if len(rows) == limit {
		more = rows[limit-1].UniqueID
	}
	return items, more, nil
}

// wanted finds what sessions are to have.
func (b *Backend) wanted(ctx context.Context, now time.Time, rows []liveRow) (items []coa.Item, err error) {
	for len(rows) > 0 {
		some := rows[:min(len(rows), b.batch())]
		rows = rows[len(some):]
		names, nases := make([]string, len(some)), make([]string, len(some))
		for i := range some {
			names[i], nases[i] = some[i].Account, some[i].NAS
		}
		found, err := b.ask(ctx, distinct(names), distinct(nases), now)
		if err != nil {
			return nil, err
		}
		for i := range some {
			if it, ok := found.item(&some[i], now); ok {
				items = append(items, it)
			}
		}
	}
	return items, nil
}

// item is what a session is to have; ok is false where that is not known.
func (a *answer) item(r *liveRow, now time.Time) (it coa.Item, ok bool) {
	s := a.subscribers[r.Account]
	if s == nil {
		return it, false
	}
	nas, _ := netip.ParseAddr(r.NAS)
	g, mode, err := a.grant(&billing.AccessRequest{UserName: r.Account, NASAddr: nas}, now)
	if err != nil {
		return it, false // it is told of at login
	}
	it = r.item(nas, a.vendors[r.NAS])
	switch {
	case mode == coa.Ended || s.expires != 0 && !now.Before(time.Unix(s.expires, 0).Add(expiryGrace)):
		it.Want = coa.Want{Mode: coa.Ended}
	case mode == coa.Restricted:
		it.Want = coa.Want{Mode: mode, Attributes: g.Restricted, Fallback: true}
	default:
		it.Want = coa.Want{Mode: mode, Attributes: g.Reply}
	}
	it.Want.Attributes = coa.Changeable(it.Want.Attributes)
	if it.State.Applied == coa.Unknown {
		// The NAS sends no Class. The session may have what it is to have since its login,
		// and if it were ended for that, so would be each one after it.
		it.Want.Fallback = false
		return it, it.Want.Mode == coa.Ended || len(it.Want.Attributes) > 0
	}
	if it.Want.Mode == coa.Ended {
		return it, true
	}
	it.Want.Relogin = len(it.Want.Attributes) == 0
	if it.Want.Mode < it.State.Applied { // more than it has
		// A CoA-Request cannot take away what the mode before had: a filter, say. What is
		// encrypted is for setting a session up, and not changed in it.
		before, _, err := a.attributes(it.Session.Vendor, s.tariff.profileOf(it.State.Applied))
		it.Want.Relogin = it.Want.Relogin || err != nil || !coa.Replaces(it.Want.Attributes, before)
	}
	return it, true
}

// profileOf is the profile of a mode, where it has one of its own.
func (t *tariff) profileOf(m coa.Mode) string {
	switch m {
	case coa.OverQuota:
		return t.quota
	case coa.Restricted:
		return t.restricted
	}
	return ""
}

// Save implements coa.Store.
func (b *Backend) Save(ctx context.Context, key string, s coa.State) (saved bool, err error) {
	next := int64(0)
	if !s.Next.IsZero() {
		next = s.Next.Unix()
		if s.Next.Nanosecond() > 0 && s.Phase != coa.Gone {
			next++
		}
	}
	args := []any{s.Version + 1, int(s.Applied), int(s.Wanted), int(s.Phase), flag(s.Instead), flag(s.Unsure), s.Tries, next, key}
	stmt := b.live.insert
	if s.Version > 0 {
		stmt, args = b.live.change, append(args, s.Version)
	}
	err = b.change(ctx, func() error {
		result, err := stmt.ExecContext(b.db.Context(ctx), args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		saved = n == 1
		return err
	}, dialect.Lost)
	if c := b.d.Classify(err); err != nil && s.Version == 0 && (c == dialect.Conflict || c == dialect.BadRow) {
		return false, nil // another server has inserted it
	}
	if err != nil {
		return false, fmt.Errorf("ledger: %s: radpool_control: %w", b.db.Label, err)
	}
	return saved, nil
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// forgetEnded deletes what was asked for about sessions that have ended since.
func (b *Backend) forgetEnded(ctx context.Context) error {
	const ended = `DELETE FROM radpool_control WHERE EXISTS (SELECT 1 FROM radpool_session s
		WHERE s.unique_id = radpool_control.unique_id AND s.stop_time <> 0)`
	for _, confirmed := range []bool{true, false} {
		query, args := ended, []any(nil)
		if confirmed {
			query, args = ended+" AND phase = ?", []any{int(coa.Confirmed)}
		}
		if err := b.change(ctx, func() error {
			result, err := b.db.Write.ExecContext(b.db.Context(ctx), b.db.Write.Rebind(query), args...)
			if err != nil || !confirmed {
				return err
			}
			n, err := result.RowsAffected()
			b.confirmed.Add(uint64(n))
			return err
		}, dialect.Lost); err != nil {
			return fmt.Errorf("radpool_control: %w", err)
		}
	}
	return nil
}

// change tries again while the database is busy, and at once after an error of one of
// classes.
func (b *Backend) change(ctx context.Context, f func() error, classes ...dialect.Class) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.WriteTimeout)
	defer cancel()
	return group.Patiently(ctx, b.d, nil, func() error { return group.Again(b.d, f, classes...) })
}
