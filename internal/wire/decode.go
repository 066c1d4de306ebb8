package wire

import (
	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
)

var (
	avps    arena.Slab[radius.AVP]
	avpRefs arena.Slab[*radius.AVP]
)

// Decode fills p from datagram b, whose shape [Parse] found to be s: Code,
// Identifier, Authenticator and Attributes, in the order of the wire. It leaves
// p.Secret alone. The attributes live in a until it is released; nothing is
// allocated from the heap.
//
// b must live as long as a does, since the values of the attributes are parts of
// it. Those of Proxy-State are copies in a: [Encode] returns them from b, whatever
// a handler did to the packet. The capacity of each value is its length, and that
// of p.Attributes its number of attributes, so that what is appended by a handler
// moves to the heap rather than over its neighbour. As in layeh's decoder, an
// attribute without a value has a nil one.
func Decode(a *arena.Arena, b []byte, s *Shape, p *radius.Packet) {
	p.Code = s.Code
	p.Identifier = s.Identifier
	p.Authenticator = Authenticator(b)
	p.Attributes = nil
	if s.Attributes == 0 {
		return
	}
	values := avps.Make(a, s.Attributes)
	refs := avpRefs.Make(a, s.Attributes)
	i := HeaderLength
	for k := range values {
		t, end := b[i], i+int(b[i+1])
		v := &values[k]
		v.Type = radius.Type(t)
		switch {
		case end == i+attributeHeader:
			v.Attribute = nil
		case t == typeProxyState:
			v.Attribute = a.Copy(b[i+attributeHeader : end])
		default:
			v.Attribute = b[i+attributeHeader : end : end]
		}
		refs[k] = v
		i = end
	}
	p.Attributes = refs
}
