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
	if r.Tagged && r.Type == TypeInteger {
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
	header := 4 + int(r.wire.number) + int(r.wire.length)
	if len(v) > MaxValue-header {
		return nil, fmt.Errorf("attribute %s: %d octets, the most is %d", r.Name, len(v), MaxValue-header)
	}
	b := make([]byte, 0, header+len(v))
	b = binary.BigEndian.AppendUint32(b, r.Vendor)
	b = appendUint(b, uint32(r.Code), r.wire.number)
	b = appendUint(b, uint32(header-4+len(v)), r.wire.length)
	return &radius.AVP{Type: vendorSpecific, Attribute: append(b, v...)}, nil
}

// appendUint appends the last size octets of n.
func appendUint(b []byte, n uint32, size uint8) []byte {
	var all [4]byte
	binary.BigEndian.PutUint32(all[:], n)
	return append(b, all[4-size:]...)
}

// next takes the first attribute off what follows the vendor in a
// Vendor-Specific.
func (f format) next(b []byte) (code int, value, rest []byte, ok bool) {
	header := int(f.number) + int(f.length)
	if len(b) < header {
		return 0, nil, nil, false
	}
	for _, c := range b[:f.number] {
		code = code<<8 | int(c)
	}
	end := len(b) // where there is no length
	if f.length > 0 {
		end = 0
		for _, c := range b[f.number:header] {
			end = end<<8 | int(c)
		}
	}
	if end < header || end > len(b) {
		return 0, nil, nil, false
	}
	return code, b[header:end], b[end:], true
}

// Find returns the attribute of the dictionary that an attribute of the wire is,
// and its value, with the tag if there is one. Of a Vendor-Specific it is the only
// one in there; nil: there are several, or it is malformed or unknown.
func (d *Dictionary) Find(avp *radius.AVP) (a *Attr, value []byte) {
	if avp.Type != vendorSpecific || len(avp.Attribute) < 4 {
		return d.ByNumber(0, int(avp.Type)), avp.Attribute
	}
	vendor := binary.BigEndian.Uint32(avp.Attribute)
	code, value, rest, ok := d.formatOf(vendor).next(avp.Attribute[4:])
	if !ok || len(rest) > 0 {
		return nil, nil
	}
	return d.ByNumber(vendor, code), value
}

const vendorSpecific radius.Type = 26

// All goes through what an attribute of the wire is: itself, or the attributes in a
// Vendor-Specific. Values come without their tags, which are in the Ref. What is not in
// the dictionary is named by number, and octets. Where a Vendor-Specific is malformed the
// last Ref has no Attr, and the value is all that could not be read.
func (d *Dictionary) All(avp *radius.AVP) iter.Seq2[Ref, []byte] {
	return func(yield func(Ref, []byte) bool) {
		if avp.Type != vendorSpecific {
			yield(d.untagged(0, int(avp.Type), avp.Attribute))
			return
		}
		if len(avp.Attribute) < 5 {
			yield(Ref{}, avp.Attribute)
			return
		}
		vendor := binary.BigEndian.Uint32(avp.Attribute)
		for b := []byte(avp.Attribute[4:]); len(b) > 0; {
			code, value, rest, ok := d.formatOf(vendor).next(b)
			if !ok {
				yield(Ref{}, b)
				return
			}
			if !yield(d.untagged(vendor, code, value)) {
				return
			}
			b = rest
		}
	}
}

// untagged is the attribute of that number, and its value without the tag.
func (d *Dictionary) untagged(vendor uint32, code int, value []byte) (Ref, []byte) {
	a := d.ByNumber(vendor, code)
	if a == nil {
		a = &Attr{Vendor: vendor, Code: code, Type: TypeOctets, wire: d.formatOf(vendor)}
		if a.Name = "Attr-" + strconv.Itoa(code); vendor != 0 {
			a.Name = fmt.Sprintf("Attr-26.%d.%d", vendor, code)
		}
	}
	ref := Ref{Attr: a}
	if a.Tagged {
		ref.Tag, value = a.cutTag(value)
	}
	return ref, value
}

// cutTag takes the tag off a value that may have one (RFC 2868 section 3.1).
func (a *Attr) cutTag(v []byte) (tag uint8, value []byte) {
	switch {
	case a.Type == TypeInteger && len(v) == 4:
		return v[0], []byte{0, v[1], v[2], v[3]}
	case len(v) > 0 && v[0] <= 0x1f:
		return v[0], v[1:]
	}
	return 0, v
}

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
			for b := []byte(avp.Attribute[4:]); len(b) > 0; {
				code, value, rest, ok := r.wire.next(b)
				if !ok {
					break
				}
				if code == r.Code && !r.yield(value, yield) {
					return
				}
				b = rest
			}
		}
	}
}

// yield hands a value on, less its tag, unless the tag is another than r's.
func (r Ref) yield(v []byte, yield func([]byte) bool) bool {
	if !r.Tagged || len(v) == 0 {
		return yield(v)
	}
	tag, v := r.cutTag(v)
	if r.Tag != 0 && r.Tag != tag {
		return true
	}
	return yield(v)
}

// Compare orders two values of a: numbers by size, everything else octet by
// octet.
func (a *Attr) Compare(x, y []byte) int {
	switch a.Type {
	case TypeInteger, TypeInteger64, TypeShort,
		TypeByte, TypeDate:
		x, y = bytes.TrimLeft(x, "\x00"), bytes.TrimLeft(y, "\x00")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
	case TypeSigned:
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
	case TypeString:
		return escape(v), nil
	case TypeIPAddr, TypeIPv6Addr:
		if addr, ok := netip.AddrFromSlice(v); ok && addr.Is6() == (a.Type == TypeIPv6Addr) {
			return addr.String(), nil
		}
	case TypeComboIP:
		if addr, ok := netip.AddrFromSlice(v); ok {
			return addr.String(), nil
		}
	case TypeIPv6Prefix, TypeIPv4Prefix:
		return formatPrefix(v, a.Type == TypeIPv6Prefix)
	case TypeIFID:
		if len(v) == 8 {
			return fmt.Sprintf("%x:%x:%x:%x", binary.BigEndian.Uint16(v), binary.BigEndian.Uint16(v[2:]),
				binary.BigEndian.Uint16(v[4:]), binary.BigEndian.Uint16(v[6:])), nil
		}
	case TypeEther:
		if len(v) == 6 {
			return net.HardwareAddr(v).String(), nil
		}
	case TypeDate:
		if len(v) == 4 {
			return time.Unix(int64(binary.BigEndian.Uint32(v)), 0).UTC().Format("2006-01-02T15:04:05Z07:00"), nil
		}
	case TypeSigned:
		if len(v) == 4 {
			return strconv.Itoa(int(int32(binary.BigEndian.Uint32(v)))), nil
		}
	case TypeInteger, TypeInteger64, TypeShort, TypeByte:
		return a.formatNumber(v)
	}
	return "", errLength
}

func (a *Attr) formatNumber(v []byte) (string, error) {
	var n uint64
	switch {
	case a.Type == TypeInteger && len(v) == 4:
		n = uint64(binary.BigEndian.Uint32(v))
	case a.Type == TypeInteger64 && len(v) == 8:
		n = binary.BigEndian.Uint64(v)
	case a.Type == TypeShort && len(v) == 2:
		n = uint64(binary.BigEndian.Uint16(v))
	case a.Type == TypeByte && len(v) == 1:
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
