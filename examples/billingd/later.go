package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/metrics"
	"github.com/radpool/radpool/radpool/status"
)

// A database is one that is open.
type database struct {
	billing.BatchHandler
	nas      func(context.Context) ([]radpool.Client, error) // the table
	ping     func(context.Context) error
	standard *sqlbilling.Backend // nil: it is the other one
	ledger   *ledger.Backend
}

// openLater opens a database, or, where its server is away, does so when it is there:
// until then there is no answer to an Access-Request, and accounting is in the journal.
func openLater(ctx context.Context, o *options, log *zap.Logger) (*backend, error) {
	open := openSQL
	if o.schema == radpoolSchema {
		open = openLedger
	}
	var now atomic.Pointer[database] // nil: it was not there yet
	later, err := billing.OpenLater(ctx, func(ctx context.Context) (billing.BatchHandler, error) {
		db, err := open(ctx, o, log)
		if err != nil {
			return nil, fmt.Errorf("-db %s: %w", o.database(), err)
		}
		now.Store(db)
		return db.BatchHandler, nil
	}, log)
	if err != nil {
		return nil, err
	}
	b := &backend{handler: later, close: later.Close, ready: later.Ready()}
	b.nas = func(ctx context.Context) ([]radpool.Client, error) {
		if db := now.Load(); db != nil {
			return db.nas(ctx)
		}
		return nil, fmt.Errorf("the clients of the database: %w", billing.ErrAway)
	}
	b.ping = func(ctx context.Context) error {
		if db := now.Load(); db != nil {
			return db.ping(ctx)
		}
		return billing.ErrAway
	}
	if o.schema == radpoolSchema {
		b.ledger = func() *ledger.Backend {
			if db := now.Load(); db != nil {
				return db.ledger
			}
			return nil
		}
		stats := func() (st ledger.Stats) {
			if db := b.ledger(); db != nil {
				st = db.Stats()
			}
			return st
		}
		b.figures = func() []status.Figure { return ledgerFigures(stats()) }
		b.metrics = []metrics.Source{ledger.Metrics(stats)}
		return b, nil
	}
	stats := func() (st sqlbilling.Stats) {
		if db := now.Load(); db != nil {
			st = db.standard.Stats()
		}
		return st
	}
	b.figures = func() []status.Figure { return standardFigures(stats()) }
	b.metrics = []metrics.Source{sqlbilling.Metrics(stats)}
	return b, nil
}
