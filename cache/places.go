package cache

import "sync/atomic"

// places counts, over all shards, the entries that MaxRequests bounds. Both
// numbers are in one word, so that they are of the same moment: the table is
// full when all places are taken and none by a retained entry.
type places struct {
	v    atomic.Uint64 // used in the upper half, retained of those in the lower
	most uint64
}

const (
	onePlace    = 1 << 32
	oneRetained = 1
)

// reserve takes a place for an entry that is about to be, unless all are taken.
func (p *places) reserve() bool {
	for {
		v := p.v.Load()
		if v/onePlace >= p.most {
			return false
		}
		if p.v.CompareAndSwap(v, v+onePlace) {
			return true
		}
	}
}

// release gives back the place of an entry in flight, or one reserved.
func (p *places) release() { p.v.Add(^uint64(onePlace - 1)) }

// retain notes that an entry in flight became a retained one.
func (p *places) retain() { p.v.Add(oneRetained) }

// claim notes that a retained entry is no more, and its place the caller's.
func (p *places) claim() { p.v.Add(^uint64(oneRetained - 1)) }

// exhausted tells whether nothing can make room.
func (p *places) exhausted() bool {
	v := p.v.Load()
	return v/onePlace >= p.most && v%onePlace == 0
}

// used returns the number of places taken.
func (p *places) used() int { return int(p.v.Load() / onePlace) }
