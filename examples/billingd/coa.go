package main

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

// A dynamicAuthorization asks NASes to change and end sessions in progress (-coa), as
// soon as the database is there.
type dynamicAuthorization struct {
	controller atomic.Pointer[coa.Controller] // nil: the database is away
	client     *coa.Client
	nases      *nasTable
	ledger     func() *ledger.Backend
	log        *zap.Logger
}

// startCoA starts it, or leaves that to read where the database is away. A NAS is asked
// under the secret of its requests, unless radpool_nas says another.
func startCoA(ctx context.Context, o *options, b *backend, clients *radpool.Clients, log *zap.Logger) (*dynamicAuthorization, error) {
	d := &dynamicAuthorization{ledger: b.ledger, nases: &nasTable{clients: clients, port: o.coaPort}, log: log}
	var err error
	if d.client, err = coa.NewClient(coa.ClientConfig{Find: d.nases.find}); err != nil {
		return nil, err
	}
	if err := d.read(ctx); err != nil {
		return nil, errors.Join(err, d.client.Close())
	}
	return d, nil
}

// read reads radpool_nas, and starts the Controller the first time. It does nothing while
// the database is away. One goroutine may call it.
func (d *dynamicAuthorization) read(ctx context.Context) error {
	db := d.ledger()
	if db == nil {
		return nil
	}
	list, err := db.NASes(ctx)
	if err != nil {
		return err
	}
	rows := make(map[netip.Prefix]*ledger.NAS, len(list))
	for i := range list {
		rows[list[i].Prefix] = &list[i]
	}
	d.nases.rows.Store(&rows)
	if d.controller.Load() != nil {
		return nil
	}
	controller, err := coa.Start(coa.Config{Store: db, NAS: d.client, Logger: d.log})
	if err != nil {
		return err
	}
	d.controller.Store(controller)
	db.Watch(controller.Wake)
	return nil
}

// stats are those of the Controller, zero before it is started.
func (d *dynamicAuthorization) stats() (st coa.Stats) {
	if c := d.controller.Load(); c != nil {
		st = c.Stats()
	}
	return st
}

// close ends it, before the back end is closed, and when nobody calls read any more.
func (d *dynamicAuthorization) close() {
	if c := d.controller.Load(); c != nil {
		d.ledger().Watch(nil)
		c.Close()
	}
	_ = d.client.Close() // always nil
	st := d.stats()
	d.log.Info("sessions in progress", zap.Uint64("changed", st.Changes), zap.Uint64("disconnected", st.Disconnects), zap.Uint64("refused", st.Refused),
		zap.Uint64("not_found", st.NotFound), zap.Uint64("silence", st.Silence), zap.Uint64("unreachable", st.Unreachable))
}

// A nasTable says where NASes listen for CoA-Requests.
type nasTable struct {
	clients *radpool.Clients
	port    int // of -coa-port; 0: by vendor
	rows    atomic.Pointer[map[netip.Prefix]*ledger.NAS]
}

// find is where the NAS of a session listens.
func (n *nasTable) find(s *coa.Session) (coa.Target, bool) {
	addr := s.NASAddr.Unmap()
	client, known := n.clients.Lookup(addr)
	row := (*n.rows.Load())[netip.PrefixFrom(addr, max(addr.BitLen(), 0))]
	if row == nil && known {
		row = (*n.rows.Load())[client.Prefix]
	}
	t := coa.Target{Secret: client.Secret}
	vendor, port := s.Vendor, n.port
	if row != nil {
		vendor = row.Vendor
		if len(row.CoASecret) > 0 {
			t.Secret = row.CoASecret
		}
		if row.CoAPort > 0 {
			port = row.CoAPort
		}
	}
	var usual int
	t.Profile, usual = profileOf(vendor)
	if port == 0 {
		port = usual
	}
	t.Addr = netip.AddrPortFrom(addr, uint16(port))
	return t, addr.IsValid() && len(t.Secret) > 0
}

// profileOf is what NASes of a vendor know a session by, and where they listen.
func profileOf(vendor string) (p radclient.Profile, port int) {
	switch v := strings.ToLower(vendor); {
	case v == "mikrotik":
		return radclient.MikroTik, radclient.PortCoA
	case v == "cisco":
		return radclient.Cisco, radclient.PortCoACisco
	case strings.HasPrefix(v, "accel"):
		return radclient.AccelPPP, radclient.PortCoA
	}
	return 0, radclient.PortCoA
}
