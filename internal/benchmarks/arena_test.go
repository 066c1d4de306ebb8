package benchmarks

import (
	"bytes"
	"sync"
	"testing"

	"github.com/radpool/radpool/arena"
)

// The request: a datagram of 300 octets, 20 attributes with a value of 10 each,
// and a reply of 200 octets.
const (
	arenaDatagram   = 300
	arenaAttributes = 20
	arenaValue      = 10
	arenaReply      = 200
)

type attribute struct {
	Type  int
	Value []byte
}

// A memory is what was allocated for one request.
type memory struct {
	packet, reply []byte
	attributes    []*attribute
}

// used writes to the reply, and looks at each value: so that it is there, and
// was given as a copy.
func (m *memory) used(b *testing.B, datagram []byte) {
	sum := 0
	for i, a := range m.attributes {
		sum += a.Type - i + int(a.Value[arenaValue-1]) - int(datagram[i*arenaValue+arenaValue-1])
	}
	m.reply[0], m.reply[arenaReply-1] = m.packet[0], m.packet[arenaDatagram-1]
	if sum != 0 || len(m.attributes) != arenaAttributes {
		b.Error("the memory does not hold the request")
	}
}

var (
	attributeSlab arena.Slab[attribute]
	listSlab      arena.Slab[*attribute]
)

func fromArena(a *arena.Arena, m *memory, datagram []byte) {
	m.packet = a.Copy(datagram)
	m.attributes = listSlab.Make(a, arenaAttributes)
	for i := range m.attributes {
		e := attributeSlab.New(a)
		e.Type, e.Value = i, a.Copy(m.packet[i*arenaValue:(i+1)*arenaValue])
		m.attributes[i] = e
	}
	m.reply = a.Bytes(arenaReply)
}

func plainly(m *memory, datagram []byte) {
	m.packet = bytes.Clone(datagram)
	m.attributes = make([]*attribute, arenaAttributes)
	for i := range m.attributes {
		m.attributes[i] = &attribute{Type: i, Value: bytes.Clone(m.packet[i*arenaValue : (i+1)*arenaValue])}
	}
	m.reply = make([]byte, arenaReply)
}

// fixed is what one would write by hand: a structure as large as the largest
// request, kept in a sync.Pool. Each holds all of its 4,096 + 4,096 octets, a
// larger request does not fit, and what a request leaves behind stays there.
type fixed struct {
	octets  [2 * 4096]byte
	objects [200]attribute
	list    [200]*attribute
}

func fromFixed(f *fixed, m *memory, datagram []byte) {
	used := 0
	take := func(n int) []byte {
		used += n
		return f.octets[used-n : used : used]
	}
	m.packet = take(arenaDatagram)
	copy(m.packet, datagram)
	m.attributes = f.list[:arenaAttributes:arenaAttributes]
	for i := range m.attributes {
		e := &f.objects[i]
		e.Type, e.Value = i, take(arenaValue)
		copy(e.Value, m.packet[i*arenaValue:])
		m.attributes[i] = e
	}
	m.reply = take(arenaReply)
}

// BenchmarkArena is the memory of one request, taken, filled and given back, by
// one goroutine and by as many as there are processors. The arena also clears
// what was used, so that no password stays behind, and finds its own size; plain
// memory is cleared by Go's allocator, that of syncpool by nobody.
func BenchmarkArena(b *testing.B) {
	datagram := make([]byte, arenaDatagram)
	for i := range datagram {
		datagram[i] = byte(i)
	}
	p, err := arena.NewPool(arena.Config{})
	if err != nil {
		b.Fatal(err)
	}
	byHand := sync.Pool{New: func() any { return new(fixed) }}
	for _, impl := range []struct {
		name string
		one  func(m *memory)
	}{
		{"radpool", func(m *memory) {
			a := p.Get()
			fromArena(a, m, datagram)
			m.used(b, datagram)
			a.Release()
		}},
		{"plain", func(m *memory) {
			plainly(m, datagram)
			m.used(b, datagram)
		}},
		{"syncpool", func(m *memory) {
			f := byHand.Get().(*fixed)
			fromFixed(f, m, datagram)
			m.used(b, datagram)
			byHand.Put(f)
		}},
	} {
		b.Run("goroutines=one/impl="+impl.name, func(b *testing.B) {
			m := new(memory)
			b.ReportAllocs()
			report := measure(b)
			for b.Loop() {
				impl.one(m)
			}
			report()
		})
		b.Run("goroutines=all/impl="+impl.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				m := new(memory)
				for pb.Next() {
					impl.one(m)
				}
			})
		})
	}
}
