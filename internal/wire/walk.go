package wire

import (
	"encoding/binary"
	"iter"

	"layeh.com/radius"
)

// Attributes goes through attributes as they stand in a packet behind its header, in
// their order: the type and the value of each. They must be well-formed, as those of a
// datagram are that passed [Parse], to the end of its Length. Values are memory of b.
func Attributes(b []byte) iter.Seq2[radius.Type, []byte] {
	return func(yield func(radius.Type, []byte) bool) {
		for rest := b; len(rest) > 0; rest = rest[rest[1]:] {
			if !yield(radius.Type(rest[0]), rest[attributeHeader:rest[1]]) {
				return
			}
		}
	}
}

// VendorAttributes goes through the attributes that the value of a Vendor-Specific holds,
// in the format that RFC 2865 section 5.26 recommends, up to the first that is malformed.
// In one of another vendor there are none. Values are memory of b.
func VendorAttributes(b []byte, vendor uint32) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		if len(b) < 4 || binary.BigEndian.Uint32(b) != vendor {
			return
		}
		for rest := b[4:]; len(rest) >= attributeHeader && rest[1] >= attributeHeader && int(rest[1]) <= len(rest); rest = rest[rest[1]:] {
			if !yield(rest[0], rest[attributeHeader:rest[1]]) {
				return
			}
		}
	}
}
