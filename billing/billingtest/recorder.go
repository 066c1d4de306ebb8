package billingtest

import (
	"context"
	"slices"
	"sync"

	"github.com/radpool/radpool/billing"
)

// MaxRecorded is how many of each kind a [Recorder] keeps; what comes then is
// passed on and counted, not kept.
const MaxRecorded = 65536

// A Recorder is a billing.Handler that keeps what it was asked, and asks another:
// "records out" for a test. What it keeps are copies that own their memory. It is
// also a billing.BatchHandler, which asks a Handler that is none one by one, a
// billing.PostAuther and a billing.AddressPooler. It may be used by several goroutines
// at once. The zero Recorder knows no user, and stores every record.
type Recorder struct {
	// Handler is asked for the answers. nil: Authorize answers
	// ReasonUnknownUser, and Account nil. It must not be changed after first use.
	Handler billing.Handler

	mu      sync.Mutex
	access  []*billing.AccessRequest
	records []*billing.AccountingRecord
	results []*billing.AuthResult
	dropped uint64
}

var (
	_ billing.BatchHandler = (*Recorder)(nil)
	_ billing.PostAuther   = (*Recorder)(nil)

	_ billing.AddressPooler = (*Recorder)(nil)
)

// Authorize keeps req and asks the Handler.
func (r *Recorder) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	r.keepAccess(req)
	if r.Handler == nil {
		return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
	}
	return r.Handler.Authorize(ctx, req)
}

// Account keeps rec and asks the Handler.
func (r *Recorder) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	r.keepRecord(rec)
	if r.Handler == nil {
		return nil
	}
	return r.Handler.Account(ctx, rec)
}

// AuthorizeBatch keeps reqs and asks the Handler, at once if it is a
// billing.BatchHandler.
func (r *Recorder) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	for _, req := range reqs {
		r.keepAccess(req)
	}
	if r.Handler != nil {
		billing.AuthorizeAll(ctx, r.Handler, reqs, grants, errs)
		return
	}
	for i := range reqs {
		grants[i] = billing.Grant{Reason: billing.ReasonUnknownUser}
	}
}

// AccountBatch keeps recs and asks the Handler, at once if it is a
// billing.BatchHandler.
func (r *Recorder) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	for _, rec := range recs {
		r.keepRecord(rec)
	}
	if r.Handler != nil {
		billing.AccountAll(ctx, r.Handler, recs, errs)
	}
}

// PostAuth keeps res and tells the Handler, if it wants to hear.
func (r *Recorder) PostAuth(res *billing.AuthResult) {
	c := *res
	c.Access = cloneAccess(res.Access)
	c.Password = slices.Clone(res.Password)
	keep(r, &r.results, &c)
	billing.TellPostAuth(r.Handler, res)
}

// LeaseAddresses asks the Handler, if it has pools; one that has none has no address.
func (r *Recorder) LeaseAddresses(ctx context.Context, leases []*billing.AddressLease) {
	billing.LeaseAll(ctx, r.Handler, leases)
}

func (r *Recorder) keepAccess(req *billing.AccessRequest) { keep(r, &r.access, cloneAccess(req)) }

func (r *Recorder) keepRecord(rec *billing.AccountingRecord) { keep(r, &r.records, cloneRecord(rec)) }

func keep[T any](r *Recorder, list *[]*T, v *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(*list) >= MaxRecorded {
		r.dropped++
		return
	}
	*list = append(*list, v)
}

// Access are the requests that were asked about, oldest first.
func (r *Recorder) Access() []*billing.AccessRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.access)
}

// Records are the accounting records that came, oldest first.
func (r *Recorder) Records() []*billing.AccountingRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// Results are how authentications ended, oldest first.
func (r *Recorder) Results() []*billing.AuthResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.results)
}

// Dropped is how many were not kept since there were [MaxRecorded] already.
func (r *Recorder) Dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// Reset forgets all.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.access, r.records, r.results, r.dropped = nil, nil, nil, 0
}

func cloneAccess(req *billing.AccessRequest) *billing.AccessRequest {
	if req == nil {
		return nil
	}
	c := *req
	if c.Request != nil {
		c.Request = c.Request.Clone()
	}
	return &c
}

func cloneRecord(rec *billing.AccountingRecord) *billing.AccountingRecord {
	c := *rec
	c.Class = slices.Clone(rec.Class)
	if c.Request != nil {
		c.Request = c.Request.Clone()
	}
	return &c
}
