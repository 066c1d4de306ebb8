package radpool_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

// FuzzStatisticsRequest reads what a well-formed Status-Server asks for, beside a
// reference that goes by layeh's parser.
func FuzzStatisticsRequest(f *testing.F) {
	for _, more := range [][]*radius.AVP{
		nil,
		{freeRADIUS(127, u32(0x1f))},
		{freeRADIUS(127, u32(0x23)), freeRADIUS(167, []byte{192, 0, 2, 1}), freeRADIUS(168, u32(7))},
		{freeRADIUS(188, make([]byte, 16)), freeRADIUS(127, []byte{1}), avp(26, "\x00\x00\x2c\x50\x7f\x00\x00")},
	} {
		f.Add(encode(&radius.Packet{Code: radius.CodeStatusServer, Attributes: more}, testSecret))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		shape, fault := wire.Parse(b, 0)
		if fault != wire.WellFormed {
			return
		}
		what, addr, number, byNumber := radpool.ReadStatisticsRequest(b[wire.HeaderLength:shape.Length])
		var want struct {
			what, number uint32
			addr         netip.Addr
			byNumber     bool
		}
		p, err := radius.Parse(b[:shape.Length], []byte(testSecret))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Attributes {
			if a.Type != 26 || len(a.Attribute) < 4 || binary.BigEndian.Uint32(a.Attribute) != 11344 {
				continue
			}
			for rest := a.Attribute[4:]; len(rest) >= 2; {
				n := int(rest[1])
				if n < 2 || n > len(rest) {
					break
				}
				switch v := rest[2:n]; [2]int{int(rest[0]), len(v)} {
				case [2]int{127, 4}:
					want.what = binary.BigEndian.Uint32(v)
				case [2]int{167, 4}:
					want.addr = netip.AddrFrom4([4]byte(v))
				case [2]int{188, 16}:
					want.addr = netip.AddrFrom16([16]byte(v))
				case [2]int{168, 4}:
					want.number, want.byNumber = binary.BigEndian.Uint32(v), true
				}
				rest = rest[n:]
			}
		}
		if what != want.what || addr != want.addr || number != want.number || byNumber != want.byNumber {
			t.Errorf("got %#x, %v, %d, %t, want %+v", what, addr, number, byNumber, want)
		}
	})
}
