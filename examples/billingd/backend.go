package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	_ "github.com/radpool/radpool/billing/sqlbilling/mysql"    // -db mysql:DSN
	_ "github.com/radpool/radpool/billing/sqlbilling/postgres" // -db postgres://...
	_ "github.com/radpool/radpool/billing/sqlbilling/sqlite"   // -db sqlite:FILE
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/metrics"
	"github.com/radpool/radpool/radpool/status"
)

// backend is the billing system that the flags chose.
type backend struct {
	handler billing.Handler
	close   func() error
	nas     func(context.Context) ([]radpool.Client, error) // the table; nil: there is none
	ready   <-chan struct{}                                 // closed when the database is there; nil: it is
	ledger  func() *ledger.Backend                          // radpool's own schema, nil while it is away; nil: another one
	ping    func(context.Context) error                     // asks the database for a sign of life; nil: there is none
	figures func() []status.Figure                          // for the status page; nil: there are none
	metrics []metrics.Source                                // for Prometheus and expvar
}

// shown are the figures of now.
func (b *backend) shown() []status.Figure {
	if b.figures == nil {
		return nil
	}
	return b.figures()
}

func openBackend(ctx context.Context, o *options, log *zap.Logger) (*backend, error) {
	var b *backend
	if o.memoryUsers > 0 {
		b = &backend{handler: memory(o.memoryUsers), close: func() error { return nil }}
	} else {
		var err error
		if b, err = openLater(ctx, o, log); err != nil {
			return nil, err
		}
	}
	if o.backendDelay > 0 {
		b.handler = &slow{Handler: b.handler, delay: o.backendDelay, every: uint64(o.delayEvery)}
	}
	if o.journal == "" && o.lastGrant == 0 {
		return b, nil
	}
	with, err := withJournal(ctx, b, o, log)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return with, nil
}

// withJournal puts a journal before the back end.
func withJournal(ctx context.Context, b *backend, o *options, log *zap.Logger) (*backend, error) {
	j, err := journal.Open(ctx, o.journal, b.handler, journal.Options{GrantAge: o.lastGrant, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("-journal %s: %w", o.journal, err)
	}
	if o.retryParked {
		n, err := j.RetryParked(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("-retry-parked: %w", err), j.Close())
		}
		log.Info("records that were put aside are tried again", zap.Int("records", n))
	}
	// The journal first: it gives the back end what it has.
	return &backend{
		handler: j.Handler(), nas: b.nas, ready: b.ready, ledger: b.ledger, ping: b.ping,
		close:   func() error { return errors.Join(j.Close(), b.close()) },
		figures: func() []status.Figure { return append(journalFigures(j.Stats(), time.Now()), b.shown()...) },
		metrics: append(b.metrics, j.Metrics()),
	}, nil
}

// openSQL opens the database, creates it when it is missing, and fills it with
// demo users when it has no subscriber.
func openSQL(ctx context.Context, o *options, log *zap.Logger) (*database, error) {
	opts := sqlbilling.Options{Logger: log, Readers: o.readers, LeaseTime: o.leaseTime, StorePasswords: o.passwords}
	o.takeRules(&opts)
	if !o.postAuth {
		opts.PostAuthBuffer = -1
	}
	if !o.given["readers"] {
		opts.Readers, opts.Writers = shareConns(o.conns)
	}
	var err error
	if opts.Dictionary, opts.DictionaryFile, err = o.dictionaryFile(); err != nil {
		return nil, err
	}
	db, err := sqlbilling.Open(ctx, o.db, opts)
	if err != nil {
		return nil, err
	}
	if err := fill(ctx, db, o, log); err != nil {
		return nil, err
	}
	return &database{BatchHandler: db, nas: db.Clients, ping: db.Ping, standard: db}, nil
}

// fill adds demo users where there is no subscriber. With an error it closes db.
func fill(ctx context.Context, db interface {
	EnsureDemo(ctx context.Context, n int) (added int, err error)
	Close() error
}, o *options, log *zap.Logger,
) error {
	n, err := db.EnsureDemo(ctx, o.demo)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if n > 0 {
		log.Info("the database had no subscriber: added demo users", zap.Int("users", n), zap.String("first", "user0/pass0"))
	}
	return nil
}

// memory is n subscribers user0/pass0 ... without a database.
func memory(n int) billing.Handler {
	m := billing.NewMemory(0)
	for i := range n {
		addr := netip.AddrFrom4([4]byte{10, byte((i + 1) >> 16), byte((i + 1) >> 8), byte(i + 1)})
		var reply radius.Attributes
		reply.Add(rfc2865.ReplyMessage_Type, radius.Attribute("hello"))
		reply.Add(rfc2865.SessionTimeout_Type, radius.NewInteger(3600))
		reply.Add(rfc2865.FramedIPAddress_Type, addr.AsSlice())
		m.Put(fmt.Sprintf("user%d", i), billing.Grant{Password: billing.Cleartext(fmt.Sprintf("pass%d", i)), Reply: reply})
	}
	return m
}

// slow makes one in so many Authorizes of a Handler wait, as a core behind a slow
// database does. It is no billing.BatchHandler, even if the Handler is: the core of the
// picture answers one request at a time.
type slow struct {
	billing.Handler
	delay time.Duration
	every uint64
	count atomic.Uint64
}

func (s *slow) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	if s.count.Add(1)%s.every != 0 {
		return s.Handler.Authorize(ctx, req)
	}
	t := time.NewTimer(s.delay)
	defer t.Stop()
	select {
	case <-t.C:
		return s.Handler.Authorize(ctx, req)
	case <-ctx.Done():
		return billing.Grant{}, ctx.Err()
	}
}

// PostAuth tells the Handler, which would not hear of it through the embedding.
func (s *slow) PostAuth(res *billing.AuthResult) {
	billing.TellPostAuth(s.Handler, res)
}

// LeaseAddresses asks the Handler, likewise.
func (s *slow) LeaseAddresses(ctx context.Context, leases []*billing.AddressLease) {
	billing.LeaseAll(ctx, s.Handler, leases)
}
