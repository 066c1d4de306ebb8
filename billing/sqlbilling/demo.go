package sqlbilling

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// EnsureDemo fills a database that has no subscriber with n of them, at most
// 16,777,214, and returns how many were added; 0 where there is any subscriber. They
// are user0 with password pass0 and so on; each gets the Reply-Message "hello", a
// Session-Timeout of 3600 s and a Framed-IP-Address from 10.0.0.1 on.
func (b *Backend) EnsureDemo(ctx context.Context, n int) (added int, err error) {
	return group.EnsureDemo(ctx, "sqlbilling", b.db, b.d, b.opts.WriteTimeout, n, func(tx *sqlx.Tx) (int, error) {
		return b.addDemo(ctx, tx, n)
	})
}

func (b *Backend) addDemo(ctx context.Context, tx *sqlx.Tx, n int) (int, error) {
	if b.d.OwnReloads != "" && b.now().history { // whoever does this at the same time waits
		if _, err := tx.ExecContext(ctx, b.d.OwnReloads); err != nil {
			return 0, err
		}
	}
	var existing int
	if err := tx.GetContext(ctx, &existing, `SELECT COUNT(*) FROM (SELECT username FROM radcheck LIMIT 1) AS one`); err != nil {
		return 0, err
	}
	if existing > 0 || n == 0 {
		return 0, nil
	}
	check, err := tx.PreparexContext(ctx, tx.Rebind(`INSERT INTO radcheck (username, attribute, op, value) VALUES (?, ?, ?, ?)`))
	if err != nil {
		return 0, err
	}
	defer func() { _ = check.Close() }()
	reply, err := tx.PreparexContext(ctx, tx.Rebind(`INSERT INTO radreply (username, attribute, op, value) VALUES (?, ?, ?, ?)`))
	if err != nil {
		return 0, err
	}
	defer func() { _ = reply.Close() }()
	for i := range n {
		user, password, addr := group.Demo(i)
		if _, err := check.ExecContext(ctx, user, "Cleartext-Password", ":=", password); err != nil {
			return 0, err
		}
		for _, a := range [...][2]string{
			{"Reply-Message", "hello"},
			{"Session-Timeout", "3600"},
			{"Framed-IP-Address", addr},
		} {
			if _, err := reply.ExecContext(ctx, user, a[0], ":=", a[1]); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}
