package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// A store writes accounting in transactions. It belongs to one goroutine of the
// writer.
type store struct {
	*Backend
	quiet group.EverySecond // of tariffs that cannot be used

	sessions, reloads, subscribers, tariffs, days *sqlx.Stmt

	newSession, oldSession, entry, balance, used *insert
}

func newStore(ctx context.Context, b *Backend) (*store, error) {
	s := &store{Backend: b}
	columns := make([]string, len(sessionColumns))
	for i, c := range sessionColumns {
		columns[i] = "radpool_session." + c
	}
	for stmt, query := range map[**sqlx.Stmt]string{
		&s.sessions: "SELECT " + strings.Join(columns, ", ") + " FROM " + b.among("radpool_session", "unique_id") + b.d.ForUpdate,
		&s.reloads: "SELECT radpool_reload.nasipaddress, radpool_reload.reloadtime FROM " +
			b.among("radpool_reload", "nasipaddress"),
		&s.subscribers: "SELECT radpool_subscriber.username, radpool_subscriber.tariff FROM " +
			b.among("radpool_subscriber", "username"),
		&s.tariffs: tariffSQL,
		&s.days: "SELECT radpool_ledger.username, radpool_ledger.reference FROM " + b.among("radpool_ledger", "username") +
			" AND radpool_ledger.reference >= ? AND radpool_ledger.reference <= ?",
	} {
		var err error
		if *stmt, err = b.db.Write.PreparexContext(ctx, b.db.Write.Rebind(query)); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	typed := make([]string, len(sessionColumns))
	for i, p := range new(row).fields() {
		typed[i] = sessionColumns[i]
		if _, text := p.(*string); text {
			typed[i] = "$" + typed[i]
		}
	}
	for in, what := range map[**insert]struct {
		table   string
		columns []string
		tail    string
	}{
		&s.newSession: {"radpool_session", typed, ""},
		&s.oldSession: {"radpool_session", typed, b.f.upsert("radpool_session", "unique_id", sessionColumns[1:]...)},
		&s.entry:      {"radpool_ledger", []string{"$username", "$reference", "at", "amount"}, ""},
		&s.balance:    {"radpool_balance", []string{"$username", "balance"}, b.f.upsert("radpool_balance", "username", "+balance")},
		&s.used:       {"radpool_usage", []string{"$username", "month", "octets"}, b.f.upsert("radpool_usage", "username, month", "+octets")},
	} {
		var err error
		if *in, err = b.prepareInsert(ctx, what.table, what.columns, what.tail); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *store) close() error {
	statements := []*sqlx.Stmt{s.sessions, s.reloads, s.subscribers, s.tariffs, s.days}
	for _, i := range []*insert{s.newSession, s.oldSession, s.entry, s.balance, s.used} {
		if i != nil {
			statements = append(statements, i.stmt)
		}
	}
	var errs []error
	for _, stmt := range statements {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// write stores items and what they cost, all of it or nothing: nil means durable.
// It returns how many sessions were written.
func (s *store) write(ctx context.Context, items []*group.Item[acct.Record]) (rows int, err error) {
	tx, err := s.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	records := make([]*acct.Record, len(items))
	for i, it := range items {
		records[i] = &it.Value
	}
	sessions, reloads := acct.Coalesce(records)
	lock := s.d.ShareReloads
	if len(reloads) > 0 {
		lock = s.d.OwnReloads
	}
	if lock != "" {
		if _, err := tx.ExecContext(ctx, lock); err != nil {
			return 0, err
		}
	}
	for _, r := range reloads {
		if err := s.reload(ctx, tx, r); err != nil {
			return 0, err
		}
	}
	c := newChange(s, tx)
	if len(sessions) > 0 {
		if rows, err = c.apply(ctx, sessions, records); err != nil {
			return 0, err
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	c.tell()
	return rows, nil
}

// reload remembers that a NAS was restarted, and closes the sessions that had
// started by then: those that are open, and those that a later restart had closed.
// What they cost does not change: time and octets stay what was last reported.
func (s *store) reload(ctx context.Context, tx *sqlx.Tx, r acct.Reload) error {
	if err := acct.Remember(ctx, tx, r); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, tx.Rebind(`UPDATE radpool_session SET stop_time = ?, terminate_cause = ?
		WHERE nas_address = ? AND start_time <= ? AND (stop_time = 0 OR stop_time > ? AND terminate_cause = ?)`),
		r.At, acct.NASReboot, r.NAS, r.At, r.At, acct.NASReboot)
	return err
}

// history returns when the NASes of these sessions were restarted.
func (s *store) history(ctx context.Context, tx *sqlx.Tx, sessions []acct.Session) (map[string][]int64, error) {
	var nases []string
	for i := range sessions {
		nases = append(nases, sessions[i].NASAddr)
	}
	slices.Sort(nases)
	history := make(map[string][]int64)
	var nas string
	var at int64
	err := acct.Each(ctx, tx, s.d, s.reloads, slices.Compact(nases), []any{&nas, &at}, func() { history[nas] = append(history[nas], at) })
	return history, err
}

// complain logs what is wrong with a tariff, once a second at most. Sessions are
// stored without a price until it is right, and then cost all that they owe.
func (s *store) complain(err error) {
	if s.quiet.Allows(time.Now()) {
		s.opts.Logger.Error("a tariff cannot be used: its sessions cost nothing until it is right", zap.Error(err))
	}
}
