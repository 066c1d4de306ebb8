package radpool

import (
	"net/netip"
	"slices"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
)

// A Request is one verified RADIUS request on its way through a [Handler].
//
// The embedded packet is layeh.com/radius's, so its attribute helpers work:
// rfc2865.UserName_GetString(req.Packet). Its attributes lie in the request's
// arena and are the Handler's until it returns.
type Request struct {
	*radius.Packet

	// Client is the client that the request came from. It is shared and must
	// not be changed. It is nil only in a Request made by hand.
	Client *Client

	// RemoteAddr is where the request came from; an IPv4-mapped IPv6 address
	// stands here as IPv4.
	RemoteAddr netip.AddrPort

	// LocalAddr is the address of the socket that received it.
	LocalAddr netip.AddrPort

	// Received is when the request arrived at this host, also if it waited in
	// the socket's buffer for long, or when it was read where the system does not tell.
	// Its age counts against MaxRequestTime from here.
	Received time.Time

	arena *arena.Arena
}

// NewRequest returns a Request as a [Server] would hand it to a Handler, for
// tests of handlers. a may be nil: memory then comes from the heap.
func NewRequest(p *radius.Packet, a *arena.Arena) *Request {
	return &Request{Packet: p, Received: time.Now(), arena: a}
}

// Arena is the memory of this request: what is allocated there is released, all
// at once, when the Handler has returned and the reply is sent. It is nil in a
// Request made without one.
func (r *Request) Arena() *arena.Arena { return r.arena }

// UserPassword appends to dst the cleartext of the first User-Password (PAP, RFC
// 2865 section 5.2), and returns the extended slice: of 0 to 128 octets, with
// the NULs that pad it taken off and those inside it kept. A wrong secret is not
// noticed: it makes octets that match no password.
//
// The error is radius.ErrNoAttribute when there is no User-Password, and
// otherwise says what is wrong with it; dst is then returned as it was.
func (r *Request) UserPassword(dst []byte) ([]byte, error) {
	hidden, ok := r.Lookup(rfc2865.UserPassword_Type)
	if !ok {
		return dst, radius.ErrNoAttribute
	}
	return wire.RevealPasswordKey(dst, hidden, r.Authenticator, r.Secret)
}

// Clone returns a copy of r that owns its memory and may be kept. It has no
// arena.
func (r *Request) Clone() *Request {
	c := *r
	c.arena = nil
	c.Packet = clonePacket(r.Packet)
	return &c
}

// clonePacket copies p to the heap, attributes included. The secret is shared:
// it belongs to the client and is never changed.
func clonePacket(p *radius.Packet) *radius.Packet {
	if p == nil {
		return nil
	}
	c := *p
	c.Attributes = make(radius.Attributes, len(p.Attributes))
	for i, avp := range p.Attributes {
		c.Attributes[i] = &radius.AVP{Type: avp.Type, Attribute: slices.Clone(avp.Attribute)}
	}
	return &c
}
