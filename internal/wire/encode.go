package wire

import (
	"encoding/binary"
	"fmt"
	"slices"

	"layeh.com/radius"
)

// Encode appends to dst the reply resp to the verified request b, whose shape
// Parse found to be s, and returns the extended slice. It allocates only when the
// capacity of dst does not suffice; [MaxPacketLength] always does. Nothing of dst
// may overlap b.
//
// Of resp only Code and Attributes count. The reply has
//
//   - the Identifier of the request, and a Response Authenticator that signs the
//     request's Authenticator with secret (RFC 2865 section 3);
//   - a Message-Authenticator as its first attribute if it answers an
//     Access-Request or Status-Server (CVE-2024-3596), if it is a Protocol-Error,
//     or if the request carried one;
//   - the attributes of resp in their order, other than Message-Authenticator and
//     Proxy-State, which are not a handler's to give and are ignored;
//   - the Proxy-States of the request, unmodified and in order (RFC 2865 section 5.33).
//
// Identifier, Authenticator and Proxy-States come from b, not from a decoded
// packet, which a handler may have edited.
//
// A reply is never truncated. What cannot be encoded is an error, and dst is
// returned as it was: [ErrCode] when resp.Code is no answer to the request,
// [ErrAttributeType], [ErrNilAttribute], [ErrValueTooLong], [ErrPacketTooLong],
// [ErrNoSecret].
func Encode(dst []byte, resp *radius.Packet, b []byte, s *Shape, secret *Secret) ([]byte, error) {
	k := secret.keyed()
	if k == nil {
		return dst, ErrNoSecret
	}
	if !Answers(s.Code, resp.Code) {
		return dst, fmt.Errorf("%w: %v (%d) does not answer %v", ErrCode, resp.Code, int(resp.Code), s.Code)
	}
	m := message{
		code:       resp.Code,
		identifier: b[1],
		attributes: resp.Attributes,
		replyTo:    s,
		withMessageAuthenticator: randomRequest(s.Code) || resp.Code == CodeProtocolError ||
			s.HasMessageAuthenticator(),
	}
	size, err := m.size()
	if err != nil {
		return dst, err
	}
	dst, out := extend(dst, size)
	m.put(out, b)
	copy(out[authenticatorOffset:], b[authenticatorOffset:HeaderLength])
	m.seal(out, k, true)
	return dst, nil
}

// EncodeRequest appends the request p to dst and returns the extended slice. It
// allocates only when the capacity of dst does not suffice.
//
// An Access-Request and a Status-Server carry p.Authenticator, which the caller has
// made random and unique, and a Message-Authenticator as their first attribute. An
// Accounting-Request, CoA-Request and Disconnect-Request are signed: their Request
// Authenticator is computed and p.Authenticator ignored (RFC 2866 section 3,
// RFC 5176 section 2.3); they carry a Message-Authenticator, first, when
// p.Attributes has one, of whatever value. The other attributes keep their order;
// a User-Password among them is as [HidePassword] made it. Octets 4 to 20 of the
// request are what [VerifyResponse] takes as requestAuthenticator.
//
// The errors are those of [Encode]; [ErrCode] is for a code that is not one of these
// five.
func EncodeRequest(dst []byte, p *radius.Packet, secret *Secret) ([]byte, error) {
	k := secret.keyed()
	if k == nil {
		return dst, ErrNoSecret
	}
	signed := signedRequest(p.Code)
	if !signed && !randomRequest(p.Code) {
		return dst, fmt.Errorf("%w: %v (%d) is not a request", ErrCode, p.Code, int(p.Code))
	}
	m := message{
		code:                     p.Code,
		identifier:               p.Identifier,
		attributes:               p.Attributes,
		withMessageAuthenticator: !signed || carries(p.Attributes, typeMessageAuthenticator),
	}
	size, err := m.size()
	if err != nil {
		return dst, err
	}
	dst, out := extend(dst, size)
	m.put(out, nil)
	if signed {
		clear(out[authenticatorOffset:HeaderLength])
	} else {
		copy(out[authenticatorOffset:], p.Authenticator[:])
	}
	m.seal(out, k, signed)
	return dst, nil
}

// message is a packet on its way to the wire.
type message struct {
	code                     radius.Code
	identifier               byte
	withMessageAuthenticator bool // as the first attribute
	attributes               radius.Attributes
	replyTo                  *Shape // of the request, nil when the message is one
}

// ours reports whether attributes of type t in m.attributes are ignored, because
// the codec puts them itself.
func (m *message) ours(t radius.Type) bool {
	return t == typeMessageAuthenticator || t == typeProxyState && m.replyTo != nil
}

// size is the length of the packet in octets, or the reason why it cannot be.
func (m *message) size() (int, error) {
	size := HeaderLength
	if m.withMessageAuthenticator {
		size += messageAuthenticatorLength
	}
	for i, a := range m.attributes {
		if a == nil {
			return 0, fmt.Errorf("%w: number %d of %d", ErrNilAttribute, i+1, len(m.attributes))
		}
		if m.ours(a.Type) {
			continue
		}
		if a.Type < 1 || a.Type > 255 {
			return 0, fmt.Errorf("%w: attribute %d", ErrAttributeType, int(a.Type))
		}
		if len(a.Attribute) > MaxValueLength {
			return 0, fmt.Errorf("%w: attribute %s has %d", ErrValueTooLong, attributeName(a.Type), len(a.Attribute))
		}
		size += attributeHeader + len(a.Attribute)
		if size > MaxPacketLength {
			return 0, fmt.Errorf("%w: no room for attribute %s, number %d of %d",
				ErrPacketTooLong, attributeName(a.Type), i+1, len(m.attributes))
		}
	}
	if m.replyTo != nil {
		size += int(m.replyTo.proxyStates)
	}
	if size > MaxPacketLength {
		return 0, fmt.Errorf("%w: no room for attribute %s of the request",
			ErrPacketTooLong, attributeName(typeProxyState))
	}
	return size, nil
}

// put writes everything but the authenticators to out, whose length is the size
// of the packet; request is the datagram that it answers, if any.
func (m *message) put(out, request []byte) {
	out[0] = byte(m.code)
	out[1] = m.identifier
	binary.BigEndian.PutUint16(out[2:], uint16(len(out)))
	i := HeaderLength
	if m.withMessageAuthenticator {
		out[i], out[i+1] = typeMessageAuthenticator, messageAuthenticatorLength
		i += messageAuthenticatorLength
	}
	for _, a := range m.attributes {
		if m.ours(a.Type) {
			continue
		}
		out[i], out[i+1] = byte(a.Type), byte(attributeHeader+len(a.Attribute))
		i += attributeHeader + copy(out[i+attributeHeader:], a.Attribute)
	}
	if m.replyTo == nil || !m.replyTo.HasProxyState() {
		return
	}
	for p := int(m.replyTo.proxyStateFirst); p < int(m.replyTo.proxyStateEnd); {
		end := p + int(request[p+1])
		if request[p] == typeProxyState {
			i += copy(out[i:], request[p:end])
		}
		p = end
	}
}

// seal computes the authenticators of out, whose Authenticator field holds what
// they are computed over: first the Message-Authenticator, then, when sign says so,
// the signature that takes the place of the Authenticator and covers it.
func (m *message) seal(out []byte, k *secretKey, sign bool) {
	d := getDigester()
	defer putDigester(d)
	d.load(out)
	if m.withMessageAuthenticator {
		const value = HeaderLength + attributeHeader
		d.messageAuthenticator(k, len(out), HeaderLength)
		copy(out[value:], d.sum[:])
		copy(d.packet[value:], d.sum[:])
	}
	if sign {
		d.signature(k, len(out))
		copy(out[authenticatorOffset:], d.sum[:])
	}
}

// extend makes room for n octets after dst and returns dst with them, and them.
func extend(dst []byte, n int) (all, room []byte) {
	start := len(dst)
	all = slices.Grow(dst, n)[:start+n]
	return all, all[start:]
}

// carries reports whether there is an attribute of type t.
func carries(attributes radius.Attributes, t radius.Type) bool {
	return slices.ContainsFunc(attributes, func(a *radius.AVP) bool { return a != nil && a.Type == t })
}
