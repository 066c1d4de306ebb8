package billing

import (
	"context"
	"slices"
	"sync"
)

// A Middleware wraps a Handler in another, to limit, cache or measure what reaches the
// back end. It must keep what the Handler can do besides: [Around] makes one that does.
// Those that are about packets and not about subscribers are a radpool.Middleware
// instead.
type Middleware func(Handler) Handler

// Chain wraps h in each of mw. The first is the outermost, the first to see a question
// and the last to see its answer.
func Chain(h Handler, mw ...Middleware) Handler {
	for _, wrap := range slices.Backward(mw) {
		h = wrap(h)
	}
	return h
}

// An AuthorizeFunc is BatchHandler.AuthorizeBatch as a function: it sets either
// grants[i] or errs[i] for each of reqs.
type AuthorizeFunc func(ctx context.Context, reqs []*AccessRequest, grants []Grant, errs []error)

// An AccountFunc is BatchHandler.AccountBatch as a function: it sets errs[i] for each of
// recs that is not durable.
type AccountFunc func(ctx context.Context, recs []*AccountingRecord, errs []error)

// A LeaseFunc is AddressPooler.LeaseAddresses as a function.
type LeaseFunc func(ctx context.Context, leases []*AddressLease)

// An Around says what a [Middleware] does around the questions to a Handler. Each
// function gets next, which asks the Handler, and may call it with all it was given, with
// a part, or not at all. A field that is nil leaves the questions alone.
//
// There is one function for single questions and for batches: a single one is a batch of
// one. All of a batch that are to be asked should be asked in one call of next, since
// that is one round trip. Slices that are handed to next are as long as each other; errs
// is all nil. What the functions get is valid only until they return, and they are called
// from many workers at once.
type Around struct {
	Authorize func(ctx context.Context, reqs []*AccessRequest, grants []Grant, errs []error, next AuthorizeFunc)
	Account   func(ctx context.Context, recs []*AccountingRecord, errs []error, next AccountFunc)
	Lease     func(ctx context.Context, leases []*AddressLease, next LeaseFunc)
}

// Wrap is the Middleware. What it makes is a BatchHandler exactly if h is one, so that a
// worker takes batches for those who have use for them, and no others. It passes PostAuth
// and LeaseAddresses on to h where that is a PostAuther and an AddressPooler; where it is
// none nobody hears, and there is no address.
func (a Around) Wrap(h Handler) Handler {
	w := &wrapped{Handler: h, around: a}
	w.authorize = func(ctx context.Context, reqs []*AccessRequest, grants []Grant, errs []error) {
		AuthorizeAll(ctx, h, reqs, grants, errs)
	}
	w.account = func(ctx context.Context, recs []*AccountingRecord, errs []error) { AccountAll(ctx, h, recs, errs) }
	w.lease = func(ctx context.Context, leases []*AddressLease) { LeaseAll(ctx, h, leases) }
	if _, ok := h.(BatchHandler); ok {
		return wrappedBatch{w}
	}
	return w
}

// AuthorizeAll asks h about reqs: at once if it is a BatchHandler, else one after the
// other.
func AuthorizeAll(ctx context.Context, h Handler, reqs []*AccessRequest, grants []Grant, errs []error) {
	if b, ok := h.(BatchHandler); ok && len(reqs) != 1 {
		b.AuthorizeBatch(ctx, reqs, grants, errs)
		return
	}
	for i, req := range reqs {
		grants[i], errs[i] = h.Authorize(ctx, req)
	}
}

// AccountAll gives h the records: at once if it is a BatchHandler, else one after the
// other.
func AccountAll(ctx context.Context, h Handler, recs []*AccountingRecord, errs []error) {
	if b, ok := h.(BatchHandler); ok && len(recs) != 1 {
		b.AccountBatch(ctx, recs, errs)
		return
	}
	for i, rec := range recs {
		errs[i] = h.Account(ctx, rec)
	}
}

// LeaseAll asks h for addresses if it is an AddressPooler. Of one that is none there is
// no address.
func LeaseAll(ctx context.Context, h Handler, leases []*AddressLease) {
	if p, ok := h.(AddressPooler); ok {
		p.LeaseAddresses(ctx, leases)
	}
}

// TellPostAuth tells h how an authentication ended, if it is a PostAuther.
func TellPostAuth(h Handler, res *AuthResult) {
	if p, ok := h.(PostAuther); ok {
		p.PostAuth(res)
	}
}

// A wrapped is a Handler with an Around.
type wrapped struct {
	Handler
	around    Around
	authorize AuthorizeFunc
	account   AccountFunc
	lease     LeaseFunc
}

// A wrappedBatch is one whose Handler takes batches.
type wrappedBatch struct{ *wrapped }

var (
	_ BatchHandler = wrappedBatch{}

	_ PostAuther    = (*wrapped)(nil)
	_ AddressPooler = (*wrapped)(nil)
)

// A single is a batch of one.
type single struct {
	reqs   [1]*AccessRequest
	recs   [1]*AccountingRecord
	grants [1]Grant
	errs   [1]error
}

var singles = sync.Pool{New: func() any { return new(single) }}

func (s *single) free() {
	*s = single{}
	singles.Put(s)
}

func (w *wrapped) Authorize(ctx context.Context, req *AccessRequest) (Grant, error) {
	if w.around.Authorize == nil {
		return w.Handler.Authorize(ctx, req)
	}
	s := singles.Get().(*single)
	defer s.free()
	s.reqs[0] = req
	w.around.Authorize(ctx, s.reqs[:], s.grants[:], s.errs[:], w.authorize)
	return s.grants[0], s.errs[0]
}

func (w *wrapped) Account(ctx context.Context, rec *AccountingRecord) error {
	if w.around.Account == nil {
		return w.Handler.Account(ctx, rec)
	}
	s := singles.Get().(*single)
	defer s.free()
	s.recs[0] = rec
	w.around.Account(ctx, s.recs[:], s.errs[:], w.account)
	return s.errs[0]
}

func (w wrappedBatch) AuthorizeBatch(ctx context.Context, reqs []*AccessRequest, grants []Grant, errs []error) {
	if w.around.Authorize == nil {
		w.authorize(ctx, reqs, grants, errs)
		return
	}
	w.around.Authorize(ctx, reqs, grants, errs, w.authorize)
}

func (w wrappedBatch) AccountBatch(ctx context.Context, recs []*AccountingRecord, errs []error) {
	if w.around.Account == nil {
		w.account(ctx, recs, errs)
		return
	}
	w.around.Account(ctx, recs, errs, w.account)
}

func (w *wrapped) LeaseAddresses(ctx context.Context, leases []*AddressLease) {
	if w.around.Lease == nil {
		w.lease(ctx, leases)
		return
	}
	w.around.Lease(ctx, leases, w.lease)
}

func (w *wrapped) PostAuth(res *AuthResult) { TellPostAuth(w.Handler, res) }
