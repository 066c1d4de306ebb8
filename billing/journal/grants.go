package journal

import (
	"container/list"
	"hash/maphash"
	"net/netip"
	"strings"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
)

// A circumstance is what a Grant was given for. A Grant is used again only for a
// request that is alike in all of it, since the back end may have decided by any of
// it.
type circumstance struct {
	userName                                         string
	method                                           billing.Method
	callingStationID, calledStationID, nasIdentifier string
	nasAddr                                          netip.Addr
	nasPortType, serviceType                         uint32

	// Of a Grant that needs no password: then it is by these that the back end
	// knows who it is.
	port       uint32
	portID     string
	framedAddr netip.Addr
	attributes uint64 // a hash of all that do not change from one login to the next
}

func (g *grants) circumstance(req *billing.AccessRequest, noPassword bool) circumstance {
	c := circumstance{
		userName: req.UserName, method: req.Method,
		callingStationID: req.CallingStationID, calledStationID: req.CalledStationID, nasIdentifier: req.NASIdentifier,
		nasAddr: req.NASAddr, nasPortType: req.NASPortType, serviceType: req.ServiceType,
	}
	if noPassword {
		c.port, c.portID, c.framedAddr = req.NASPort, req.NASPortID, req.FramedAddr
		c.attributes = g.attributes(req)
	}
	return c
}

// attributes hashes what a request carries, but for what is new in every packet.
func (g *grants) attributes(req *billing.AccessRequest) uint64 {
	if req.Request == nil || req.Request.Packet == nil {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(g.seed)
	for _, a := range req.Request.Attributes {
		if a == nil {
			continue
		}
		switch a.Type {
		case rfc2865.UserPassword_Type, rfc2865.CHAPPassword_Type, rfc2865.CHAPChallenge_Type, rfc2865.State_Type,
			rfc2865.ProxyState_Type, rfc2866.AcctSessionID_Type, rfc2869.EventTimestamp_Type, rfc2869.MessageAuthenticator_Type:
			continue
		}
		maphash.WriteComparable(&h, a.Type)
		maphash.WriteComparable(&h, len(a.Attribute))
		_, _ = h.Write(a.Attribute) // never an error
	}
	return h.Sum64()
}

// A remembered is a good Grant.
type remembered struct {
	name  string // the key in byName
	whose circumstance
	grant billing.Grant
	at    time.Time // when the back end gave it
}

// grants are the last good Grants, one for each subscriber: bounded in number and in
// age. It has no clock and no lock.
type grants struct {
	most   int
	age    time.Duration
	seed   maphash.Seed
	byName map[string]*list.Element // of *remembered
	oldest *list.List               // oldest first
}

func newGrants(most int, age time.Duration) *grants {
	return &grants{most: most, age: age, seed: maphash.MakeSeed(), byName: make(map[string]*list.Element), oldest: list.New()}
}

// nameKey makes one subscriber of the spellings that databases take for the same.
func nameKey(userName string) string { return strings.ToLower(strings.TrimRight(userName, " ")) }

// answered learns from an answer of the back end. One that lets nobody in forgets
// what there was: a subscriber who was rejected last is not let in from memory,
// however the name was spelled.
func (g *grants) answered(now time.Time, req *billing.AccessRequest, grant *billing.Grant) {
	name := nameKey(req.UserName)
	good := grant.Reason == billing.ReasonNone || grant.Reason == billing.ReasonNoMoney && grant.Restricted != nil
	if !good || req.UserName == "" {
		g.forget(name)
		return
	}
	r := &remembered{name, g.circumstance(req, grant.NoPassword || grant.AnyPassword), *grant, now}
	if e := g.byName[name]; e != nil {
		e.Value = r
		g.oldest.MoveToBack(e)
		return
	}
	g.byName[name] = g.oldest.PushBack(r)
	if len(g.byName) > g.most {
		g.forget(g.oldest.Front().Value.(*remembered).name)
	}
}

func (g *grants) forget(name string) {
	if e := g.byName[name]; e != nil {
		g.oldest.Remove(e)
		delete(g.byName, name)
	}
}

// find returns the last good Grant for a request like this one, and when it was
// given.
func (g *grants) find(now time.Time, req *billing.AccessRequest) (grant billing.Grant, at time.Time, ok bool) {
	e := g.byName[nameKey(req.UserName)]
	if e == nil {
		return billing.Grant{}, time.Time{}, false
	}
	r := e.Value.(*remembered)
	if now.Sub(r.at) > g.age {
		g.forget(r.name)
		return billing.Grant{}, time.Time{}, false
	}
	return r.grant, r.at, r.whose == g.circumstance(req, r.grant.NoPassword || r.grant.AnyPassword)
}
