package middleware

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// Names of operations.
const (
	OpRequest   = "radius.request"    // one request, from the worker to the reply
	OpAuthorize = "billing.authorize" // one question to the back end
	OpAccount   = "billing.account"
	OpLease     = "billing.lease"
)

// An Operation is what a [Tracer] is told at its beginning.
type Operation struct {
	Name     string // one of the constants: a bounded set
	Requests int    // how many are asked about at once

	// Request is the one that it is about, or the first of a batch. It is valid until
	// the operation ends, and holds a password: what a trace shows of it is its author's
	// care.
	Request *radpool.Request
}

// A Tracer begins an operation. It returns the context that those inside get, in which it
// may put what they belong to, and a function that is called once when the operation
// ends, with the first error if there is one. Both are called by many goroutines at once.
//
// OpenTelemetry needs no more than this:
//
//	tracer := otel.Tracer("radius")
//	trace := middleware.Tracer(func(ctx context.Context, op middleware.Operation) (context.Context, func(error)) {
//		ctx, span := tracer.Start(ctx, op.Name, trace.WithAttributes(attribute.Int("requests", op.Requests)))
//		return ctx, func(err error) {
//			if err != nil {
//				span.SetStatus(codes.Error, err.Error())
//			}
//			span.End()
//		}
//	})
//	server.Handler = radpool.Chain(&billing.Processor{Handler: billing.Chain(backend, trace.Backend)}, trace.Requests)
type Tracer func(ctx context.Context, op Operation) (context.Context, func(error))

// Backend traces what the back end is asked. A batch is one operation: of several requests
// the context is that of the one that may take longest. It is a billing.Middleware.
func (t Tracer) Backend(h billing.Handler) billing.Handler {
	return billing.Around{
		Authorize: func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error, next billing.AuthorizeFunc) {
			ctx, end := t(ctx, Operation{OpAuthorize, len(reqs), reqs[0].Request})
			err := errPanic
			defer func() { end(err) }()
			next(ctx, reqs, grants, errs)
			err = first(errs)
		},
		Account: func(ctx context.Context, recs []*billing.AccountingRecord, errs []error, next billing.AccountFunc) {
			ctx, end := t(ctx, Operation{OpAccount, len(recs), recs[0].Request})
			err := errPanic
			defer func() { end(err) }()
			next(ctx, recs, errs)
			err = first(errs)
		},
		Lease: func(ctx context.Context, leases []*billing.AddressLease, next billing.LeaseFunc) {
			ctx, end := t(ctx, Operation{OpLease, len(leases), leases[0].Access.Request})
			err := errPanic
			defer func() { end(err) }()
			next(ctx, leases)
			err = nil
			for _, l := range leases {
				if l.Err != nil {
					err = l.Err
					return
				}
			}
		},
	}.Wrap(h)
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Requests traces requests, each by itself, also those of a batch. It is a
// radpool.Middleware that keeps a radpool.BatchHandler one.
func (t Tracer) Requests(h radpool.Handler) radpool.Handler {
	if b, ok := h.(radpool.BatchHandler); ok {
		return tracedBatch{traced{b, t}, b}
	}
	return traced{h, t}
}

type traced struct {
	radpool.Handler
	trace Tracer
}

// Handle traces one request.
func (h traced) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	ctx, end := h.trace(ctx, Operation{OpRequest, 1, req})
	err := errPanic
	defer func() { end(err) }()
	h.Handler.Handle(ctx, req, resp)
	err = resp.Err()
}

type tracedBatch struct {
	traced
	batch radpool.BatchHandler
}

// BatchSize is that of the Handler.
func (h tracedBatch) BatchSize() int { return h.batch.BatchSize() }

// HandleBatch traces each request of a batch.
func (h tracedBatch) HandleBatch(batch []*radpool.Exchange) {
	ends := make([]func(error), len(batch))
	for i, x := range batch {
		x.Ctx, ends[i] = h.trace(x.Ctx, Operation{OpRequest, 1, x.Request})
	}
	panicked := true
	defer func() {
		for i, end := range ends {
			if panicked {
				end(errPanic)
			} else {
				end(batch[i].Response.Err())
			}
		}
	}()
	h.batch.HandleBatch(batch)
	panicked = false
}

var errPanic = errors.New("panic")

// Log is a [Tracer] that logs operations that fail or take at least slow: at most one line a
// second for each name, with how many were not logged since the last one. It is enough
// around the back end to know what is slow there.
func Log(log *zap.Logger, slow time.Duration) Tracer {
	l := &slowLog{log: log, slow: slow, quiet: make(map[string]*quiet)}
	return func(ctx context.Context, op Operation) (context.Context, func(error)) {
		began := time.Now()
		return ctx, func(err error) { l.ended(op, began, time.Now(), err) }
	}
}

type slowLog struct {
	log  *zap.Logger
	slow time.Duration

	mu    sync.Mutex
	quiet map[string]*quiet // by name
}

// A quiet is when the last line was, and what was not logged since.
type quiet struct {
	last    time.Time
	skipped uint64
}

func (l *slowLog) ended(op Operation, began, now time.Time, err error) {
	took := now.Sub(began)
	if err == nil && took < l.slow {
		return
	}
	l.mu.Lock()
	q := l.quiet[op.Name]
	if q == nil {
		q = new(quiet)
		l.quiet[op.Name] = q
	}
	if now.Sub(q.last) < time.Second {
		q.skipped++
		l.mu.Unlock()
		return
	}
	skipped := q.skipped
	*q = quiet{last: now}
	l.mu.Unlock()
	l.log.Warn("slow or failed", zap.String("operation", op.Name), zap.Duration("took", took),
		zap.Int("requests", op.Requests), zap.Uint64("skipped", skipped), zap.Error(err))
}
