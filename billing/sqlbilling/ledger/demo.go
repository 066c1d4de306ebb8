package ledger

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// EnsureDemo fills a database that has no subscriber with n of them, at most
// 16,777,214, and returns how many were added; 0 where there is any subscriber. They
// are those of sqlbilling's EnsureDemo, on a tariff "demo" that costs nothing.
func (b *Backend) EnsureDemo(ctx context.Context, n int) (added int, err error) {
	return group.EnsureDemo(ctx, "ledger", b.db, b.d, b.opts.WriteTimeout, n, func(tx *sqlx.Tx) (int, error) {
		return b.addDemo(ctx, tx, n)
	})
}

func (b *Backend) addDemo(ctx context.Context, tx *sqlx.Tx, n int) (int, error) {
	if b.d.OwnReloads != "" { // whoever does this at the same time waits
		if _, err := tx.ExecContext(ctx, b.d.OwnReloads); err != nil {
			return 0, err
		}
	}
	if some, err := anySubscriber(ctx, tx); err != nil || some || n == 0 {
		return 0, err
	}
	w := inserter{ctx: ctx, tx: tx}
	w.insert("radpool_tariff", "name, profile", "demo", "demo")
	w.insert("radpool_profile", "profile, position, attribute, value", "demo", 1, "Reply-Message", "hello")
	w.insert("radpool_profile", "profile, position, attribute, value", "demo", 2, "Session-Timeout", "3600")
	for i := range n {
		user, password, addr := group.Demo(i)
		w.insert("radpool_subscriber", "username, password, tariff, profile", user, password, "demo", user)
		w.insert("radpool_profile", "profile, position, attribute, value", user, 1, "Framed-IP-Address", addr)
	}
	return n, w.err
}
