package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

// openLater opens a database, or, where its server is away, does so when it is there:
// until then there is no answer to an Access-Request, and accounting is in the journal.
// Who ends sessions (-coa) asks the database for them, so that it must be there at the start.
func openLater(
	ctx context.Context, o *options, log *zap.Logger, open func(context.Context, *options, *zap.Logger) (*backend, error),
) (*backend, error) {
	named := func(err error) error { return fmt.Errorf("-db %s: %w", o.database(), err) }
	if o.coa {
		b, err := open(ctx, o, log)
		if err != nil {
			return nil, named(err)
		}
		return b, nil
	}
	var db atomic.Pointer[backend]
	later, err := billing.OpenLater(ctx, func(ctx context.Context) (billing.BatchHandler, error) {
		b, err := open(ctx, o, log)
		if err != nil {
			return nil, named(err)
		}
		h, ok := b.handler.(billing.BatchHandler)
		if !ok {
			return nil, fmt.Errorf("%T takes no batches", b.handler)
		}
		db.Store(b)
		return h, nil
	}, log)
	if err != nil {
		return nil, err
	}
	b := &backend{handler: later, close: later.Close, ready: later.Ready()}
	b.nas = func(ctx context.Context) ([]radpool.Client, error) {
		if b := db.Load(); b != nil {
			return b.nas(ctx)
		}
		return nil, fmt.Errorf("the clients of the database: %w", billing.ErrAway)
	}
	b.figures = func() []status.Figure {
		if b := db.Load(); b != nil {
			return b.shown()
		}
		return nil
	}
	return b, nil
}
