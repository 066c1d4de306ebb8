package journal

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// maxRecord is the most octets of one encoded record. A packet has at most 4096,
// which stand there twice: as attributes and as what was read from them.
const maxRecord = 65536

// encoding is the version of the encoding, the first octet of each record. What
// follows are the fields in the order of encode, and CRC-32C of all that (4 octets,
// big-endian), since SQLite does not notice an octet that the disk changed.
//
// Numbers are varints of package encoding/binary, signed ones zigzag. Strings,
// addresses and attributes are their length and their octets; a time is seconds
// since 1970 and nanoseconds. A record that is changed gets the next version, and
// decode goes on to read the older ones.
const encoding = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends the encoding of rec to b.
func appendRecord(b []byte, rec *billing.AccountingRecord) []byte {
	begin := len(b)
	e := encoder{append(b, encoding)}
	e.number(uint64(rec.Status))
	e.string(rec.SessionID)
	e.string(rec.UniqueID)
	e.string(rec.UserName)
	e.time(rec.Time)
	e.signed(int64(rec.SessionTime))
	e.bool(rec.HasSession)
	e.number(rec.InputOctets)
	e.number(rec.OutputOctets)
	e.number(rec.InputPackets)
	e.number(rec.OutputPackets)
	e.number(uint64(rec.TerminateCause))
	e.number(uint64(rec.Authentic))
	e.addr(rec.NASAddr)
	e.string(rec.NASIdentifier)
	e.string(rec.NASPort)
	e.number(uint64(rec.NASPortType))
	e.bool(rec.HasPortType)
	e.string(rec.CallingStationID)
	e.string(rec.CalledStationID)
	e.number(uint64(rec.ServiceType))
	e.number(uint64(rec.FramedProtocol))
	e.addr(rec.FramedAddr)
	e.addr(rec.FramedIPv6Addr)
	e.prefix(rec.FramedIPv6Prefix)
	e.prefix(rec.DelegatedIPv6Prefix)
	e.string(rec.FramedInterfaceID)
	e.string(rec.ConnectInfo)
	e.octets(rec.Class)
	e.request(rec.Request)
	return binary.BigEndian.AppendUint32(e.b, crc32.Checksum(e.b[begin:], castagnoli))
}

// An encoder appends to b.
type encoder struct{ b []byte }

func (e *encoder) number(n uint64) { e.b = binary.AppendUvarint(e.b, n) }

func (e *encoder) signed(n int64) { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) string(s string) {
	e.number(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) octets(b []byte) {
	e.number(uint64(len(b)))
	e.b = append(e.b, b...)
}

func (e *encoder) time(t time.Time) {
	e.signed(t.Unix())
	e.number(uint64(t.Nanosecond()))
}

// addr appends the address as netip.Addr.MarshalBinary has it, with its length.
func (e *encoder) addr(a netip.Addr) {
	n := len(a.Zone())
	if a.IsValid() {
		n += a.BitLen() / 8
	}
	e.number(uint64(n))
	e.b, _ = a.AppendBinary(e.b) // never an error
}

func (e *encoder) prefix(p netip.Prefix) {
	e.addr(p.Addr())
	e.signed(int64(p.Bits()))
}

func (e *encoder) addrPort(a netip.AddrPort) {
	e.addr(a.Addr())
	e.number(uint64(a.Port()))
}

// request appends what a request is without its server: not the secret.
func (e *encoder) request(r *radpool.Request) {
	e.bool(r != nil)
	if r == nil {
		return
	}
	e.addrPort(r.RemoteAddr)
	e.addrPort(r.LocalAddr)
	e.time(r.Received)
	e.bool(r.Client != nil)
	if r.Client != nil {
		e.string(r.Client.Name)
		e.prefix(r.Client.Prefix)
	}
	e.bool(r.Packet != nil)
	if r.Packet == nil {
		return
	}
	e.signed(int64(r.Code))
	e.b = append(e.b, r.Identifier)
	e.b = append(e.b, r.Authenticator[:]...)
	e.number(uint64(len(r.Attributes)))
	for _, a := range r.Attributes {
		e.bool(a != nil)
		if a != nil {
			e.signed(int64(a.Type))
			e.octets(a.Attribute)
		}
	}
}
