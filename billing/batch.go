package billing

import (
	"context"
	"fmt"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// HandleBatch answers what a worker took as one batch. It implements
// radpool.BatchHandler. If the Handler is a BatchHandler it is asked once for all
// Access-Requests and once for all records, with the context of the request that
// may take longest, so that one that is nearly out of time does not end the others;
// else once for each request.
func (p *Processor) HandleBatch(exchanges []*radpool.Exchange) {
	if len(exchanges) == 1 { // as most are, while nothing waits
		e := exchanges[0]
		p.Handle(e.Ctx, e.Request, e.Response)
		return
	}
	h, ok := p.Handler.(BatchHandler)
	if !ok || p.ready() != nil {
		for _, e := range exchanges {
			p.handleAlone(e)
		}
		return
	}
	b := batchPool.Get().(*batch)
	defer b.free()
	defer b.settle(p)
	for _, e := range exchanges {
		b.sort(p, e)
	}
	if len(b.reqs) > 0 {
		h.AuthorizeBatch(longest(b.reqOf), b.reqs, b.grants, b.errs[:len(b.reqs)])
	}
	b.addKept()
	if len(b.accesses) > 0 {
		b.finishAccesses(p)
	}
	if len(b.recs) > 0 {
		clear(b.errs)
		h.AccountBatch(longest(b.recOf), b.recs, b.errs[:len(b.recs)])
		for i, r := range b.records {
			p.finishAccounting(r, b.errs[i], b.recOf[i].Response)
		}
	}
}

// BatchSize is 1 where the Handler is no BatchHandler: requests are then better
// spread over the workers than answered one after the other by one of them. It
// implements radpool.BatchHandler.
func (p *Processor) BatchSize() int {
	if _, ok := p.Handler.(BatchHandler); ok {
		return 0
	}
	return 1
}

// handleAlone answers one request of several. Its panic is its own; left to the
// server it would fail the whole batch.
func (p *Processor) handleAlone(e *radpool.Exchange) {
	defer func() {
		if v := recover(); v != nil {
			e.Response.Fail(fmt.Errorf("billing: panic: %v\n%s", v, debug.Stack()))
		}
	}()
	p.Handle(e.Ctx, e.Request, e.Response)
}

// A batch is the memory of HandleBatch, kept between calls.
type batch struct {
	accesses []*access
	reqs     []*AccessRequest
	reqOf    []*radpool.Exchange
	grants   []Grant
	leases   []*AddressLease
	leaseOf  []leaser
	kept     []keptAccess

	records []*record
	recs    []*AccountingRecord
	recOf   []*radpool.Exchange

	errs []error // long enough for either
}

// A leaser is an Access-Request of a batch that is let in and wants an address.
type leaser struct {
	at  int // its place
	d   decision
	now time.Time
}

// A keptAccess ends an EAP conversation in which the back end has been asked before.
type keptAccess struct {
	a *access
	e *radpool.Exchange
}

var batchPool = sync.Pool{New: func() any { return new(batch) }}

// sort puts e where it belongs, or answers it if the back end need not be asked.
func (b *batch) sort(p *Processor, e *radpool.Exchange) {
	switch e.Request.Code {
	case radius.CodeAccessRequest:
		a := p.beginAccess(e.Request)
		if p.answerAlone(a, e.Response) {
			p.settle(a, e.Response)
			return
		}
		if a.kept() != nil {
			b.kept = append(b.kept, keptAccess{a, e})
			return
		}
		b.accesses = append(b.accesses, a)
		b.reqs = append(b.reqs, &a.AccessRequest)
		b.reqOf = append(b.reqOf, e)
		b.grants = append(b.grants, Grant{})
	case radius.CodeAccountingRequest:
		r, ok := p.beginAccounting(e.Request, e.Response)
		if !ok {
			return
		}
		b.records = append(b.records, r)
		b.recs = append(b.recs, &r.AccountingRecord)
		b.recOf = append(b.recOf, e)
	default:
		p.stats.ignored.Add(1)
		return
	}
	b.errs = append(b.errs, nil)
}

// addKept adds those for whom the back end need not be asked, once it was for the
// others.
func (b *batch) addKept() {
	for _, k := range b.kept {
		b.accesses = append(b.accesses, k.a)
		b.reqOf = append(b.reqOf, k.e)
		b.grants = append(b.grants, k.a.eap.session.grant)
	}
}

// settle sees to the EAP conversations, also after a panic.
func (b *batch) settle(p *Processor) {
	for _, k := range b.kept {
		p.settle(k.a, k.e.Response)
	}
	for i, a := range b.accesses {
		p.settle(a, b.reqOf[i].Response)
	}
}

// finishAccesses answers the Access-Requests, those that want an address last.
func (b *batch) finishAccesses(p *Processor) {
	for i, a := range b.accesses {
		var err error
		if i < len(b.reqs) { // the others were answered before
			err = b.errs[i]
		}
		d, now, ok := p.decideAccess(a, &b.grants[i], err, b.reqOf[i].Response)
		switch {
		case !ok:
		case b.grants[i].wantsLease(d):
			b.leases = append(b.leases, newLease(a, &b.grants[i], d))
			b.leaseOf = append(b.leaseOf, leaser{at: i, d: d, now: now})
		default:
			p.finishAccept(a, &b.grants[i], d, now, netip.Addr{}, b.reqOf[i].Response)
		}
	}
	if len(b.leases) == 0 {
		return
	}
	LeaseAll(longest(b.reqOf), p.Handler, b.leases)
	for k, l := range b.leases {
		o := &b.leaseOf[k]
		p.finishLease(b.accesses[o.at], &b.grants[o.at], o.d, o.now, l, b.reqOf[o.at].Response)
	}
}

// free forgets everything but the memory.
func (b *batch) free() {
	clear(b.accesses)
	clear(b.reqs)
	clear(b.reqOf)
	clear(b.grants)
	clear(b.leases)
	clear(b.leaseOf)
	clear(b.kept)
	clear(b.records)
	clear(b.recs)
	clear(b.recOf)
	clear(b.errs)
	*b = batch{
		accesses: b.accesses[:0], reqs: b.reqs[:0], reqOf: b.reqOf[:0], grants: b.grants[:0],
		leases: b.leases[:0], leaseOf: b.leaseOf[:0], kept: b.kept[:0],
		records: b.records[:0], recs: b.recs[:0], recOf: b.recOf[:0], errs: b.errs[:0],
	}
	batchPool.Put(b)
}

// longest is the context with the latest deadline.
func longest(exchanges []*radpool.Exchange) context.Context {
	var (
		best   context.Context
		latest time.Time
	)
	for _, e := range exchanges {
		deadline, ok := e.Ctx.Deadline()
		if !ok {
			return e.Ctx
		}
		if best == nil || deadline.After(latest) {
			best, latest = e.Ctx, deadline
		}
	}
	return best
}
