package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net/netip"
	"slices"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

var (
	errShort    = errors.New("journal: the record is cut short")
	errDamaged  = errors.New("journal: the record is damaged: its checksum does not match")
	errTrailing = errors.New("journal: the record has octets after its end")
)

// decodeRecord is what appendRecord has encoded. The result owns its memory.
func decodeRecord(b []byte) (*billing.AccountingRecord, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	if b[0] != encoding {
		return nil, fmt.Errorf("journal: the record has the encoding %d, and this version knows %d: it may be of a newer version",
			b[0], encoding)
	}
	if len(b) < 5 {
		return nil, errShort
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, errDamaged
	}
	d := decoder{b: body[1:]}
	rec := &billing.AccountingRecord{
		Status:              billing.StatusType(d.uint32()),
		SessionID:           d.string(),
		UniqueID:            d.string(),
		UserName:            d.string(),
		Time:                d.time(),
		SessionTime:         time.Duration(d.signed()),
		HasSession:          d.bool(),
		InputOctets:         d.number(),
		OutputOctets:        d.number(),
		InputPackets:        d.number(),
		OutputPackets:       d.number(),
		TerminateCause:      d.uint32(),
		Authentic:           d.uint32(),
		NASAddr:             d.addr(),
		NASIdentifier:       d.string(),
		NASPort:             d.string(),
		NASPortType:         d.uint32(),
		HasPortType:         d.bool(),
		CallingStationID:    d.string(),
		CalledStationID:     d.string(),
		ServiceType:         d.uint32(),
		FramedProtocol:      d.uint32(),
		FramedAddr:          d.addr(),
		FramedIPv6Addr:      d.addr(),
		FramedIPv6Prefix:    d.prefix(),
		DelegatedIPv6Prefix: d.prefix(),
		FramedInterfaceID:   d.string(),
		ConnectInfo:         d.string(),
	}
	if class := d.octets(d.number()); len(class) > 0 {
		rec.Class = slices.Clone(class)
	}
	rec.Request = d.request()
	switch {
	case d.err != nil:
		return nil, d.err
	case len(d.b) > 0:
		return nil, errTrailing
	}
	return rec, nil
}

// A decoder takes from b. After an error it takes nothing but zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

// octets takes n octets, which are not copied.
func (d *decoder) octets(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail(errShort)
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) signed() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	return v
}

// limited takes a number of at most most.
func (d *decoder) limited(most uint64) uint64 {
	v := d.number()
	if v > most {
		d.fail(fmt.Errorf("journal: the record has the number %d where %d is the most", v, most))
		return 0
	}
	return v
}

func (d *decoder) uint32() uint32 { return uint32(d.limited(math.MaxUint32)) }

func (d *decoder) bool() bool { return d.limited(1) == 1 }

func (d *decoder) string() string { return string(d.octets(d.number())) }

func (d *decoder) time() time.Time {
	sec := d.signed()
	return time.Unix(sec, int64(d.limited(999_999_999)))
}

func (d *decoder) addr() (a netip.Addr) {
	if err := a.UnmarshalBinary(d.octets(d.number())); err != nil {
		d.fail(fmt.Errorf("journal: the record has an address that is none: %w", err))
	}
	return a
}

func (d *decoder) prefix() netip.Prefix {
	a, bits := d.addr(), d.signed()
	p := netip.PrefixFrom(a, int(bits))
	if d.err == nil && int64(p.Bits()) != bits {
		d.fail(errors.New("journal: the record has a prefix that is none"))
	}
	return p
}

func (d *decoder) addrPort() netip.AddrPort {
	a := d.addr()
	return netip.AddrPortFrom(a, uint16(d.limited(math.MaxUint16)))
}

// request takes a request. Its secret is not there.
func (d *decoder) request() *radpool.Request {
	if !d.bool() {
		return nil
	}
	r := &radpool.Request{RemoteAddr: d.addrPort(), LocalAddr: d.addrPort(), Received: d.time()}
	if d.bool() {
		r.Client = &radpool.Client{Name: d.string(), Prefix: d.prefix()}
	}
	if !d.bool() {
		return r
	}
	r.Packet = &radius.Packet{Code: radius.Code(d.signed())}
	if head := d.octets(17); len(head) == 17 {
		r.Identifier = head[0]
		copy(r.Authenticator[:], head[1:])
	}
	n := d.limited(uint64(len(d.b))) // each has an octet at least
	if n > 0 {
		r.Attributes = make(radius.Attributes, 0, n)
	}
	for range n {
		if !d.bool() {
			r.Attributes = append(r.Attributes, nil)
			continue
		}
		a := &radius.AVP{Type: radius.Type(d.signed())}
		a.Attribute = append(radius.Attribute{}, d.octets(d.number())...)
		r.Attributes = append(r.Attributes, a)
	}
	return r
}
