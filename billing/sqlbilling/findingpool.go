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
	column := b.d.Text(f.l.column("radippool", "framedipaddress"))
	var id int64
	var addr string
	each := func(query string, do func() error) error {
		return b.db.EachRow(ctx, "sqlbilling", query, []any{&id, &addr}, do)
	}
	if err := each("SELECT "+f.l.rowID(b.d)+", "+column+" FROM radippool", func() error {
		if a, err := netip.ParseAddr(addr); err == nil && a.Is4() {
			return nil
		}
		return found(Finding{Severity: Wrong, Table: "radippool", ID: id, Reason: fmt.Sprintf("framedipaddress %.64q is not an IPv4 address", addr)})
	}); err != nil {
		return err
	}
	twice := "SELECT MIN(" + f.l.rowID(b.d) + "), " + column + " FROM radippool GROUP BY pool_name, " + column + " HAVING COUNT(*) > 1"
	return each(twice, func() error {
		return found(Finding{Severity: Wrong, Table: "radippool", ID: id, Reason: fmt.Sprintf("framedipaddress %.64q stands in other rows of its pool as well: several subscribers may have it at once", addr)})
	})
}
