package wire

import (
	"errors"
	"strconv"
)

// Reasons why something cannot be encoded. The errors returned wrap one of them
// and name the attribute or the code; none contains a value.
var (
	ErrNoSecret      = errors.New("wire: no shared secret")
	ErrCode          = errors.New("wire: wrong packet code")
	ErrAttributeType = errors.New("wire: attribute type out of 1 to 255")
	ErrNilAttribute  = errors.New("wire: nil attribute")
	ErrValueTooLong  = errors.New("wire: attribute value over 253 octets")
	ErrPacketTooLong = errors.New("wire: packet over 4096 octets")
)

// PasswordLengthError is the length in octets of a User-Password that cannot be
// hidden, since it is over 128, or revealed, since it is not a multiple of 16 up
// to 128 (RFC 2865 section 5.2).
type PasswordLengthError int

func (e PasswordLengthError) Error() string {
	return "wire: attribute " + attributeName(typeUserPassword) + ": " + strconv.Itoa(int(e)) + " octets"
}
