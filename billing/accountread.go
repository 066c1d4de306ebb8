package billing

import (
	"crypto/md5" //nolint:gosec // what acct_unique is made of
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"
	"layeh.com/radius/rfc6911"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/radpool"
)

// A record is one Accounting-Request on its way through the Processor.
type record struct {
	AccountingRecord
	problem string // the attribute that is missing or malformed; empty: none
	stored  bool   // it is durable
	raw     rawRecord

	// Memory of what is printed, until it is a string.
	port   [len("4294967295")]byte
	unique [2 * md5.Size]byte
}

// rawRecord is what the record is put together from.
type rawRecord struct {
	userName, sessionID, nasIdentifier, portID []byte

	port                  uint32
	hasPort, hasStatus    bool
	nas4, nas6            netip.Addr
	inGig, outGig         uint32
	inOctets, outOctets   uint32
	inPackets, outPackets uint32
	sessionTime, delay    uint32
	event                 uint32
}

var recordSlab arena.Slab[record]

// readAccounting reads an Accounting-Request. What is wrong with it is told by
// problem. Of an attribute that stands more than once the first counts.
func readAccounting(req *radpool.Request, now time.Time) *record {
	r := recordSlab.New(req.Arena())
	r.Request = req
	var (
		strings joiner
		seen    [256]bool
	)
	for _, avp := range req.Attributes {
		if avp == nil || avp.Type < 0 || avp.Type > 255 || seen[avp.Type] {
			continue
		}
		seen[avp.Type] = true
		if !r.readAmount(avp.Type, avp.Attribute) && !r.readIdentity(avp.Type, avp.Attribute) {
			r.readOther(&strings, avp.Type, avp.Attribute)
		}
	}
	r.finish(&strings, now)
	return r
}

func (r *record) bad(attribute string) {
	if r.problem == "" {
		r.problem = attribute
	}
}

// readAmount reads what the session used and when, which must be well formed. It
// is false if t is nothing of that kind.
func (r *record) readAmount(t radius.Type, v []byte) bool {
	var (
		dst  *uint32
		name string
	)
	switch raw := &r.raw; t {
	case rfc2866.AcctStatusType_Type:
		dst, name = (*uint32)(&r.Status), "Acct-Status-Type"
		raw.hasStatus = true
	case rfc2866.AcctInputOctets_Type:
		dst, name = &raw.inOctets, "Acct-Input-Octets"
	case rfc2866.AcctOutputOctets_Type:
		dst, name = &raw.outOctets, "Acct-Output-Octets"
	case rfc2869.AcctInputGigawords_Type:
		dst, name = &raw.inGig, "Acct-Input-Gigawords"
	case rfc2869.AcctOutputGigawords_Type:
		dst, name = &raw.outGig, "Acct-Output-Gigawords"
	case rfc2866.AcctInputPackets_Type:
		dst, name = &raw.inPackets, "Acct-Input-Packets"
	case rfc2866.AcctOutputPackets_Type:
		dst, name = &raw.outPackets, "Acct-Output-Packets"
	case rfc2866.AcctSessionTime_Type:
		dst, name = &raw.sessionTime, "Acct-Session-Time"
		r.HasSession = true
	case rfc2866.AcctDelayTime_Type:
		dst, name = &raw.delay, "Acct-Delay-Time"
	case rfc2869.EventTimestamp_Type:
		dst, name = &raw.event, "Event-Timestamp"
	case rfc2865.NASPort_Type:
		dst, name = &raw.port, "NAS-Port"
		raw.hasPort = true
	default:
		return false
	}
	n, ok := uint32Of(v)
	if !ok {
		r.bad(name)
	}
	*dst = n
	return true
}

// readIdentity reads what tells the session from others.
func (r *record) readIdentity(t radius.Type, v []byte) bool {
	var ok bool
	switch raw := &r.raw; t {
	case rfc2865.UserName_Type:
		raw.userName = v
	case rfc2866.AcctSessionID_Type:
		raw.sessionID = v
	case rfc2865.NASIdentifier_Type:
		raw.nasIdentifier = v
	case nasPortIDType:
		raw.portID = v
	case rfc2865.Class_Type:
		r.Class = v
	case rfc2865.NASIPAddress_Type:
		if raw.nas4, ok = addrOf(v, 4); !ok {
			r.bad("NAS-IP-Address")
		}
	case rfc3162.NASIPv6Address_Type:
		if raw.nas6, ok = addrOf(v, 16); !ok {
			r.bad("NAS-IPv6-Address")
		}
	default:
		return false
	}
	return true
}

// readOther reads what is stored beside, and is left out if it is malformed.
func (r *record) readOther(strings *joiner, t radius.Type, v []byte) {
	switch t {
	case rfc2865.CallingStationID_Type:
		strings.add(&r.CallingStationID, v)
	case rfc2865.CalledStationID_Type:
		strings.add(&r.CalledStationID, v)
	case rfc2869.ConnectInfo_Type:
		strings.add(&r.ConnectInfo, v)
	case rfc2866.AcctTerminateCause_Type:
		r.TerminateCause, _ = uint32Of(v)
	case rfc2866.AcctAuthentic_Type:
		r.Authentic, _ = uint32Of(v)
	case rfc2865.NASPortType_Type:
		r.NASPortType, r.HasPortType = uint32Of(v)
	case rfc2865.ServiceType_Type:
		r.ServiceType, _ = uint32Of(v)
	case rfc2865.FramedProtocol_Type:
		r.FramedProtocol, _ = uint32Of(v)
	case rfc2865.FramedIPAddress_Type:
		r.FramedAddr, _ = addrOf(v, 4)
	case rfc6911.FramedIPv6Address_Type:
		r.FramedIPv6Addr, _ = addrOf(v, 16)
	case rfc3162.FramedIPv6Prefix_Type:
		r.FramedIPv6Prefix = prefixOf(v)
	case rfc4818.DelegatedIPv6Prefix_Type:
		r.DelegatedIPv6Prefix = prefixOf(v)
	case rfc3162.FramedInterfaceID_Type:
		if len(v) == 8 {
			// As FreeRADIUS prints it: no leading zeros.
			r.FramedInterfaceID = fmt.Sprintf("%x:%x:%x:%x",
				uint16(v[0])<<8|uint16(v[1]), uint16(v[2])<<8|uint16(v[3]),
				uint16(v[4])<<8|uint16(v[5]), uint16(v[6])<<8|uint16(v[7]))
		}
	}
}

// finish puts the record together.
func (r *record) finish(strings *joiner, now time.Time) {
	raw := &r.raw
	switch {
	case !raw.hasStatus:
		r.bad("Acct-Status-Type")
	case len(raw.sessionID) == 0 && (r.Status == Start || r.Status == Stop || r.Status == InterimUpdate):
		r.bad("Acct-Session-Id")
	}
	r.InputOctets = uint64(raw.inGig)<<32 | uint64(raw.inOctets)
	r.OutputOctets = uint64(raw.outGig)<<32 | uint64(raw.outOctets)
	r.InputPackets, r.OutputPackets = uint64(raw.inPackets), uint64(raw.outPackets)
	r.SessionTime = time.Duration(raw.sessionTime) * time.Second
	r.Time = raw.eventTime(r.Request.Received, now)

	source := r.Request.RemoteAddr.Addr()
	r.NASAddr = raw.nas4
	if !r.NASAddr.IsValid() {
		r.NASAddr = raw.nas6
	}
	if !r.NASAddr.IsValid() {
		r.NASAddr = source
	}

	decimal := r.port[:0]
	if raw.hasPort {
		decimal = strconv.AppendUint(decimal, uint64(raw.port), 10)
	}
	strings.add(&r.UserName, raw.userName)
	strings.add(&r.SessionID, raw.sessionID)
	strings.add(&r.NASIdentifier, raw.nasIdentifier)
	if len(raw.portID) > 0 {
		strings.add(&r.NASPort, raw.portID)
	} else {
		strings.add(&r.NASPort, decimal)
	}
	r.unique = raw.uniqueID(r.Class, source, decimal)
	strings.add(&r.UniqueID, r.unique[:])
	strings.join()
}

// eventTime is when the event happened: Event-Timestamp if the NAS knows the time,
// else the arrival less Acct-Delay-Time (FreeRADIUS's preprocess module).
func (raw *rawRecord) eventTime(received, now time.Time) time.Time {
	if raw.event != 0 {
		return time.Unix(int64(raw.event), 0)
	}
	if received.IsZero() {
		received = now
	}
	return received.Add(-time.Duration(raw.delay) * time.Second)
}

// uniqueID is what FreeRADIUS's acct_unique policy makes of the session, so that
// one that runs while a server is changed for the other stays one. If Class is what
// that policy's companion put into the Access-Accept, "ai:" and 32 hexadecimal
// digits, it is MD5 of these and Acct-Session-Id; else MD5 of user, session and
// NAS.
//
// What stands for the address of the NAS is NAS-IPv6-Address, else NAS-IP-Address,
// after the preprocess module has added the one of the packet's own family from
// the packet's source, if that is missing.
func (raw *rawRecord) uniqueID(class []byte, source netip.Addr, port []byte) (id [2 * md5.Size]byte) {
	var buf [1024]byte
	in := buf[:0]
	if digits, ok := acctClass(class); ok {
		in = append(in, digits...)
		in = append(in, ',')
		in = append(in, raw.sessionID...)
	} else {
		addr := raw.nas6
		if !addr.IsValid() && source.Is6() {
			addr = source
		}
		if !addr.IsValid() {
			addr = raw.nas4
		}
		if !addr.IsValid() {
			addr = source
		}
		in = append(in, raw.userName...)
		in = append(in, ',')
		in = append(in, raw.sessionID...)
		in = append(in, ',')
		if addr.IsValid() {
			in = addr.WithZone("").AppendTo(in)
		}
		in = append(in, ',')
		in = append(in, raw.nasIdentifier...)
		in = append(in, ',')
		in = append(in, raw.portID...)
		in = append(in, ',')
		in = append(in, port...)
	}
	sum := md5.Sum(in)
	hex.Encode(id[:], sum[:])
	return id
}

// acctClass finds the digits in a Class of FreeRADIUS's own.
func acctClass(class []byte) (digits []byte, ok bool) {
	const prefix, n = "ai:", 32
	if len(class) < len(prefix)+n || string(class[:len(prefix)]) != prefix {
		return nil, false
	}
	digits = class[len(prefix) : len(prefix)+n]
	for _, c := range digits {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return nil, false
		}
	}
	return digits, true
}
