package acct

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// maxReloads is how many reloads of one NAS are remembered. What is forgotten
// matters only to records of sessions from before that many reboots.
const maxReloads = 32

// Remember writes a reload into radpool_reload, and forgets the oldest of its NAS.
func Remember(ctx context.Context, tx *sqlx.Tx, r Reload) error {
	var known int
	if err := tx.GetContext(ctx, &known, tx.Rebind(
		`SELECT COUNT(*) FROM radpool_reload WHERE nasipaddress = ? AND reloadtime = ?`), r.NAS, r.At); err != nil {
		return err
	}
	if known == 0 {
		if _, err := tx.ExecContext(ctx, tx.Rebind(`INSERT INTO radpool_reload (nasipaddress, reloadtime) VALUES (?, ?)`), r.NAS, r.At); err != nil {
			return err
		}
	}
	var times []int64
	if err := tx.SelectContext(ctx, &times, tx.Rebind(
		`SELECT reloadtime FROM radpool_reload WHERE nasipaddress = ? ORDER BY reloadtime DESC`), r.NAS); err != nil {
		return err
	}
	if len(times) <= maxReloads {
		return nil
	}
	_, err := tx.ExecContext(ctx, tx.Rebind(
		`DELETE FROM radpool_reload WHERE nasipaddress = ? AND reloadtime <= ?`), r.NAS, times[maxReloads])
	return err
}

// Each runs a statement that ends in Dialect.Among for some values, and calls do
// after each row was read into dest. more are the parameters behind the list. The error is a
// dialect.ErrUnreadable where it is a row that is wrong.
func Each(ctx context.Context, tx *sqlx.Tx, d *dialect.Dialect, stmt *sqlx.Stmt, values []string, dest []any, do func(), more ...any) error {
	size := d.ListLength
	if size == 0 {
		size = len(values)
	}
	for some := range slices.Chunk(values, size) {
		rows, err := tx.Stmtx(stmt).QueryxContext(ctx, append(d.List(some), more...)...)
		if err != nil {
			return err
		}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				if rows.Err() == nil && ctx.Err() == nil { // else they are closed, and it was not the row
					err = fmt.Errorf("%w: %w", dialect.ErrUnreadable, err)
				}
				return errors.Join(err, rows.Close())
			}
			do()
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}
