package simnet

import (
	"net/netip"
	"time"
)

// datagram is one copy of a payload on its way or in a receive buffer. The network recycles them.
type datagram struct {
	payload  []byte
	from, to netip.AddrPort
	seq      uint64 // order of sending; both copies of a duplicate share it
	due      time.Time
	launch   uint64 // order of launching: of two that are due at the same time, the first launched arrives first
	index    int    // place in flight
	reorder  bool   // to be held back on arrival
}

// flight is the heap, by arrival, of the datagrams on their way. It implements heap.Interface.
type flight []*datagram

func (f flight) Len() int { return len(f) }

func (f flight) Less(i, j int) bool {
	if c := f[i].due.Compare(f[j].due); c != 0 {
		return c < 0
	}
	return f[i].launch < f[j].launch
}

func (f flight) Swap(i, j int) {
	f[i], f[j] = f[j], f[i]
	f[i].index, f[j].index = i, j
}

// Push is for package heap.
func (f *flight) Push(x any) {
	d := x.(*datagram)
	d.index = len(*f)
	*f = append(*f, d)
}

// Pop is for package heap.
func (f *flight) Pop() any {
	last := len(*f) - 1
	d := (*f)[last]
	(*f)[last] = nil
	*f = (*f)[:last]
	return d
}

// buffer is a socket's receive buffer: a ring that grows with use, up to a capacity held by the caller.
type buffer struct {
	ring        []*datagram
	head, count int
}

func (b *buffer) push(d *datagram) {
	if b.count == len(b.ring) {
		grown := make([]*datagram, max(8, 2*len(b.ring)))
		n := copy(grown, b.ring[b.head:])
		copy(grown[n:], b.ring[:b.head])
		b.ring, b.head = grown, 0
	}
	b.ring[(b.head+b.count)%len(b.ring)] = d
	b.count++
}

// pop returns the oldest datagram, or nil.
func (b *buffer) pop() *datagram {
	if b.count == 0 {
		return nil
	}
	d := b.ring[b.head]
	b.ring[b.head] = nil
	b.head = (b.head + 1) % len(b.ring)
	b.count--
	return d
}
