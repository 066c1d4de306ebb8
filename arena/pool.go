package arena

import (
	"math"
	"sync"
	"sync/atomic"
)

// A Pool hands out arenas and learns from each that comes back. It is made by [NewPool] and safe for
// concurrent use. It has no goroutine and needs no closing.
//
// Its idle arenas are in a [sync.Pool]: the collector frees those that nobody wants. How many are in use is
// bounded by the number of requests that the caller has in progress.
type Pool struct {
	config Config       // without zero fields
	size   atomic.Int64 // of new chunks, in octets
	free   store

	// What every Get and every Release writes is kept on cache lines of its own, away from what they read.
	_    [64]byte
	gets atomic.Uint64
	made atomic.Uint64
	_    [64]byte

	releases atomic.Uint64
	buckets  [numBuckets]atomic.Uint64 // requests by octets used, since the pool was made
	high     atomic.Int64              // most octets of a request in this window
	low      atomic.Int64              // fewest; math.MaxInt64 before the first
	over     struct {
		count, octets, slabCount, slabOctets atomic.Uint64
	}
	_ [64]byte

	// mu guards the statistics of past windows. Release only tries it, once a window.
	mu       sync.Mutex
	counted  [numBuckets]uint64 // buckets as they stood at the last look
	recent   histogram          // requests of past windows, older ones weighing less
	pastHigh int64              // high and low of the last whole window
	pastLow  int64
	sizer    sizer
	resizes  uint64
}

// NewPool returns a Pool, or an error that names each field of c that is wrong and its bound.
func NewPool(c Config) (*Pool, error) {
	full := c.withDefaults()
	if err := full.validate(c); err != nil {
		return nil, err
	}
	p := &Pool{config: full, sizer: sizer{size: full.ChunkSize}, pastLow: math.MaxInt64}
	p.size.Store(int64(full.ChunkSize))
	p.low.Store(math.MaxInt64)
	return p, nil
}

// Get returns an arena for one request. The caller owns it until [Arena.Release]. In steady state Get
// allocates nothing. An arena that is never released is freed by the collector, but counts as in use.
func (p *Pool) Get() *Arena {
	size := int(p.size.Load())
	if size == 0 {
		panic("arena: Get from a Pool that was not made by NewPool")
	}
	if heapOnly {
		return nil
	}
	a := p.free.take()
	if a == nil {
		a = &Arena{pool: p}
		p.made.Add(1)
	}
	if len(a.chunk) != size { // new, or from before a resize
		a.chunk = make([]byte, size)
	}
	a.lim = size
	a.live.Store(true)
	p.gets.Add(1)
	return a
}

// dropStaleChunk gives up a chunk that a resize has made too large or too small.
func (a *Arena) dropStaleChunk() {
	if len(a.chunk) != int(a.pool.size.Load()) {
		a.chunk = nil
	}
}

// record notes that a request used so many octets, some of which spilled to the heap.
func (p *Pool) record(octets int, s spill) {
	if s.count > 0 {
		p.over.count.Add(uint64(s.count))
		p.over.octets.Add(uint64(s.octets))
	}
	if s.slabCount > 0 {
		p.over.slabCount.Add(uint64(s.slabCount))
		p.over.slabOctets.Add(uint64(s.slabOctets))
	}
	n := int64(octets)
	for v := p.high.Load(); n > v && !p.high.CompareAndSwap(v, n); v = p.high.Load() {
	}
	for v := p.low.Load(); n < v && !p.low.CompareAndSwap(v, n); v = p.low.Load() {
	}
	p.buckets[bucketOf(octets)].Add(1)
	if p.releases.Add(1)%uint64(p.config.Window) == 0 {
		p.adapt()
	}
}

// adapt ends a window: it sets the chunk's size by the recent requests. When Stats is looking at this
// moment it does nothing, rather than let a request wait, and the window is twice as long.
func (p *Pool) adapt() {
	if !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	p.recent.decay()
	p.countLocked(&p.recent)
	p.pastHigh, p.pastLow = p.high.Swap(0), p.low.Swap(math.MaxInt64)
	before := p.sizer.size
	p.sizer = p.sizer.next(wantedSize(&p.recent, p.config), easySize(&p.recent, p.config))
	if p.sizer.size != before {
		p.size.Store(int64(p.sizer.size))
		p.resizes++
	}
}

// countLocked adds to h the requests since the last look, and makes this the last look when h is p.recent.
func (p *Pool) countLocked(h *histogram) {
	for i := range p.buckets {
		now := p.buckets[i].Load()
		h.add(i, now-p.counted[i])
		if h == &p.recent {
			p.counted[i] = now
		}
	}
}
