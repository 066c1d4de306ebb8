package group

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// mostDemo is how many addresses there are in 10.0.0.0/8 for demo subscribers.
const mostDemo = 1<<24 - 2

// EnsureDemo has fill add n demo subscribers in a transaction, again for as long as
// patience where another process has the database locked. fill returns how many it
// has added: none where there is any subscriber. An error begins with name.
func EnsureDemo(
	ctx context.Context, name string, db *dialect.DB, d *dialect.Dialect, patience time.Duration, n int, fill func(*sqlx.Tx) (int, error),
) (added int, err error) {
	if n < 0 || n > mostDemo {
		return 0, fmt.Errorf("%s: %d demo subscribers, must be 0 to %d", name, n, mostDemo)
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = Patiently(limit, d, nil, func() error {
		tx, err := db.Write.BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if added, err = fill(tx); err != nil || added == 0 {
			return err
		}
		return tx.Commit()
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %s: %w", name, db.Label, err)
	}
	return added, nil
}

// Demo is the name, the password and the address of demo subscriber i.
func Demo(i int) (user, password, addr string) {
	ip := netip.AddrFrom4([4]byte{10, byte((i + 1) >> 16), byte((i + 1) >> 8), byte(i + 1)})
	return fmt.Sprintf("user%d", i), fmt.Sprintf("pass%d", i), ip.String()
}
