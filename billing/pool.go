package billing

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/radpool"
)

// An AddressPooler is a [Handler] that leases addresses from pools, as FreeRADIUS's
// sqlippool does. The Processor asks it for those whom it lets in and whose Grant
// names a Pool, after everything else is decided. A lease ends with the session,
// which the Handler learns from the accounting.
type AddressPooler interface {
	// LeaseAddresses sets either Addr or Err of each lease, or neither where the
	// pool has no address left, which a pool that does not exist has not either.
	// The leases of one batch come together. They belong to the caller, and are
	// valid only until the method returns, which must be soon after ctx is done.
	//
	// An address that is leased is no one else's until its lease has ended. Who
	// asks again (the same User-Name from the same device) gets the same address.
	//
	// An Err is as one of Handler.Authorize: there is no answer, and the NAS asks
	// again; or a reject, where it is ErrSubscriber or the Processor is set to. It is
	// never an Access-Accept.
	LeaseAddresses(ctx context.Context, leases []*AddressLease)
}

// An AddressLease is what one Access-Request wants of a pool, and gets.
type AddressLease struct {
	Access *AccessRequest
	Pool   string // the Grant's

	// UserName is the name that the accounting will have: that of the reply (RFC
	// 2865 section 5.1), else that of the request.
	UserName string

	Addr netip.Addr // the address; the zero Addr: there is none left
	Err  error      // why that is not known
}

// A PoolFullPolicy says what becomes of a request for which there is no address.
type PoolFullPolicy uint8

// Policies for pools without an address.
const (
	// PoolFullAccept lets the subscriber in without a Framed-IP-Address, as
	// FreeRADIUS does: the NAS may have an address of its own.
	PoolFullAccept PoolFullPolicy = iota
	// PoolFullReject rejects the request with ReasonNoAddress.
	PoolFullReject
)

// wantsLease reports whether a request that is let in is to get an address. One that
// the reply holds already stays, as in FreeRADIUS. The restricted profile may lead
// to a pool of the NAS instead.
func (g *Grant) wantsLease(d decision) bool {
	if g.Pool == "" || !d.accepted() {
		return false
	}
	if !d.restricted {
		return !has(g.Reply, rfc2865.FramedIPAddress_Type)
	}
	return !has(g.Restricted, rfc2865.FramedIPAddress_Type) && !has(g.Restricted, rfc2869.FramedPool_Type)
}

func has(attrs radius.Attributes, typ radius.Type) bool {
	_, ok := attrs.Lookup(typ)
	return ok
}

// newLease is what a request wants that is let in with g.
func newLease(a *access, g *Grant, d decision) *AddressLease {
	l := &AddressLease{Access: &a.AccessRequest, Pool: g.Pool, UserName: a.UserName}
	attrs := g.Reply
	if d.restricted {
		attrs = g.Restricted
	}
	if name, ok := attrs.Lookup(rfc2865.UserName_Type); ok {
		l.UserName = string(name)
	}
	return l
}

// finishLease answers a request that is let in and wanted an address.
func (p *Processor) finishLease(a *access, g *Grant, d decision, now time.Time, l *AddressLease, resp *radpool.Response) {
	switch {
	case l.Err != nil:
		p.fail(a, fmt.Errorf("address of the pool %.64q: %w", l.Pool, l.Err), true, resp)
		return
	case !l.Addr.Unmap().Is4():
		p.stats.poolFull.Add(1)
		p.log.poolFull(time.Now(), a, l.Pool)
		if p.PoolFull == PoolFullReject {
			p.reject(a, decision{reason: ReasonNoAddress, proven: true}, &Grant{}, resp)
			return
		}
		p.finishAccept(a, g, d, now, netip.Addr{}, resp)
		return
	}
	p.stats.leased.Add(1)
	p.finishAccept(a, g, d, now, l.Addr.Unmap(), resp)
}
