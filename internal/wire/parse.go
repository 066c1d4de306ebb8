package wire

import (
	"encoding/binary"

	"layeh.com/radius"
)

// Limits and layout of a packet (RFC 2865 section 3), in octets.
const (
	HeaderLength    = 20   // Code, Identifier, Length, Authenticator
	MaxPacketLength = 4096 // the largest Length field

	authenticatorOffset = 4
)

// Shape is what one pass over a datagram found: enough to count, class, verify
// and decode it without scanning it again. It holds offsets, not memory, and is
// valid as long as the datagram keeps its contents. The zero value is the shape
// of no packet.
type Shape struct {
	Code       radius.Code
	Length     int // of the packet in octets, 20 to 4096; the rest of the datagram is padding
	Attributes int // how many there are

	// MessageAuthenticator is the offset of the Type octet of the
	// Message-Authenticator in the datagram; 0 when there is none, 20 when it
	// is the first attribute.
	MessageAuthenticator int

	// AcctStatusType is the value of the first Acct-Status-Type; 0, which RFC 2866
	// assigns to nothing, when there is none or its value is not 4 octets.
	AcctStatusType uint32

	Identifier byte

	has       attributeSet
	faultType byte   // of the attribute to blame
	faultAt   uint16 // its offset

	proxyStates     uint16 // octets of all Proxy-State attributes, headers included
	proxyStateFirst uint16 // offset of the first
	proxyStateEnd   uint16 // offset after the last
}

// attributeSet has a bit for each attribute whose presence matters.
type attributeSet uint8

const (
	hasUserPassword attributeSet = 1 << iota
	hasCHAPPassword
	hasARAPPassword
	hasEAPMessage
	hasState
	hasProxyState
	hasMessageAuthenticator
	hasAcctStatusType
)

// notable maps an attribute type to its bit. A table keeps the loop of Parse to
// one look-up for the many attributes that need no attention.
var notable = [256]attributeSet{
	typeUserPassword:         hasUserPassword,
	typeCHAPPassword:         hasCHAPPassword,
	typeState:                hasState,
	typeProxyState:           hasProxyState,
	typeAcctStatusType:       hasAcctStatusType,
	typeARAPPassword:         hasARAPPassword,
	typeEAPMessage:           hasEAPMessage,
	typeMessageAuthenticator: hasMessageAuthenticator,
}

// HasUserPassword reports whether there is a User-Password: PAP.
func (s *Shape) HasUserPassword() bool { return s.has&hasUserPassword != 0 }

// HasCHAPPassword reports whether there is a CHAP-Password.
func (s *Shape) HasCHAPPassword() bool { return s.has&hasCHAPPassword != 0 }

// HasEAP reports whether there is an EAP-Message.
func (s *Shape) HasEAP() bool { return s.has&hasEAPMessage != 0 }

// HasState reports whether there is a State: the answer to an Access-Challenge.
func (s *Shape) HasState() bool { return s.has&hasState != 0 }

// HasProxyState reports whether there is a Proxy-State.
func (s *Shape) HasProxyState() bool { return s.has&hasProxyState != 0 }

// HasMessageAuthenticator reports whether there is a Message-Authenticator.
func (s *Shape) HasMessageAuthenticator() bool { return s.has&hasMessageAuthenticator != 0 }

// IsRequest reports whether the code is one that a server can verify and answer:
// Access-Request, Accounting-Request, Status-Server, CoA-Request or
// Disconnect-Request.
func (s *Shape) IsRequest() bool { return IsRequest(s.Code) }

// RequiresMessageAuthenticator reports whether the protocol itself, whatever the
// client is configured for, wants a Message-Authenticator in this packet: for
// Status-Server (RFC 5997 section 3) and beside EAP-Message (RFC 3579 section 3.1).
func (s *Shape) RequiresMessageAuthenticator() bool {
	return s.Code == radius.CodeStatusServer || s.HasEAP()
}

// Authenticator is the Authenticator field of datagram b. It panics when b is
// shorter than a header, which a datagram that passed [Parse] is not.
func Authenticator(b []byte) [16]byte {
	return [16]byte(b[authenticatorOffset:HeaderLength])
}

// Parse judges the shape of a datagram: its header, every attribute, and the
// rules that need no secret. It reads b once, allocates nothing and keeps no
// reference. Octets after the packet's own Length are padding and ignored
// (RFC 2865 section 3). An attribute without a value is accepted: what it means
// is for its reader to say.
//
// maxAttributes bounds the number of attributes; zero or less leaves only the
// bound that the packet's length implies, 2,038.
//
// When the result is not WellFormed, the Shape serves [Shape.Explain] alone.
func Parse(b []byte, maxAttributes int) (Shape, Malformed) {
	var s Shape
	if m := s.parseHeader(b); m != WellFormed {
		return s, m
	}
	if maxAttributes <= 0 {
		maxAttributes = MaxPacketLength
	}
	b = b[:s.Length]
	for i := HeaderLength; i < len(b); {
		if len(b)-i < attributeHeader {
			s.faultAt = uint16(i)
			return s, AttributeHeaderCut
		}
		t, n := b[i], int(b[i+1])
		var m Malformed
		switch {
		case t == 0:
			m = AttributeTypeZero
		case n < attributeHeader:
			m = AttributeLengthTooSmall
		case n > len(b)-i:
			m = AttributeOverrun
		case s.Attributes >= maxAttributes:
			m = TooManyAttributes
		default:
			s.Attributes++
			if bit := notable[t]; bit != 0 {
				m = s.note(b, i, n, bit)
			}
		}
		if m != WellFormed {
			s.faultAt, s.faultType = uint16(i), t
			return s, m
		}
		i += n
	}
	return s, s.combination()
}

// parseHeader fills the fields of the header, as far as there is one.
func (s *Shape) parseHeader(b []byte) Malformed {
	if len(b) < 4 {
		return DatagramTooShort
	}
	s.Code = radius.Code(b[0])
	s.Identifier = b[1]
	s.Length = int(binary.BigEndian.Uint16(b[2:4]))
	switch {
	case s.Length < HeaderLength:
		return LengthTooSmall
	case s.Length > MaxPacketLength:
		return LengthTooLarge
	case len(b) < HeaderLength:
		return HeaderCut
	case len(b) < s.Length:
		return DatagramCut
	case !knownCode(b[0]):
		return UnknownCode
	}
	return WellFormed
}

// note records the notable attribute of n octets at offset i of packet b.
func (s *Shape) note(b []byte, i, n int, bit attributeSet) Malformed {
	first := s.has&bit == 0
	s.has |= bit
	switch bit {
	case hasMessageAuthenticator:
		if n != messageAuthenticatorLength {
			return MessageAuthenticatorLength
		}
		if !first {
			return MessageAuthenticatorRepeated
		}
		s.MessageAuthenticator = i
	case hasProxyState:
		if first {
			s.proxyStateFirst = uint16(i)
		}
		s.proxyStateEnd = uint16(i + n)
		s.proxyStates += uint16(n)
	case hasAcctStatusType:
		if first && n == attributeHeader+4 {
			s.AcctStatusType = binary.BigEndian.Uint32(b[i+attributeHeader:])
		}
	default: // that it is there says all
	}
	return WellFormed
}

// combination judges the attributes that exclude each other: a request
// authenticates by EAP or by a password, not by both (RFC 3579 section 3.3).
func (s *Shape) combination() Malformed {
	switch {
	case s.has&hasEAPMessage == 0:
		return WellFormed
	case s.has&hasUserPassword != 0:
		return EAPWithUserPassword
	case s.has&hasCHAPPassword != 0:
		return EAPWithCHAPPassword
	case s.has&hasARAPPassword != 0:
		return EAPWithARAPPassword
	}
	return WellFormed
}
