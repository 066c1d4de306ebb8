// Package grants remembers Grants of a back end, for when it need not or cannot be asked:
// a table that is bounded in number and in age, without a clock and without a lock.
package grants

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

// A Circumstance is what a Grant was given for. A Grant is used again only for a
// request that is alike in all of it, since the back end may have decided by any of
// it.
type Circumstance struct {
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

func (g *Table) circumstance(req *billing.AccessRequest, noPassword bool) Circumstance {
	c := Circumstance{
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
func (g *Table) attributes(req *billing.AccessRequest) uint64 {
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
			rfc2865.ProxyState_Type, rfc2866.AcctSessionID_Type, rfc2869.EventTimestamp_Type, rfc2869.MessageAuthenticator_Type,
			rfc2869.EAPMessage_Type:
			continue
		}
		maphash.WriteComparable(&h, a.Type)
		maphash.WriteComparable(&h, len(a.Attribute))
		_, _ = h.Write(a.Attribute) // never an error
	}
	return h.Sum64()
}

// Whole is what a request is like in everything that can matter, whether or not the Grant
// needs a password. It is safe to call it at once with all else.
func (g *Table) Whole(req *billing.AccessRequest) Circumstance { return g.circumstance(req, true) }

// A remembered is a Grant.
type remembered struct {
	name  string // the key in byName
	whose Circumstance
	grant billing.Grant
	at    time.Time     // when the back end gave it
	keep  time.Duration // for how long it is good
}

// own makes the strings of r its own, and not parts of the memory of all that the request
// said: mostly they are those of the Grant before.
func (r *remembered) own(before *remembered) {
	if before == nil {
		before = &remembered{name: strings.Clone(r.name)}
	}
	r.name = before.name
	if r.whose == before.whose {
		r.whose = before.whose
		return
	}
	c := &r.whose
	for _, s := range []*string{&c.userName, &c.callingStationID, &c.calledStationID, &c.nasIdentifier, &c.portID} {
		*s = strings.Clone(*s)
	}
}

// A Table has the last Grants, one for each subscriber.
type Table struct {
	most   int
	age    time.Duration
	seed   maphash.Seed
	byName map[string]*list.Element // of *remembered
	oldest *list.List               // oldest first
}

// New returns a table of at most so many Grants, none of them older than age.
func New(most int, age time.Duration) *Table {
	return &Table{most: most, age: age, seed: maphash.MakeSeed(), byName: make(map[string]*list.Element), oldest: list.New()}
}

// Key makes one subscriber of the spellings that databases take for the same.
func Key(userName string) string { return strings.ToLower(strings.TrimRight(userName, " ")) }

// Good reports whether a Grant lets somebody in, if only to the page for payments.
func Good(g *billing.Grant) bool {
	return g.Reason == billing.ReasonNone || g.Reason == billing.ReasonNoMoney && g.Restricted != nil
}

// Answered learns from an answer of the back end. One that lets nobody in forgets what
// there was: a subscriber who was rejected last is not let in from memory, however the
// name was spelled.
func (g *Table) Answered(now time.Time, req *billing.AccessRequest, grant *billing.Grant) {
	if !Good(grant) {
		g.Forget(req.UserName)
		return
	}
	g.Remember(now, req, grant, g.age)
}

// Remember keeps a Grant, good or not, in place of the one that there was, for at most as
// long. Without a User-Name it is forgotten: nobody knows whose it is.
func (g *Table) Remember(now time.Time, req *billing.AccessRequest, grant *billing.Grant, keep time.Duration) {
	name := Key(req.UserName)
	if req.UserName == "" {
		g.forget(name)
		return
	}
	r := &remembered{name, g.circumstance(req, grant.NoPassword || grant.AnyPassword), *grant, now, keep}
	e := g.byName[name]
	if e != nil {
		r.own(e.Value.(*remembered))
		e.Value = r
		g.oldest.MoveToBack(e)
		return
	}
	r.own(nil)
	g.byName[r.name] = g.oldest.PushBack(r)
	if len(g.byName) > g.most {
		g.forget(g.oldest.Front().Value.(*remembered).name)
	}
}

// Forget forgets what there is of a subscriber.
func (g *Table) Forget(userName string) { g.forget(Key(userName)) }

func (g *Table) forget(name string) {
	if e := g.byName[name]; e != nil {
		g.oldest.Remove(e)
		delete(g.byName, name)
	}
}

// Len is how many Grants there are.
func (g *Table) Len() int { return len(g.byName) }

// Find returns the last Grant for a request like this one, and when it was given.
func (g *Table) Find(now time.Time, req *billing.AccessRequest) (grant billing.Grant, at time.Time, ok bool) {
	e := g.byName[Key(req.UserName)]
	if e == nil {
		return billing.Grant{}, time.Time{}, false
	}
	r := e.Value.(*remembered)
	if now.Sub(r.at) > r.keep {
		g.forget(r.name)
		return billing.Grant{}, time.Time{}, false
	}
	return r.grant, r.at, r.whose == g.circumstance(req, r.grant.NoPassword || r.grant.AnyPassword)
}
