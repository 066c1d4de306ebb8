package loadgen

import (
	"fmt"
	"strconv"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/wire"
)

// Traffic that sessions report, in octets a second.
const (
	inputRate, outputRate = 25_000, 175_000
	packetLength          = 1000
)

// build writes what conversation c asks next into the request r.
func (l *lane) build(c *conversation, id uint8, r *request) (err error) {
	b := l.builder
	switch {
	case c.kind.Method == MethodStatus:
		b.begin(radius.CodeStatusServer, id)
		b.octets(typeNASIdentifier, nasIdentifier)
	case c.step == stepLogin:
		b.begin(radius.CodeAccessRequest, id)
		b.userName(l.Users, c.user)
		if err := l.credentials(c); err != nil {
			return l.refuse(c, err)
		}
		l.port(c)
	default:
		b.begin(radius.CodeAccountingRequest, id)
		b.userName(l.Users, c.user)
		l.port(c)
		l.record(c)
	}
	r.code = b.packet.Code
	if r.octets, err = b.end(grow(r.octets)); err != nil {
		return l.refuse(c, err)
	}
	r.auth = wire.Authenticator(r.octets)
	return nil
}

// refuse says for which user a request cannot be made; of a password it says nothing.
func (l *lane) refuse(c *conversation, err error) error {
	return fmt.Errorf("user %d, %.64q: %w", c.user, l.Users.appendName(nil, c.user), err)
}

var nasIdentifier = []byte("radperf")

func (l *lane) credentials(c *conversation) error {
	b := l.builder
	switch c.kind.Method {
	case MethodCHAP:
		b.chap(l.Users, c.user)
	case MethodMSCHAP:
		m, err := l.mschap1.of(l.Users, c.user, b.random, (*mschap1).compute)
		if err != nil {
			return err
		}
		c.ntKey = m.key
		b.mschap1(m)
	case MethodMSCHAPv2:
		m, err := l.mschap2.of(l.Users, c.user, b.random, (*mschap2).compute)
		if err != nil {
			return err
		}
		c.success[0] = m.response[0]
		copy(c.success[1:], m.success[:])
		b.mschap2(m)
	default:
		return b.pap(l.Users, c.user)
	}
	return nil
}

// port adds what says where the subscriber is.
func (l *lane) port(c *conversation) {
	b := l.builder
	if l.nas.Is4() {
		address := l.nas.As4()
		b.octets(typeNASIPAddress, address[:])
	}
	b.octets(typeNASIdentifier, nasIdentifier)
	b.number(typeNASPort, uint32(c.number%1_000_000))
	b.number(typeNASPortType, uint32(rfc2865.NASPortType_Value_Ethernet))
	b.number(typeServiceType, uint32(rfc2865.ServiceType_Value_FramedUser))
	b.number(typeFramedProtocol, uint32(rfc2865.FramedProtocol_Value_PPP))
	from := len(b.scratch)
	b.scratch = appendMAC(b.scratch, uint32(c.user))
	b.add(typeCallingStationID, from)
}

// appendMAC appends a MAC address of those for documentation (RFC 7042 section 2.1.1) or, as there are but 256 of them,
// one that is locally administered.
func appendMAC(dst []byte, n uint32) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, "02:00"...)
	for shift := 24; shift >= 0; shift -= 8 {
		octet := byte(n >> shift)
		dst = append(dst, ':', digits[octet>>4], digits[octet&15])
	}
	return dst
}

// record adds what an accounting record has besides.
func (l *lane) record(c *conversation) {
	b := l.builder
	b.number(typeStatusType, uint32(c.status()))
	from := len(b.scratch)
	b.scratch = strconv.AppendUint(append(b.scratch, l.prefix...), c.number, 16)
	b.add(typeSessionID, from)
	address := c.address
	if address == [4]byte{} {
		address = [4]byte{10, byte(c.user >> 16), byte(c.user >> 8), byte(c.user)}
	}
	b.octets(typeFramedIPAddress, address[:])
	b.number(typeAuthentic, uint32(rfc2866.AcctAuthentic_Value_RADIUS))
	seconds := uint64(c.elapsed.Seconds())
	b.number(typeEventTimestamp, uint32(l.wall+int64(seconds)))
	b.raw(c.class)
	if c.step == stepStart {
		return
	}
	b.number(typeSessionTime, uint32(seconds))
	in, out := seconds*inputRate, seconds*outputRate
	b.number(typeInputOctets, uint32(in))
	b.number(typeOutputOctets, uint32(out))
	b.number(typeInputGigawords, uint32(in>>32))
	b.number(typeOutputGigawords, uint32(out>>32))
	b.number(typeInputPackets, uint32(in/packetLength))
	b.number(typeOutputPackets, uint32(out/packetLength))
	if c.step == stepStop {
		b.number(typeTerminateCause, uint32(c.cause))
	}
}
