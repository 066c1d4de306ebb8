package dict

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"strconv"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/dictionary"
)

// Encode makes the attribute of the wire of a value's octets: inside
// Vendor-Specific (RFC 2865 section 5.26) where r is a vendor's, and with its tag
// where it has one. The error names the attribute.
func (r Ref) Encode(value []byte) (*radius.AVP, error) {
	switch {
	case r.Internal():
		return nil, fmt.Errorf("attribute %s is internal and cannot be sent", r.Name)
	case r.Encrypt != 0:
		return nil, fmt.Errorf("attribute %s is encrypted on the wire, which is not possible here", r.Name)
	case r.Vendor == 0 && r.Code == int(vendorSpecific):
		return nil, fmt.Errorf("attribute %s: name the attribute of the vendor instead", r.Name)
	}
	v := value
	if r.Tagged && r.Type == dictionary.AttributeInteger {
		if len(v) != 4 || v[0] != 0 {
			return nil, fmt.Errorf("attribute %s: a value with a tag has 24 bits", r.Name)
		}
		v = append([]byte{r.Tag}, v[1:]...)
	} else if r.Tag != 0 {
		v = append([]byte{r.Tag}, v...)
	}
	if r.Vendor == 0 {
		if len(v) > MaxValue {
			return nil, fmt.Errorf("attribute %s: %d octets, the most is %d", r.Name, len(v), MaxValue)
		}
		return &radius.AVP{Type: radius.Type(r.Code), Attribute: v}, nil
	}
	const header = 6
	if len(v) > MaxValue-header {
		return nil, fmt.Errorf("attribute %s: %d octets, the most is %d", r.Name, len(v), MaxValue-header)
	}
	b := make([]byte, 0, header+len(v))
	b = binary.BigEndian.AppendUint32(b, r.Vendor)
	b = append(b, byte(r.Code), byte(len(v)+2))
	return &radius.AVP{Type: vendorSpecific, Attribute: append(b, v...)}, nil
}

const vendorSpecific radius.Type = 26

// Values goes through the values of r in attrs, in order, without tags. Those in
// a malformed Vendor-Specific are left out. The octets are those of attrs.
func (r Ref) Values(attrs radius.Attributes) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, avp := range attrs {
			if r.Vendor == 0 {
				if int(avp.Type) == r.Code && !r.yield(avp.Attribute, yield) {
					return
				}
				continue
			}
			if avp.Type != vendorSpecific || len(avp.Attribute) < 4 ||
				binary.BigEndian.Uint32(avp.Attribute) != r.Vendor {
				continue
			}
			for b := avp.Attribute[4:]; len(b) >= 2 && int(b[1]) >= 2 && int(b[1]) <= len(b); b = b[b[1]:] {
				if int(b[0]) == r.Code && !r.yield(b[2:b[1]], yield) {
					return
				}
			}
		}
	}
}

// yield hands a value on, less its tag, unless the tag is another than r's.
func (r Ref) yield(v []byte, yield func([]byte) bool) bool {
	if !r.Tagged || len(v) == 0 {
		return yield(v)
	}
	var tag byte
	switch {
	case r.Type == dictionary.AttributeInteger && len(v) == 4:
		tag, v = v[0], []byte{0, v[1], v[2], v[3]}
	case v[0] <= 0x1f:
		tag, v = v[0], v[1:]
	}
	if r.Tag != 0 && r.Tag != tag {
		return true
	}
	return yield(v)
}

// Compare orders two values of a: numbers by size, everything else octet by
// octet.
func (a *Attr) Compare(x, y []byte) int {
	switch a.Type {
	case dictionary.AttributeInteger, dictionary.AttributeInteger64, dictionary.AttributeShort,
		dictionary.AttributeByte, dictionary.AttributeDate:
		x, y = bytes.TrimLeft(x, "\x00"), bytes.TrimLeft(y, "\x00")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
	case dictionary.AttributeSigned:
		if len(x) == 4 && len(y) == 4 {
			return compareSigned(binary.BigEndian.Uint32(x), binary.BigEndian.Uint32(y))
		}
	}
	return bytes.Compare(x, y)
}

func compareSigned(x, y uint32) int {
	a, b := int32(x), int32(y)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Format is a value as text that Parse reads back; for octets that are not of
// a's type it is hexadecimal. Passwords are values too: mind what is logged.
func (a *Attr) Format(value []byte) string {
	if s, err := a.format(value); err == nil {
		return s
	}
	return "0x" + hex.EncodeToString(value)
}

var errLength = errors.New("not the length of this type")

func (a *Attr) format(v []byte) (string, error) {
	switch a.Type {
	case dictionary.AttributeString:
		return escape(v), nil
	case dictionary.AttributeIPAddr, dictionary.AttributeIPv6Addr:
		if addr, ok := netip.AddrFromSlice(v); ok && addr.Is6() == (a.Type == dictionary.AttributeIPv6Addr) {
			return addr.String(), nil
		}
	case dictionary.AttributeIPv6Prefix, dictionary.AttributeIPv4Prefix:
		return formatPrefix(v, a.Type == dictionary.AttributeIPv6Prefix)
	case dictionary.AttributeIFID:
		if len(v) == 8 {
			return fmt.Sprintf("%x:%x:%x:%x", binary.BigEndian.Uint16(v), binary.BigEndian.Uint16(v[2:]),
				binary.BigEndian.Uint16(v[4:]), binary.BigEndian.Uint16(v[6:])), nil
		}
	case dictionary.AttributeEther:
		if len(v) == 6 {
			return net.HardwareAddr(v).String(), nil
		}
	case dictionary.AttributeDate:
		if len(v) == 4 {
			return time.Unix(int64(binary.BigEndian.Uint32(v)), 0).UTC().Format("2006-01-02T15:04:05Z07:00"), nil
		}
	case dictionary.AttributeSigned:
		if len(v) == 4 {
			return strconv.Itoa(int(int32(binary.BigEndian.Uint32(v)))), nil
		}
	case dictionary.AttributeInteger, dictionary.AttributeInteger64, dictionary.AttributeShort, dictionary.AttributeByte:
		return a.formatNumber(v)
	}
	return "", errLength
}

func (a *Attr) formatNumber(v []byte) (string, error) {
	var n uint64
	switch {
	case a.Type == dictionary.AttributeInteger && len(v) == 4:
		n = uint64(binary.BigEndian.Uint32(v))
	case a.Type == dictionary.AttributeInteger64 && len(v) == 8:
		n = binary.BigEndian.Uint64(v)
	case a.Type == dictionary.AttributeShort && len(v) == 2:
		n = uint64(binary.BigEndian.Uint16(v))
	case a.Type == dictionary.AttributeByte && len(v) == 1:
		n = uint64(v[0])
	default:
		return "", errLength
	}
	if name, ok := a.names[n]; ok {
		return name, nil
	}
	return strconv.FormatUint(n, 10), nil
}

func formatPrefix(v []byte, six bool) (string, error) {
	size := 4
	if six {
		size = 16
	}
	if len(v) < 2 || len(v) > 2+size || int(v[1]) > size*8 {
		return "", errLength
	}
	full := make([]byte, size)
	copy(full, v[2:])
	addr, _ := netip.AddrFromSlice(full)
	return netip.PrefixFrom(addr, int(v[1])).String(), nil
}

// escape is the reverse of unescape.
func escape(v []byte) string {
	b := make([]byte, 0, len(v))
	for _, c := range v {
		switch {
		case c == '\\' || c == '"':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < 0x20 || c == 0x7f:
			b = fmt.Appendf(b, `\%03o`, c)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
