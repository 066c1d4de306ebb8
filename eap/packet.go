package eap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// A Code is the kind of an EAP packet (RFC 3748 section 4).
type Code uint8

// Codes.
const (
	CodeRequest  Code = 1
	CodeResponse Code = 2
	CodeSuccess  Code = 3
	CodeFailure  Code = 4
)

// String returns the name that RFC 3748 gives the code: "Request".
func (c Code) String() string {
	switch c {
	case CodeRequest:
		return "Request"
	case CodeResponse:
		return "Response"
	case CodeSuccess:
		return "Success"
	case CodeFailure:
		return "Failure"
	}
	return "Code(" + strconv.Itoa(int(c)) + ")"
}

// A Type says what a Request or a Response is about: a method, or one of the first
// three, which are none (RFC 3748 section 5).
type Type uint8

// Types. Those of methods that this package does not have stand here for Methods of
// others.
const (
	TypeIdentity     Type = 1
	TypeNotification Type = 2
	TypeNAK          Type = 3 // in a Response: another method, please
	TypeMD5          Type = 4
	TypeGTC          Type = 6
	TypeTLS          Type = 13
	TypeTTLS         Type = 21
	TypePEAP         Type = 25
	TypeMSCHAPv2     Type = 26
	TypeExpanded     Type = 254
)

var typeNames = map[Type]string{
	TypeIdentity: "Identity", TypeNotification: "Notification", TypeNAK: "NAK", TypeMD5: "MD5", TypeGTC: "GTC",
	TypeTLS: "TLS", TypeTTLS: "TTLS", TypePEAP: "PEAP", TypeMSCHAPv2: "MSCHAPv2", TypeExpanded: "Expanded",
}

// String returns the usual name without "EAP-": "MSCHAPv2".
func (t Type) String() string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return "Type(" + strconv.Itoa(int(t)) + ")"
}

// HeaderLength is the length of an EAP packet without Type and Type-Data: Code,
// Identifier and Length.
const HeaderLength = 4

// MaxPacket is the most octets of an EAP packet here: what a RADIUS packet, of at
// most 4096 octets, could carry.
const MaxPacket = 4096

// A Packet is an EAP packet, taken apart.
type Packet struct {
	Code       Code
	Identifier uint8
	Type       Type   // of a Request or a Response; 0 of the others
	Data       []byte // Type-Data; of a parsed packet it lies in what was parsed
}

// Errors of Parse.
var (
	ErrTooShort = errors.New("an EAP packet is cut off")
	ErrTooLong  = fmt.Errorf("an EAP packet has more than %d octets", MaxPacket)
	ErrCode     = errors.New("an EAP packet has an unknown Code")
)

// Parse takes a packet apart. Octets behind its Length are padding, and passed over
// (RFC 3748 section 4.1). The Data lies in b.
func Parse(b []byte) (Packet, error) {
	if len(b) < HeaderLength {
		return Packet{}, ErrTooShort
	}
	length := int(binary.BigEndian.Uint16(b[2:]))
	switch {
	case length > MaxPacket:
		return Packet{}, ErrTooLong
	case length < HeaderLength, length > len(b):
		return Packet{}, ErrTooShort
	}
	p := Packet{Code: Code(b[0]), Identifier: b[1]}
	switch p.Code {
	case CodeRequest, CodeResponse:
		if length == HeaderLength {
			return Packet{}, ErrTooShort
		}
		p.Type, p.Data = Type(b[4]), b[5:length:length]
	case CodeSuccess, CodeFailure:
	default:
		return Packet{}, ErrCode
	}
	return p, nil
}

// Append appends the packet as it is on the wire. Data must be at most MaxPacket
// less 5 octets, and of a Success or a Failure it is left out.
func (p Packet) Append(dst []byte) []byte {
	if p.Code != CodeRequest && p.Code != CodeResponse {
		return append(dst, byte(p.Code), p.Identifier, 0, HeaderLength)
	}
	dst = append(dst, byte(p.Code), p.Identifier)
	dst = binary.BigEndian.AppendUint16(dst, uint16(HeaderLength+1+len(p.Data)))
	dst = append(dst, byte(p.Type))
	return append(dst, p.Data...)
}
