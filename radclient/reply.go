package radclient

import (
	"net/netip"
	"slices"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// Reply is a verified reply. It owns its memory; a Reply that is handed to [Client.Exchange] again gives it to the next one.
// It must not be copied.
type Reply struct {
	// The packet as it was received, but for its Authenticator: that is the Request Authenticator, under which
	// hidden attributes such as MS-MPPE keys and Tunnel-Password are to be read. Secret is the server's.
	*radius.Packet

	// Server is the one that answered.
	Server netip.AddrPort

	// Copies is how many were sent of the request, to all servers.
	Copies int

	// Elapsed is the time from the call to the reply.
	Elapsed time.Duration

	packet   radius.Packet
	datagram []byte
	avps     []radius.AVP
	refs     radius.Attributes
}

// decode makes the packet of the datagram, whose shape is s.
func (r *Reply) decode(s *wire.Shape) {
	r.packet = radius.Packet{Code: s.Code, Identifier: s.Identifier}
	r.avps = slices.Grow(r.avps[:0], s.Attributes)[:s.Attributes]
	r.refs = r.refs[:0]
	b := r.datagram[wire.HeaderLength:]
	for i := range r.avps {
		n := int(b[1])
		r.avps[i] = radius.AVP{Type: radius.Type(b[0]), Attribute: radius.Attribute(b[2:n:n])}
		r.refs = append(r.refs, &r.avps[i])
		b = b[n:]
	}
	r.packet.Attributes = slices.Clip(r.refs)
	r.Packet = &r.packet
}
