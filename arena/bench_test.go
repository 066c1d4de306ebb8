package arena_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/radpool/radpool/arena"
)

// The request of the benchmarks: a datagram of 300 octets, 20 attributes of 10 octets, a reply of 200.
const (
	benchDatagram   = 300
	benchAttributes = 20
	benchValue      = 10
	benchReply      = 200
)

type attr struct {
	Type  int
	Value []byte
}

var (
	attrs    arena.Slab[attr]
	attrPtrs arena.Slab[*attr]
	datagram = make([]byte, benchDatagram)
)

// sink keeps the compiler from leaving the benchmarked allocations on the stack.
type sink struct {
	packet, reply []byte
	list          []*attr
}

//go:noinline
func (s *sink) set(packet, reply []byte, list []*attr) {
	s.packet, s.reply, s.list = packet, reply, list
}

func arenaRequest(p *arena.Pool, s *sink) {
	a := p.Get()
	packet := a.Copy(datagram)
	list := attrPtrs.Make(a, benchAttributes)
	for i := range list {
		e := attrs.New(a)
		e.Type, e.Value = i, a.Copy(packet[i*benchValue:(i+1)*benchValue])
		list[i] = e
	}
	s.set(packet, a.Bytes(benchReply), list)
	a.Release()
}

func plainRequest(s *sink) {
	packet := append([]byte(nil), datagram...)
	list := make([]*attr, benchAttributes)
	for i := range list {
		e := new(attr)
		e.Type, e.Value = i, append([]byte(nil), packet[i*benchValue:(i+1)*benchValue]...)
		list[i] = e
	}
	s.set(packet, make([]byte, benchReply), list)
}

// BenchmarkRequest compares an arena with plain allocation, alone and on all processors.
func BenchmarkRequest(b *testing.B) {
	b.Run("arena", func(b *testing.B) {
		p := newPool(b, arena.Config{})
		var s sink
		b.ReportAllocs()
		for b.Loop() {
			arenaRequest(p, &s)
		}
	})
	b.Run("plain", func(b *testing.B) {
		var s sink
		b.ReportAllocs()
		for b.Loop() {
			plainRequest(&s)
		}
	})
	b.Run("arena/parallel", func(b *testing.B) {
		p := newPool(b, arena.Config{})
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			var s sink
			for pb.Next() {
				arenaRequest(p, &s)
			}
		})
	})
	b.Run("plain/parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			var s sink
			for pb.Next() {
				plainRequest(&s)
			}
		})
	})
}

// BenchmarkGetRelease is what an arena costs that is not used.
func BenchmarkGetRelease(b *testing.B) {
	p := newPool(b, arena.Config{})
	for b.Loop() {
		p.Get().Release()
	}
}

// BenchmarkChunk is what a new chunk costs, for the choice of DefaultChunkSize: a large object, the largest
// small one, and chunks carved from a larger allocation.
func BenchmarkChunk(b *testing.B) {
	var keep sync.Pool // escapes
	for _, size := range []int{2 << 10, 4 << 10, 32<<10 - 8, 32 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				chunk := make([]byte, size)
				keep.New = func() any { return chunk }
			}
		})
	}
	b.Run("carved", func(b *testing.B) {
		const size = 32 << 10
		var rest []byte
		for b.Loop() {
			if len(rest) == 0 {
				rest = make([]byte, 8*size)
			}
			chunk := rest[:size:size]
			rest = rest[size:]
			keep.New = func() any { return chunk }
		}
	})
}
