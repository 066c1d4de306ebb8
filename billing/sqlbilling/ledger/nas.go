package ledger

import (
	"context"
	"fmt"
	"io"
	"net/netip"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/radpool"
)

// A NAS is a row of radpool_nas.
type NAS struct {
	Prefix    netip.Prefix // of an address or a network
	Name      string
	Vendor    string
	Secret    []byte // of its requests; empty: it may not send any by this row
	CoAPort   int    // where it listens for CoA-Requests; 0: not said
	CoASecret []byte // of CoA-Requests; empty: Secret
}

// String returns name and prefix, and no secret.
func (n NAS) String() string { return n.Client().String() }

// Format prints what String returns, whatever the verb.
func (n NAS) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, n.String()) }

// Client is n as one that may send requests.
func (n *NAS) Client() radpool.Client {
	return radpool.Client{Prefix: n.Prefix, Name: n.Name, Secret: n.Secret}
}

// NASes reads the table radpool_nas, whose address is an address, a network in
// CIDR form or the name of a host. A row that cannot be used is named in the log and left out. An error is the
// database's; it leaves out what was read, so that nothing is replaced by a part.
func (b *Backend) NASes(ctx context.Context) ([]NAS, error) {
	return b.nases(ctx, func(address string, err error) {
		b.opts.Logger.Warn("a row of radpool_nas is left out", zap.String("database", b.db.Label), zap.String("address", address), zap.Error(err))
	})
}

// nases is NASes, which calls leftOut for each row that cannot be used.
func (b *Backend) nases(ctx context.Context, leftOut func(address string, err error)) ([]NAS, error) {
	var rows []struct {
		Address   string `db:"address"`
		Name      string `db:"name"`
		Vendor    string `db:"vendor"`
		Secret    string `db:"secret"`
		CoAPort   int64  `db:"coa_port"`
		CoASecret string `db:"coa_secret"`
	}
	if err := b.db.Write.SelectContext(ctx, &rows, "SELECT address, name, vendor, secret, coa_port, coa_secret FROM radpool_nas ORDER BY address"); err != nil {
		return nil, b.named(fmt.Errorf("radpool_nas: %w", err))
	}
	var list []NAS
	var nases acct.NASes
	for _, r := range rows {
		var wrong error
		if r.CoAPort < 0 || r.CoAPort > 65535 {
			wrong = fmt.Errorf("coa_port is %d, must be 0 to 65535", r.CoAPort)
		}
		nases.Each(ctx, r.Address, wrong, func(p netip.Prefix) {
			list = append(list, NAS{p, r.Name, r.Vendor, []byte(r.Secret), int(r.CoAPort), []byte(r.CoASecret)})
		}, func(err error) { leftOut(r.Address, err) })
	}
	return list, nil
}
