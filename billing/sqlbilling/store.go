package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// A store writes accounting in transactions. It belongs to one goroutine of the
// writer; nothing of it may be used by two at once.
type store struct {
	b     *Backend
	db    *dialect.DB
	d     *dialect.Dialect
	stats *counters

	on      *found // what the statements are for; nil: there are none
	l       layout // of it
	history bool   // of it

	find    *sqlx.Stmt
	reloads *sqlx.Stmt // nil: nothing is known of restarts
	rows    rowWriter
	leases  leaseWriter
}

func newStore(ctx context.Context, b *Backend) (*store, error) {
	s := &store{b: b, db: b.db, d: b.d, stats: &b.stats}
	return s, s.prepare(ctx, b.now())
}

// prepare prepares the statements for the tables of f, in place of those that there are.
func (s *store) prepare(ctx context.Context, f *found) (err error) {
	if err := s.close(); err != nil {
		return err
	}
	s.l, s.history = f.l, f.history
	if s.find, err = s.db.Write.PreparexContext(ctx, s.db.Write.Rebind(s.l.selectSQL(s.d))); err != nil {
		return errors.Join(err, s.close())
	}
	if text := s.reloadsSQL(); text != "" {
		if s.reloads, err = s.db.Write.PreparexContext(ctx, s.db.Write.Rebind(text)); err != nil {
			return errors.Join(err, s.close())
		}
	}
	if err := s.rows.prepare(ctx, s.db.Write, s.d, &s.l); err != nil {
		return errors.Join(err, s.close())
	}
	if err := s.leases.prepare(ctx, s.b, &s.l); err != nil {
		return errors.Join(err, s.close())
	}
	s.on = f
	return nil
}

// reloadsSQL reads the restarts of some NASes.
func (s *store) reloadsSQL() string {
	switch {
	case s.history:
		return "SELECT nasipaddress, reloadtime FROM " +
			s.d.Among("radpool_reload", s.l.column("radpool_reload", "nasipaddress"))
	case s.l.nasReload:
		nas := s.l.column("nasreload", "nasipaddress")
		return "SELECT " + s.d.Text(nas) + ", COALESCE(" + s.d.Seconds(s.l.column("nasreload", "reloadtime")) + ", 0) FROM " +
			s.d.Among("nasreload", nas)
	}
	return ""
}

func (s *store) close() error {
	var errs []error
	for _, stmt := range slices.Concat(s.rows.statements(), s.leases.statements(), []*sqlx.Stmt{s.find, s.reloads}) {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	s.on, s.find, s.reloads, s.rows, s.leases = nil, nil, nil, rowWriter{}, leaseWriter{}
	return errors.Join(errs...)
}

// write stores items, all of them or nothing: nil means durable. It returns how
// many rows were written. Where the tables have changed it tries again, on what they
// are by then.
func (s *store) write(ctx context.Context, items []*group.Item[acct.Record]) (rows int, err error) {
	err = s.b.onTables(ctx, func(f *found) (err error) {
		if s.on != f {
			if err := s.prepare(ctx, f); err != nil {
				return err
			}
		}
		rows, err = s.writeOnce(ctx, items)
		return err
	})
	return rows, err
}

// writeOnce is write, on the tables as they were found.
func (s *store) writeOnce(ctx context.Context, items []*group.Item[acct.Record]) (rows int, err error) {
	records := make([]*acct.Record, len(items))
	for i, it := range items {
		records[i] = &it.Value
	}
	sessions, reloads := acct.Coalesce(records)
	tx, err := s.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	lock := s.d.ShareReloads
	if len(reloads) > 0 {
		lock = s.d.OwnReloads
	}
	if lock != "" && s.history {
		if _, err := tx.ExecContext(ctx, lock); err != nil {
			return 0, err
		}
	}
	for _, r := range reloads {
		if err := s.writeReload(ctx, tx, r); err != nil {
			return 0, err
		}
	}
	if len(sessions) > 0 {
		if rows, err = s.writeSessions(ctx, tx, sessions); err != nil {
			return 0, err
		}
	}
	return rows, tx.Commit()
}

func (s *store) writeSessions(ctx context.Context, tx *sqlx.Tx, sessions []acct.Session) (rows int, err error) {
	history, err := s.readReloads(ctx, tx, sessions)
	if err != nil {
		return 0, err
	}
	stored, err := s.read(ctx, tx, sessions)
	if err != nil {
		return 0, err
	}
	s.rows.forget() // what a transaction that failed has left
	leased, err := s.leases.inUse(ctx, tx)
	if err != nil {
		return 0, err
	}
	cut := 0
	var lives []life
	if leased {
		lives = make([]life, len(sessions))
	}
	for i := range sessions {
		merged := sessions[i]
		s.l.restrict(&merged)
		cut += s.l.fit(&merged, s.d)
		old, exists := stored[merged.UniqueID]
		if exists {
			merged.Merge(&old)
		}
		merged.Reboot(history[sessions[i].NASAddr])
		if leased {
			lives[i] = life{Session: sessions[i], before: old}
			lives[i].Merge(&merged)
		}
		s.l.restrict(&merged)
		switch {
		case !exists:
			err = s.rows.write(ctx, tx, &s.rows.insert, &merged)
		case merged == old:
			continue // a duplicate, or older than what is known
		case s.rows.hot.stmt != nil && s.l.onlyHot(merged, old):
			err = s.rows.write(ctx, tx, &s.rows.hot, &merged)
		default:
			err = s.rows.write(ctx, tx, &s.rows.update, &merged)
		}
		if err != nil {
			return 0, err
		}
		rows++
	}
	s.stats.cut.Add(uint64(cut))
	if err := s.leases.sessions(ctx, tx, lives); err != nil {
		return 0, err
	}
	return rows, s.rows.flush(ctx, tx)
}

// read returns the rows of these sessions. Where a database without a unique
// index has several rows of one acct.Session, the oldest is the one that counts.
func (s *store) read(ctx context.Context, tx *sqlx.Tx, sessions []acct.Session) (map[string]acct.Session, error) {
	ids := make([]string, len(sessions))
	for i := range sessions {
		ids[i] = sessions[i].UniqueID
	}
	stored := make(map[string]acct.Session, len(sessions))
	var row acct.Session
	err := acct.Each(ctx, tx, s.d, s.find, ids, s.l.scan(&row), func() {
		if _, there := stored[row.UniqueID]; !there {
			stored[row.UniqueID] = row
		}
	})
	switch {
	case err != nil && len(ids) == 1:
		return nil, fmt.Errorf("radacct, acctuniqueid %s: %w", ids[0], err)
	case err != nil:
		return nil, fmt.Errorf("radacct: %w", err)
	}
	return stored, nil
}

// readReloads returns when the NASes of these sessions were restarted.
func (s *store) readReloads(ctx context.Context, tx *sqlx.Tx, sessions []acct.Session) (map[string][]int64, error) {
	if s.reloads == nil {
		return nil, nil
	}
	var nases []string
	for i := range sessions {
		nases = append(nases, sessions[i].NASAddr)
	}
	slices.Sort(nases)
	nases = slices.Compact(nases)
	history := make(map[string][]int64)
	var nas string
	var at int64
	err := acct.Each(ctx, tx, s.d, s.reloads, nases, []any{&nas, &at}, func() { history[nas] = append(history[nas], at) })
	return history, err
}

// writeReload remembers that a NAS was restarted, and closes the sessions that
// had started by then: those that are open, and those that a later restart had
// closed, which this one ended earlier.
func (s *store) writeReload(ctx context.Context, tx *sqlx.Tx, r acct.Reload) error {
	exec := func(query string, args ...any) error {
		_, err := tx.ExecContext(ctx, s.db.Write.Rebind(query), args...)
		return err
	}
	if s.history {
		if err := acct.Remember(ctx, tx, r); err != nil {
			return err
		}
	}
	if s.l.nasReload {
		if err := s.writeNASReload(ctx, tx, r); err != nil {
			return err
		}
	}
	stop, nas := s.l.column("radacct", "acctstoptime"), s.l.column("radacct", "nasipaddress")
	set := `UPDATE radacct SET acctstoptime = ` + s.d.Moment("?", stop)
	args := []any{r.At}
	if s.l.cause {
		set += `, acctterminatecause = ?`
		args = append(args, acct.NASReboot)
	}
	set += ` WHERE nasipaddress = ` + s.d.Stored("?", nas) + ` AND ` + s.d.Seconds(s.l.column("radacct", "acctstarttime")) + ` <= ?`
	args = append(args, r.NAS, r.At)
	if err := s.leases.reload(ctx, tx, r); err != nil {
		return err
	}
	if err := exec(set+` AND acctstoptime IS NULL`, args...); err != nil {
		return err
	}
	if !s.l.cause {
		return nil
	}
	// The first condition is for an index, the second is exact for every type.
	return exec(set+` AND acctstoptime > `+s.d.Moment("?", stop)+` AND `+s.d.Seconds(stop)+` > ? AND acctterminatecause = ?`,
		append(args, r.At, r.At, acct.NASReboot)...)
}

// writeNASReload keeps the newest reload where FreeRADIUS does.
func (s *store) writeNASReload(ctx context.Context, tx *sqlx.Tx, r acct.Reload) error {
	at, nas := s.l.column("nasreload", "reloadtime"), s.d.Stored("?", s.l.column("nasreload", "nasipaddress"))
	var known []int64
	if err := tx.SelectContext(ctx, &known, s.db.Write.Rebind(
		`SELECT COALESCE(`+s.d.Seconds(at)+`, 0) FROM nasreload WHERE nasipaddress = `+nas), r.NAS); err != nil {
		return err
	}
	query := `INSERT INTO nasreload (reloadtime, nasipaddress) VALUES (` + s.d.Moment("?", at) + `, ` + nas + `)`
	if len(known) > 0 {
		if known[0] >= r.At {
			return nil
		}
		query = `UPDATE nasreload SET reloadtime = ` + s.d.Moment("?", at) + ` WHERE nasipaddress = ` + nas
	}
	_, err := tx.ExecContext(ctx, s.db.Write.Rebind(query), r.At, r.NAS)
	return err
}
