package billing

import (
	"time"

	"layeh.com/radius"
)

// A Grant is what a billing system says of a subscriber who wants to log in.
// The zero Grant lets nobody in: it has no password.
type Grant struct {
	// Reason, if not zero, rejects the request for this reason, whatever else
	// the Grant holds. ReasonNoMoney (and only it) lets the subscriber in with
	// the Restricted profile where there is one.
	Reason Reason

	// Message replaces the Reason's own text in the Reply-Message of an
	// Access-Reject. Empty: the text of the Reason.
	Message string

	// RejectReply, if not nil, are the attributes of an Access-Reject for Reason,
	// instead of a Reply-Message with Message, for whoever asks: right password or
	// not. What FreeRADIUS leaves in one is Reply-Message and Error-Cause. Nobody may
	// change them, as with Reply.
	RejectReply radius.Attributes

	// Password is the subscriber's password in the form in which it is stored.
	// The Processor compares it in constant time.
	Password Password

	// NoPassword lets the subscriber in without a password: the request was
	// identified by where it came from (a MAC address, a port), as IPoE does.
	// It does not apply to a request that carries a password: that one must be
	// right, or be the MAC address itself.
	NoPassword bool

	// AnyPassword lets the subscriber in whatever password the request carries,
	// right, wrong or none: FreeRADIUS's Auth-Type := Accept. It does not apply to
	// MS-CHAP, whose subscriber wants a proof that the server knows the password.
	AnyPassword bool

	// CallingStationID, if not empty, is the only Calling-Station-Id from which
	// this subscriber may come. MAC addresses compare by their digits, whatever
	// the separators and case.
	CallingStationID string

	// Reply are the attributes of the Access-Accept, in order. They are not
	// copied and may be shared between Grants, so nobody may change them. Helpers
	// of layeh.com/radius that want a packet, such as those for the attributes of
	// vendors, can fill one for the purpose:
	//
	//	var p radius.Packet
	//	err := mikrotik.MikrotikRateLimit_SetString(&p, "10M/10M")
	//	grant.Reply = p.Attributes
	Reply radius.Attributes

	// Restricted are the attributes of the Access-Accept, instead of Reply, of a
	// subscriber with ReasonNoMoney, whose money or quota is used up: an address pool or a filter that leads to
	// the page for payments. nil: an Access-Reject instead.
	Restricted radius.Attributes

	// Hidden and RestrictedHidden are attributes that are encrypted on the wire, such
	// as Tunnel-Password: they come after Reply, or Restricted. Nobody may change
	// them, as with Reply. They hold secrets in the clear: whoever stores a Grant
	// stores those. (billing/journal keeps Grants in memory alone.)
	Hidden, RestrictedHidden []Hidden

	// Expires is when the subscription ends: the request is rejected from then
	// on, and Session-Timeout ends a session that is let in before at that
	// moment (at most 2,147,483,647 s from now, which every NAS understands). The
	// zero Time: never.
	Expires time.Time

	// SimultaneousUse is the most sessions that the subscriber may have at
	// once. 0: no limit.
	SimultaneousUse int

	// Pool is the pool from which the subscriber gets an address, where the Handler
	// is an AddressPooler: FreeRADIUS's Pool-Name. A Framed-IP-Address that the reply
	// holds already stays as it is, and a Framed-Pool in Restricted goes before Pool.
	// Empty: no address is leased.
	Pool string

	// OpenSessions is how many sessions the subscriber has open now, by the
	// accounting. It matters only with SimultaneousUse.
	OpenSessions int
}
