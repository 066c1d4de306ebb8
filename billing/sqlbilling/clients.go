package sqlbilling

import (
	"context"
	"fmt"
	"net/netip"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/radpool"
)

// Clients reads the table nas, as FreeRADIUS does with read_clients: nasname is an
// address, a network in CIDR form or the name of a host, of which every address is a
// client; shortname is its name. A row that cannot be used, as one without a secret,
// is named in the log and left out; of several for one address or network that with
// the lowest id is used. An error is one of the database, or that it has no such
// table; it leaves out what was read, so that nothing is replaced by a part.
func (b *Backend) Clients(ctx context.Context) ([]radpool.Client, error) {
	return b.readClients(ctx, func(id int64, err error) {
		b.opts.Logger.Warn("a row of nas is left out", zap.String("database", b.db.Label), zap.Int64("id", id), zap.Error(err))
	})
}

// readClients is Clients, which calls leftOut for each row that cannot be used.
func (b *Backend) readClients(ctx context.Context, leftOut func(id int64, err error)) ([]radpool.Client, error) {
	if lacking := b.lackingNAS(); lacking != "" {
		return nil, fmt.Errorf("sqlbilling: %s: there is no column %s", b.db.Label, lacking)
	}
	var rows []struct {
		ID     int64  `db:"id"`
		Name   string `db:"nasname"`
		Short  string `db:"shortname"`
		Secret string `db:"secret"`
	}
	if err := b.db.Write.SelectContext(ctx, &rows, "SELECT id, nasname, COALESCE(shortname, '') AS shortname, "+
		"COALESCE(secret, '') AS secret FROM nas ORDER BY id"); err != nil {
		return nil, b.named(err)
	}
	var list []radpool.Client
	var nases acct.NASes
	for _, r := range rows {
		var wrong error
		if r.Secret == "" {
			wrong = fmt.Errorf("%.64q has no secret", r.Name)
		}
		nases.Each(ctx, r.Name, wrong, func(p netip.Prefix) {
			list = append(list, radpool.Client{Prefix: p, Name: r.Short, Secret: []byte(r.Secret)})
		}, func(err error) { leftOut(r.ID, err) })
	}
	return list, nil
}

// lackingNAS is a column of nas that is needed and missing, or nothing.
func (b *Backend) lackingNAS() string {
	for _, column := range []string{"id", "nasname", "shortname", "secret"} {
		if _, ok := b.now().l.tables.Column("nas", column); !ok {
			return "nas." + column
		}
	}
	return ""
}
