package arena

// Stats is a snapshot of a [Pool]'s statistics. Its counters only grow. While requests are in progress its
// fields are read one after another, so they agree with each other only to within those requests.
type Stats struct {
	// Gets and Releases count the calls; InUse is their difference, the arenas that somebody owns now. Made
	// counts the Gets that had no idle arena to give and made one.
	Gets     uint64
	Releases uint64
	InUse    int
	Made     uint64

	// HighWater and LowWater are the most and the fewest octets that one request used, in the current
	// window and the one before it ([Config].Window). P50, P90 and P99 are percentiles of the recent
	// requests (older windows weigh less), rounded up by at most an eighth, or to 8 octets. All are octets
	// given by [Arena.Bytes] and its kin, from the chunk or from the heap, without slabs. They are zero
	// before the first Release.
	HighWater int
	LowWater  int
	P50       int
	P90       int
	P99       int

	// Overflows counts allocations that found the chunk used up and came from the heap; OverflowBytes are
	// their octets. SlabOverflows and SlabOverflowBytes are the same for slabs that reached their bound.
	// They are added when the arena is released.
	Overflows         uint64
	OverflowBytes     uint64
	SlabOverflows     uint64
	SlabOverflowBytes uint64

	// ChunkSize is the size in octets of the chunks handed out now; Resizes counts how often it changed.
	ChunkSize int
	Resizes   uint64
}

// Stats returns the pool's statistics.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Releases before Gets: the other way round more could seem released than were handed out.
	releases := p.releases.Load()
	gets := p.gets.Load()
	s := Stats{
		Gets:              gets,
		Releases:          releases,
		InUse:             int(gets - releases),
		Made:              p.made.Load(),
		HighWater:         int(max(p.high.Load(), p.pastHigh)),
		Overflows:         p.over.count.Load(),
		OverflowBytes:     p.over.octets.Load(),
		SlabOverflows:     p.over.slabCount.Load(),
		SlabOverflowBytes: p.over.slabOctets.Load(),
		ChunkSize:         int(p.size.Load()),
		Resizes:           p.resizes,
	}
	recent := p.recent
	p.countLocked(&recent)
	s.P50, _ = recent.percentile(50)
	s.P90, _ = recent.percentile(90)
	s.P99, _ = recent.percentile(99)
	if s.P50 > 0 {
		s.LowWater = int(min(p.low.Load(), p.pastLow))
	}
	return s
}
