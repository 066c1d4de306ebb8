package ledger

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// EnsureDemo fills a database that has no subscriber with n of them, at most
// 16,777,214, and returns how many were added; 0 where there is any subscriber. They
// are those of sqlbilling's EnsureDemo, on a tariff "demo" that costs nothing.
func (b *Backend) EnsureDemo(ctx context.Context, n int) (added int, err error) {
	const most = 1<<24 - 2 // addresses in 10.0.0.0/8
	if n < 0 || n > most {
		return 0, fmt.Errorf("ledger: %d demo subscribers, must be 0 to %d", n, most)
	}
	patience, cancel := context.WithTimeout(ctx, b.opts.WriteTimeout)
	defer cancel()
	err = group.Patiently(patience, b.d, nil, func() (err error) {
		added, err = b.ensureDemo(ctx, n)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("ledger: %s: %w", b.db.Label, err)
	}
	return added, nil
}

func (b *Backend) ensureDemo(ctx context.Context, n int) (int, error) {
	tx, err := b.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
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
		user := fmt.Sprintf("user%d", i)
		addr := netip.AddrFrom4([4]byte{10, byte((i + 1) >> 16), byte((i + 1) >> 8), byte(i + 1)})
		w.insert("radpool_subscriber", "username, password, tariff, profile", user, fmt.Sprintf("pass%d", i), "demo", user)
		w.insert("radpool_profile", "profile, position, attribute, value", user, 1, "Framed-IP-Address", addr.String())
	}
	if w.err != nil {
		return 0, w.err
	}
	return n, tx.Commit()
}
