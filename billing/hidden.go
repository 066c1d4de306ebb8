package billing

import (
	"crypto/md5" //nolint:gosec // what RADIUS hides values with
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// A Hiding is how the value of an attribute is encrypted on the wire.
type Hiding uint8

const (
	// HideUserPassword is that of User-Password (RFC 2865 section 5.2), "encrypt=1"
	// in FreeRADIUS's dictionaries: up to 128 octets.
	HideUserPassword Hiding = iota + 1

	// HideTunnelPassword is that of Tunnel-Password (RFC 2868 section 3.5) and
	// MS-MPPE-Send-Key (RFC 2548 section 2.4.2), "encrypt=2": up to 239 octets, with
	// a salt that no other attribute of the packet has.
	HideTunnelPassword

	// HideAscendSecret is that of Ascend-Send-Secret, "encrypt=3": up to 16 octets.
	HideAscendSecret
)

// most is how many octets of a value can be hidden.
func (h Hiding) most() int {
	switch h {
	case HideUserPassword:
		return 128
	case HideTunnelPassword:
		return 239
	case HideAscendSecret:
		return 16
	}
	return -1
}

// A Hidden is an attribute of an Access-Accept whose value is encrypted on the
// wire, with the secret of the client and the authenticator of the request: so a
// back end says the value in the clear, and the Processor encrypts it in each
// reply. It never shows its value, however it is printed. The zero Hidden is no
// attribute, and a Grant with it is not answered.
type Hidden struct {
	how    Hiding
	vendor uint32
	typ    uint8
	tagged bool
	tag    uint8
	value  []byte
}

// NewHidden returns an attribute by its number, of a vendor if that is not 0. The
// value is kept, and must not be changed afterwards. The error says that it is too
// long, and how long it may be.
func NewHidden(how Hiding, vendor uint32, typ uint8, value []byte) (Hidden, error) {
	most := how.most()
	if most < 0 || typ == 0 {
		return Hidden{}, fmt.Errorf("billing: NewHidden: there is no Hiding %d of an attribute %d", how, typ)
	}
	if len(value) > most {
		return Hidden{}, fmt.Errorf("%d octets to encrypt, the most is %d", len(value), most)
	}
	return Hidden{how: how, vendor: vendor, typ: typ, value: value}, nil
}

// WithTag returns h with a tag (RFC 2868 section 3.1) in front of its value: 1 to
// 31; 0 is the octet that says that there is none, which Tunnel-Password has as
// well.
func (h Hidden) WithTag(tag uint8) Hidden {
	h.tagged, h.tag = true, tag&0x1f
	return h
}

// Is reports whether h is the attribute of this number, of a vendor if that is
// not 0.
func (h Hidden) Is(vendor uint32, typ uint8) bool { return h.vendor == vendor && h.typ == typ }

// Format prints which attribute it is, whatever the verb.
func (h Hidden) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, h.name())
}

func (h Hidden) name() string {
	if h.vendor == 0 {
		return fmt.Sprintf("Hidden(%d)", h.typ)
	}
	return fmt.Sprintf("Hidden(%d.%d)", h.vendor, h.typ)
}

// salts are the salts of one packet, each of them another one (RFC 2868 section
// 3.5). The first is random.
type salts struct {
	next  uint16
	begun bool
}

func (s *salts) take() [2]byte {
	var salt [2]byte
	if !s.begun {
		_, _ = rand.Read(salt[:]) // never fails: see its documentation
		s.next, s.begun = binary.BigEndian.Uint16(salt[:]), true
	}
	binary.BigEndian.PutUint16(salt[:], s.next|0x8000)
	s.next++
	return salt
}

// addHidden encrypts attributes and adds them.
func (a *access) addHidden(resp *radpool.Response, list []Hidden, s *salts) error {
	for i := range list {
		h := &list[i]
		hidden, err := h.encrypt(a.Request.Secret, &a.Request.Authenticator, s)
		if err != nil {
			return fmt.Errorf("billing: %s: %w", h.name(), err)
		}
		var buf [maxValue]byte
		b := buf[:0]
		typ := radius.Type(h.typ)
		if h.vendor != 0 {
			typ = rfc2865.VendorSpecific_Type
			length := 2 + len(hidden)
			if h.tagged {
				length++
			}
			b = binary.BigEndian.AppendUint32(b, h.vendor)
			b = append(b, h.typ, byte(length))
		}
		if h.tagged {
			b = append(b, h.tag)
		}
		resp.Add(typ, append(b, hidden...))
	}
	return nil
}

// encrypt returns the value as it is on the wire, without its tag.
func (h *Hidden) encrypt(secret []byte, authenticator *[16]byte, s *salts) ([]byte, error) {
	switch h.how {
	case HideUserPassword:
		return radius.NewUserPassword(h.value, secret, authenticator[:])
	case HideTunnelPassword:
		salt := s.take()
		return radius.NewTunnelPassword(h.value, salt[:], secret, authenticator[:])
	case HideAscendSecret:
		digest := md5.New()
		digest.Write(authenticator[:])
		digest.Write(secret)
		b := digest.Sum(nil)
		for i, c := range h.value {
			b[i] ^= c
		}
		return b, nil
	}
	return nil, fmt.Errorf("no Hiding %d", h.how)
}
