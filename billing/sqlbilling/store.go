package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// maxReloads is how many reloads of one NAS are remembered. What is forgotten
// matters only to records of sessions from before that many reboots.
const maxReloads = 32

// A reload is an Accounting-On or Accounting-Off: the NAS lost its sessions.
type reload struct {
	nas string
	at  int64
}

// A store writes accounting in transactions. It belongs to the writer's
// goroutine; nothing of it may be used by two at once.
type store struct {
	db *dialect.DB
	d  *dialect.Dialect
	l  layout

	history bool // radpool_reload is there

	find, insert, update, updateHot *sqlx.Stmt
	reloads                         *sqlx.Stmt
}

func newStore(ctx context.Context, db *dialect.DB, d *dialect.Dialect, l layout, history bool) (*store, error) {
	s := &store{db: db, d: d, l: l, history: history}
	table := ""
	switch {
	case history:
		table = "radpool_reload"
	case l.nasReload:
		table = "nasreload"
	}
	for _, p := range []struct {
		stmt **sqlx.Stmt
		text string
	}{
		{&s.find, l.selectSQL(d)},
		{&s.insert, l.insertSQL()},
		{&s.update, l.updateSQL(false)},
		{&s.updateHot, l.updateSQL(true)},
		{&s.reloads, reloadsSQL(d, table)},
	} {
		if p.text == "" {
			continue
		}
		var err error
		if *p.stmt, err = db.Write.PreparexContext(ctx, db.Write.Rebind(p.text)); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func reloadsSQL(d *dialect.Dialect, table string) string {
	if table == "" {
		return ""
	}
	seconds := "reloadtime"
	if table == "nasreload" {
		seconds = d.Seconds(seconds)
	}
	return "SELECT nasipaddress, " + seconds + " FROM " + table + " WHERE " + d.In("nasipaddress")
}

func (s *store) close() error {
	var errs []error
	for _, stmt := range []*sqlx.Stmt{s.find, s.insert, s.update, s.updateHot, s.reloads} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// write stores sessions, which must be distinct and sorted by uniqueID, and
// reloads, all of it or nothing: nil means durable. It returns how many rows were
// written.
func (s *store) write(ctx context.Context, sessions []session, reloads []reload) (rows int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx = s.db.Context(ctx)
	tx, err := s.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
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

func (s *store) writeSessions(ctx context.Context, tx *sqlx.Tx, sessions []session) (rows int, err error) {
	stored, err := s.read(ctx, tx, sessions)
	if err != nil {
		return 0, err
	}
	history, err := s.readReloads(ctx, tx, sessions)
	if err != nil {
		return 0, err
	}
	for i := range sessions {
		merged := sessions[i]
		s.l.restrict(&merged)
		old, exists := stored[merged.uniqueID]
		if exists {
			merged.merge(&old)
		}
		merged.reboot(history[merged.nasAddr])
		s.l.restrict(&merged)
		switch {
		case !exists:
			_, err = tx.Stmtx(s.insert).ExecContext(ctx, s.l.args(&merged, s.d, false)...)
		case merged == old:
			continue // a duplicate, or older than what is known
		case s.updateHot != nil && s.l.onlyHot(merged, old):
			_, err = tx.Stmtx(s.updateHot).ExecContext(ctx, append(s.l.args(&merged, s.d, true), old.id)...)
		default:
			_, err = tx.Stmtx(s.update).ExecContext(ctx, append(s.l.args(&merged, s.d, false), old.id)...)
		}
		if err != nil {
			return 0, err
		}
		rows++
	}
	return rows, nil
}

// read returns the rows of these sessions. Where a database without a unique
// index has several rows of one session, the oldest is the one that counts.
func (s *store) read(ctx context.Context, tx *sqlx.Tx, sessions []session) (map[string]session, error) {
	ids := make([]string, len(sessions))
	for i := range sessions {
		ids[i] = sessions[i].uniqueID
	}
	rows, err := tx.Stmtx(s.find).QueryxContext(ctx, s.d.List(ids))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	stored := make(map[string]session, len(sessions))
	var row session
	dest := s.l.scan(&row)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, fmt.Errorf("radacct: %w", err)
		}
		if _, there := stored[row.uniqueID]; !there {
			stored[row.uniqueID] = row
		}
	}
	return stored, rows.Err()
}

// readReloads returns when the NASes of these sessions were restarted.
func (s *store) readReloads(ctx context.Context, tx *sqlx.Tx, sessions []session) (map[string][]int64, error) {
	if s.reloads == nil {
		return nil, nil
	}
	var nases []string
	for i := range sessions {
		nases = append(nases, sessions[i].nasAddr)
	}
	slices.Sort(nases)
	nases = slices.Compact(nases)
	rows, err := tx.Stmtx(s.reloads).QueryxContext(ctx, s.d.List(nases))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	history := make(map[string][]int64)
	for rows.Next() {
		var nas string
		var at int64
		if err := rows.Scan(&nas, &at); err != nil {
			return nil, err
		}
		history[nas] = append(history[nas], at)
	}
	return history, rows.Err()
}

// writeReload remembers that a NAS was restarted, and closes the sessions that
// had started by then: those that are open, and those that a later restart had
// closed, which this one ended earlier.
func (s *store) writeReload(ctx context.Context, tx *sqlx.Tx, r reload) error {
	exec := func(query string, args ...any) error {
		_, err := tx.ExecContext(ctx, s.db.Write.Rebind(query), args...)
		return err
	}
	if s.history {
		var known int
		if err := tx.GetContext(ctx, &known, s.db.Write.Rebind(
			`SELECT COUNT(*) FROM radpool_reload WHERE nasipaddress = ? AND reloadtime = ?`), r.nas, r.at); err != nil {
			return err
		}
		if known == 0 {
			if err := exec(`INSERT INTO radpool_reload (nasipaddress, reloadtime) VALUES (?, ?)`, r.nas, r.at); err != nil {
				return err
			}
		}
		if err := s.forget(ctx, tx, r.nas); err != nil {
			return err
		}
	}
	if s.l.nasReload {
		if err := s.writeNASReload(ctx, tx, r); err != nil {
			return err
		}
	}
	set := `UPDATE radacct SET acctstoptime = ?`
	args := []any{s.d.Time(r.at)}
	cause := slices.ContainsFunc(s.l.columns, func(c column) bool { return c.name == "acctterminatecause" })
	if cause {
		set += `, acctterminatecause = ?`
		args = append(args, nasReboot)
	}
	set += ` WHERE nasipaddress = ? AND ` + s.d.Seconds("acctstarttime") + ` <= ?`
	args = append(args, r.nas, r.at)
	if err := exec(set+` AND acctstoptime IS NULL`, args...); err != nil {
		return err
	}
	if !cause {
		return nil
	}
	// The first condition is for an index, the second is exact for every type.
	return exec(set+` AND acctstoptime > ? AND `+s.d.Seconds("acctstoptime")+` > ? AND acctterminatecause = ?`,
		append(args, s.d.Time(r.at), r.at, nasReboot)...)
}

// forget keeps the newest maxReloads of a NAS.
func (s *store) forget(ctx context.Context, tx *sqlx.Tx, nas string) error {
	var times []int64
	if err := tx.SelectContext(ctx, &times, s.db.Write.Rebind(
		`SELECT reloadtime FROM radpool_reload WHERE nasipaddress = ? ORDER BY reloadtime DESC`), nas); err != nil {
		return err
	}
	if len(times) <= maxReloads {
		return nil
	}
	_, err := tx.ExecContext(ctx, s.db.Write.Rebind(
		`DELETE FROM radpool_reload WHERE nasipaddress = ? AND reloadtime <= ?`), nas, times[maxReloads])
	return err
}

// writeNASReload keeps the newest reload where FreeRADIUS does.
func (s *store) writeNASReload(ctx context.Context, tx *sqlx.Tx, r reload) error {
	var known []int64
	if err := tx.SelectContext(ctx, &known, s.db.Write.Rebind(
		`SELECT COALESCE(`+s.d.Seconds("reloadtime")+`, 0) FROM nasreload WHERE nasipaddress = ?`), r.nas); err != nil {
		return err
	}
	query := `INSERT INTO nasreload (reloadtime, nasipaddress) VALUES (?, ?)`
	if len(known) > 0 {
		if known[0] >= r.at {
			return nil
		}
		query = `UPDATE nasreload SET reloadtime = ? WHERE nasipaddress = ?`
	}
	_, err := tx.ExecContext(ctx, s.db.Write.Rebind(query), s.d.Time(r.at), r.nas)
	return err
}

// sortSessions puts sessions in the order in which everybody locks rows, so that
// two writers cannot wait for each other.
func sortSessions(sessions []session) {
	slices.SortFunc(sessions, func(a, b session) int { return strings.Compare(a.uniqueID, b.uniqueID) })
}
