package billing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// ErrAway marks an error of opening a back end that is not there for now: nobody
// listens, there is no answer in time, it is starting, or it has too many connections.
// What is wrong with its address or its password is not that. See [OpenLater].
var ErrAway = errors.New("the back end is away")

// A Later is a [BatchHandler] whose back end is opened when it is there. Until then
// Authorize and Account fail with ErrAway: there is no answer, and a journal before it
// (package journal) keeps accounting. Its methods may be called by many goroutines.
type Later struct {
	backend atomic.Pointer[BatchHandler] // nil: not opened yet
	ready   chan struct{}
	end     context.CancelFunc
	opening sync.WaitGroup
}

var (
	_ BatchHandler  = (*Later)(nil)
	_ PostAuther    = (*Later)(nil)
	_ AddressPooler = (*Later)(nil)
)

// How long is waited between two attempts to open a back end: twice as long each time.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 10 * time.Second
)

// OpenLater calls open, and where that is ErrAway, again from time to time, after
// 250 ms at first and 10 s at most, until it succeeds or the Later is closed. Any other
// error of the first attempt is returned, since to wait would not help; one of a later
// attempt is logged once, and the next may do better. ctx is that of the first attempt.
// log, which may be nil, gets one line when it begins to wait, and one when it is over.
func OpenLater(ctx context.Context, open func(context.Context) (BatchHandler, error), log *zap.Logger) (*Later, error) {
	if log == nil {
		log = zap.NewNop()
	}
	l := &Later{ready: make(chan struct{}), end: func() {}}
	h, err := open(ctx)
	switch {
	case err == nil:
		l.opened(h)
	case errors.Is(err, ErrAway) && ctx.Err() == nil:
		log.Warn("the back end is away: until it is there, it is tried again and again", zap.Error(err))
		ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
		l.opening.Go(func() { l.keepOpening(ctx, open, log) })
	default:
		return nil, err
	}
	return l, nil
}

func (l *Later) opened(h BatchHandler) {
	l.backend.Store(&h)
	close(l.ready)
}

func (l *Later) keepOpening(ctx context.Context, open func(context.Context) (BatchHandler, error), log *zap.Logger) {
	said := ""
	began := time.Now()
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		h, err := open(ctx)
		switch {
		case err == nil:
			log.Info("the back end is there", zap.Duration("after", time.Since(began)))
			l.opened(h)
			return
		case errors.Is(err, ErrAway) || ctx.Err() != nil:
		case err.Error() != said:
			said = err.Error()
			log.Error("the back end is there and cannot be used; it is tried again and again", zap.Error(err))
		}
	}
}

// Ready returns a channel that is closed when the back end is open.
func (l *Later) Ready() <-chan struct{} { return l.ready }

// Close gives up opening, and closes the back end if it is open and an io.Closer.
// It must be called once.
func (l *Later) Close() error {
	l.end()
	l.opening.Wait()
	if h, err := l.now(); err == nil {
		if c, ok := h.(io.Closer); ok {
			return c.Close()
		}
	}
	return nil
}

// now is the back end, or an error where there is none yet.
func (l *Later) now() (BatchHandler, error) {
	if h := l.backend.Load(); h != nil {
		return *h, nil
	}
	return nil, fmt.Errorf("billing: %w: it was not opened yet", ErrAway)
}

// Authorize asks the back end.
func (l *Later) Authorize(ctx context.Context, req *AccessRequest) (Grant, error) {
	h, err := l.now()
	if err != nil {
		return Grant{}, err
	}
	return h.Authorize(ctx, req)
}

// Account gives the back end a record.
func (l *Later) Account(ctx context.Context, rec *AccountingRecord) error {
	h, err := l.now()
	if err != nil {
		return err
	}
	return h.Account(ctx, rec)
}

// AuthorizeBatch asks the back end.
func (l *Later) AuthorizeBatch(ctx context.Context, reqs []*AccessRequest, grants []Grant, errs []error) {
	h, err := l.now()
	if err != nil {
		fail(errs[:len(reqs)], err)
		return
	}
	h.AuthorizeBatch(ctx, reqs, grants, errs)
}

// AccountBatch gives the back end records.
func (l *Later) AccountBatch(ctx context.Context, recs []*AccountingRecord, errs []error) {
	h, err := l.now()
	if err != nil {
		fail(errs[:len(recs)], err)
		return
	}
	h.AccountBatch(ctx, recs, errs)
}

func fail(errs []error, err error) {
	for i := range errs {
		errs[i] = err
	}
}

// PostAuth tells the back end, if it wants to hear. What comes before it is open is
// dropped.
func (l *Later) PostAuth(res *AuthResult) {
	h, err := l.now()
	if err != nil {
		return
	}
	TellPostAuth(h, res)
}

// LeaseAddresses asks the back end, if it has pools.
func (l *Later) LeaseAddresses(ctx context.Context, leases []*AddressLease) {
	h, err := l.now()
	if err != nil {
		for _, lease := range leases {
			lease.Err = err
		}
		return
	}
	LeaseAll(ctx, h, leases)
}
