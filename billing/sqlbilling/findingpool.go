package sqlbilling

import (
	"context"
	"fmt"
	"net/netip"
)

// checkPool finds rows of radippool that hold no address, and addresses that stand in one
// pool twice: two subscribers would have them at once.
func (b *Backend) checkPool(ctx context.Context, found func(Finding) error) error {
	f := b.now()
	if !f.l.pool {
		return nil
	}
	addr := b.d.Text(f.l.column("radippool", "framedipaddress"))
	if err := b.eachOfPool(ctx, "SELECT "+f.l.rowID(b.d)+", "+addr+" FROM radippool", func(id int64, text string) error {
		if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
			return nil
		}
		return found(Finding{Severity: Wrong, Table: "radippool", ID: id, Reason: fmt.Sprintf("framedipaddress %.64q is not an IPv4 address", text)})
	}); err != nil {
		return err
	}
	twice := "SELECT MIN(" + f.l.rowID(b.d) + "), " + addr + " FROM radippool GROUP BY pool_name, " + addr + " HAVING COUNT(*) > 1"
	return b.eachOfPool(ctx, twice, func(id int64, text string) error {
		return found(Finding{Severity: Wrong, Table: "radippool", ID: id, Reason: fmt.Sprintf("framedipaddress %.64q stands in other rows of its pool as well: several subscribers may have it at once", text)})
	})
}

// eachOfPool calls do with the id and the address of each row of a query.
func (b *Backend) eachOfPool(ctx context.Context, query string, do func(id int64, addr string) error) error {
	rows, err := b.db.Read.QueryContext(ctx, query)
	if err != nil {
		return b.named(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		var addr string
		if err := rows.Scan(&id, &addr); err != nil {
			return b.named(err)
		}
		if err := do(id, addr); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return b.named(err)
	}
	return nil
}
