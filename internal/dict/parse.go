package dict

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// MaxValue is the most octets of a value: an attribute has 255, two of them its
// header (RFC 2865 section 5).
const MaxValue = 253

// Parse turns the text of a value into its octets, as FreeRADIUS does for a value
// of radcheck or radreply. loc is the time zone of dates that name none; nil is
// time.Local.
//
//   - string: the text, with \n, \r, \t, \\, \" and \ooo (octal) replaced
//   - octets: hexadecimal after 0x, else the text as it is
//   - integer, byte, short: the name of a value, or a number, decimal or after 0x;
//     nothing is 0
//   - date: see [ParseTime]
//   - ipaddr, ipv6addr, ipv6prefix, ipv4prefix, ifid, ether: as usually written
//
// The error names the attribute and the reason, not the value.
func (a *Attr) Parse(text string, loc *time.Location) ([]byte, error) {
	b, err := a.parse(text, loc)
	if err == nil && len(b) > MaxValue && !a.Internal() {
		err = fmt.Errorf("%d octets, the most is %d", len(b), MaxValue)
	}
	if err != nil {
		return nil, fmt.Errorf("attribute %s (%s): %w", a.Name, a.Type, err)
	}
	return b, nil
}

func (a *Attr) parse(text string, loc *time.Location) ([]byte, error) {
	switch a.Type {
	case TypeString:
		return unescape(text), nil
	case TypeOctets:
		return a.parseOctets(text)
	}
	text = strings.TrimSpace(text)
	if text == "" && (a.Type.bits() > 0 || a.Type == TypeDate) {
		text = "0" // to FreeRADIUS
	}
	switch a.Type {
	case TypeIPAddr:
		return parseIPv4(strings.TrimSuffix(text, "/32"))
	case TypeIPv6Addr:
		return parseIPv6(strings.TrimSuffix(text, "/128"))
	case TypeComboIP:
		if strings.Contains(text, ":") {
			return parseIPv6(text)
		}
		return parseIPv4(text)
	case TypeIPv6Prefix:
		return parsePrefix(text, true)
	case TypeIPv4Prefix:
		return parsePrefix(text, false)
	case TypeIFID:
		return parseInterfaceID(text)
	case TypeEther:
		return parseEther(text)
	case TypeDate:
		t, err := ParseTime(text, loc)
		if err != nil {
			return nil, err
		}
		if t.Unix() < 0 || t.Unix() > 1<<32-1 {
			return nil, errors.New("a date that 32 bits cannot hold")
		}
		return binary.BigEndian.AppendUint32(nil, uint32(t.Unix())), nil
	case TypeInteger:
		n, err := a.parseNumber(text, 32)
		return binary.BigEndian.AppendUint32(nil, uint32(n)), err
	case TypeInteger64:
		n, err := a.parseNumber(text, 64)
		return binary.BigEndian.AppendUint64(nil, n), err
	case TypeShort:
		n, err := a.parseNumber(text, 16)
		return binary.BigEndian.AppendUint16(nil, uint16(n)), err
	case TypeByte:
		n, err := a.parseNumber(text, 8)
		return []byte{byte(n)}, err
	case TypeSigned:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, errors.New("not a number of 32 bits with sign")
		}
		return binary.BigEndian.AppendUint32(nil, uint32(n)), nil
	}
	if strings.HasPrefix(text, "0x") {
		return a.parseOctets(text)
	}
	return nil, errors.New("a value of this type can only be given in hexadecimal, 0x...")
}

func (a *Attr) parseOctets(text string) ([]byte, error) {
	b := []byte(text)
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		var err error
		if b, err = hex.DecodeString(text[2:]); err != nil {
			return nil, errors.New("not hexadecimal after 0x")
		}
	}
	if a.Size > 0 && len(b) != a.Size && len(b) > 0 && a.Encrypt == 0 {
		return nil, fmt.Errorf("%d octets, must be %d", len(b), a.Size)
	}
	return b, nil
}

// parseNumber reads the name of a value or a number of at most so many bits. As in
// FreeRADIUS a number of 32 or 64 bits may be negative: -1 is the greatest one, by
// which unlimited is meant. Unlike there, one that does not fit is an error.
func (a *Attr) parseNumber(text string, bits int) (uint64, error) {
	if n, ok := a.numbers[strings.ToLower(text)]; ok {
		return n, nil
	}
	base, digits := 10, text
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		base, digits = 16, rest
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), base, bits)
	if negative, e := strconv.ParseInt(digits, 10, bits); err != nil && e == nil && bits >= 32 {
		n, err = uint64(negative), nil
	}
	if err != nil {
		return 0, fmt.Errorf("neither the name of a value nor a number of %d bits", bits)
	}
	return n, nil
}

// unescape replaces the escapes of a string, and leaves any other backslash alone.
func unescape(s string) []byte {
	if strings.IndexByte(s, '\\') < 0 {
		return []byte(s)
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case '\\', '"':
			b = append(b, c)
		default:
			if i+3 <= len(s) {
				if n, err := strconv.ParseUint(s[i:i+3], 8, 8); err == nil {
					b = append(b, byte(n))
					i += 2
					continue
				}
			}
			b = append(b, '\\', c)
		}
	}
	return b
}

func parseIPv6(text string) ([]byte, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" || !addr.Is6() {
		return nil, errors.New("not an IPv6 address")
	}
	return addr.AsSlice(), nil
}

// parseIPv4 reads an address in all the forms that inet_aton(3) and so FreeRADIUS
// reads: 10.1 is 10.0.0.1, and so are 167772161 and 0xa.1; 010.0.0.1 is octal.
func parseIPv4(text string) ([]byte, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is4() {
		return addr.AsSlice(), nil
	}
	wrong := errors.New("not an IPv4 address")
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return nil, wrong
	}
	var addr [4]byte
	for i, part := range parts {
		base, bits := 10, 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i) // the last one fills what is left
		}
		if len(part) > 1 && part[0] == '0' {
			base = 8
			if part[1] == 'x' || part[1] == 'X' {
				base, part = 16, part[2:]
			}
		}
		n, err := strconv.ParseUint(part, base, bits)
		if err != nil {
			return nil, wrong
		}
		if bits == 8 {
			addr[i] = byte(n)
			continue
		}
		var last [4]byte
		binary.BigEndian.PutUint32(last[:], uint32(n))
		copy(addr[i:], last[i:])
	}
	return addr[:], nil
}

// parsePrefix writes all octets of the address, as FreeRADIUS does: NASes exist
// that do not understand the shorter form of RFC 3162 section 2.3.
func parsePrefix(text string, six bool) ([]byte, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, addrErr := netip.ParseAddr(text)
		if addrErr != nil || addr.Zone() != "" {
			return nil, errors.New("not a prefix, as 2001:db8::/48")
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	if p.Addr().Is6() != six {
		return nil, errors.New("a prefix of the other IP version")
	}
	return append([]byte{0, byte(p.Bits())}, p.Masked().Addr().AsSlice()...), nil
}

func parseInterfaceID(text string) ([]byte, error) {
	groups := strings.Split(text, ":")
	if len(groups) != 4 {
		return nil, errors.New("not four groups of hexadecimal digits, as 0:0:0:1")
	}
	b := make([]byte, 0, 8)
	for _, g := range groups {
		n, err := strconv.ParseUint(g, 16, 16)
		if err != nil {
			return nil, errors.New("not four groups of hexadecimal digits, as 0:0:0:1")
		}
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	}
	return b, nil
}

func parseEther(text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.NewReplacer(":", "", "-", "", ".", "").Replace(text))
	if err != nil || len(b) != 6 {
		return nil, errors.New("not a MAC address")
	}
	return b, nil
}
