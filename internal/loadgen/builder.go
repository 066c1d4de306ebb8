package loadgen

import (
	"crypto/md5" //nolint:gosec // what CHAP is made of (RFC 1994 section 4.1)
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// builder makes requests in memory that it keeps, so that one costs no allocation.
type builder struct {
	secret  *wire.Secret
	random  *rand.ChaCha8
	packet  radius.Packet
	avps    [maxAttributes]radius.AVP
	scratch []byte // the values of the attributes
	text    []byte
}

// maxAttributes is more than what a request has: the 20 that an Interim has, and maxClasses.
const maxAttributes = 48

func newBuilder(secret *wire.Secret, seed [32]byte) *builder {
	return &builder{
		secret: secret, random: rand.NewChaCha8(seed),
		packet:  radius.Packet{Attributes: make(radius.Attributes, 0, maxAttributes)},
		scratch: make([]byte, 0, wire.MaxPacketLength), text: make([]byte, 0, 2*MaxNameLength),
	}
}

// begin begins a request.
func (b *builder) begin(code radius.Code, id uint8) {
	b.packet.Code, b.packet.Identifier = code, id
	b.packet.Attributes = b.packet.Attributes[:0]
	b.scratch = b.scratch[:0]
	for i := 0; i < len(b.packet.Authenticator); i += 8 {
		binary.LittleEndian.PutUint64(b.packet.Authenticator[i:], b.random.Uint64())
	}
}

// end encodes and signs it into dst, whose memory is used where it suffices.
func (b *builder) end(dst []byte) ([]byte, error) {
	return wire.EncodeRequest(dst[:0], &b.packet, b.secret)
}

// add adds an attribute whose value is what was appended to scratch since from.
func (b *builder) add(t radius.Type, from int) {
	avp := &b.avps[len(b.packet.Attributes)]
	avp.Type = t
	avp.Attribute = b.scratch[from:len(b.scratch):len(b.scratch)]
	b.packet.Attributes = append(b.packet.Attributes, avp)
}

func (b *builder) octets(t radius.Type, value []byte) {
	from := len(b.scratch)
	b.scratch = append(b.scratch, value...)
	b.add(t, from)
}

func (b *builder) number(t radius.Type, v uint32) {
	from := len(b.scratch)
	b.scratch = binary.BigEndian.AppendUint32(b.scratch, v)
	b.add(t, from)
}

// raw adds attributes as they stood in a packet, type and length before each value.
func (b *builder) raw(attributes []byte) {
	for t, value := range wire.Attributes(attributes) {
		b.octets(t, value)
	}
}

func (b *builder) userName(u *Users, i int) {
	from := len(b.scratch)
	b.scratch = u.appendName(b.scratch, i)
	b.add(typeUserName, from)
}

// pap adds a User-Password (RFC 2865 section 5.2).
func (b *builder) pap(u *Users, i int) error {
	b.text = u.appendPassword(b.text[:0], i)
	from := len(b.scratch)
	var err error
	b.scratch, err = wire.HidePassword(b.scratch, b.text, b.packet.Authenticator, b.secret)
	if err != nil {
		return err
	}
	b.add(typeUserPassword, from)
	return nil
}

// chap adds a CHAP-Password whose challenge is the Request Authenticator (RFC 2865 section 5.3).
func (b *builder) chap(u *Users, i int) {
	ident := b.packet.Identifier
	b.text = u.appendPassword(append(b.text[:0], ident), i)
	b.text = append(b.text, b.packet.Authenticator[:]...)
	sum := md5.Sum(b.text) //nolint:gosec // as above
	from := len(b.scratch)
	b.scratch = append(append(b.scratch, ident), sum[:]...)
	b.add(typeCHAPPassword, from)
}

// mschap1 adds the challenge and the response that were computed for the user.
func (b *builder) mschap1(m *mschap1) {
	b.microsoft(msCHAPChallenge, m.challenge[:])
	b.microsoft(msCHAPResponse, m.response[:])
}

// mschap2 is mschap1 for version 2.
func (b *builder) mschap2(m *mschap2) {
	b.microsoft(msCHAPChallenge, m.challenge[:])
	b.microsoft(msCHAP2Response, m.response[:])
}

func (b *builder) microsoft(t byte, value []byte) {
	from := len(b.scratch)
	b.scratch = binary.BigEndian.AppendUint32(b.scratch, vendorMicrosoft)
	b.scratch = append(b.scratch, t, byte(len(value)+2))
	b.scratch = append(b.scratch, value...)
	b.add(typeVendorSpecific, from)
}

// grow makes room for a packet of usual size, so that encoding one allocates nothing later.
func grow(dst []byte) []byte { return slices.Grow(dst[:0], 512) }
