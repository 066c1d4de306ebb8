package cache

// index finds entries by hash: buckets of entries chained by number. It grows
// and shrinks by linear hashing, a bucket or two at an insertion, so there
// is never a moment at which the whole table is rebuilt.
type index struct {
	segments []*[bucketsPerSegment]uint32
	buckets  uint32 // in use; none before the first entry
	base     uint32 // the largest power of two that is not over buckets
	count    uint32 // entries
}

const (
	bucketsPerSegment = 1024 // also the fewest buckets of an index in use

	// The index keeps between 2 and 8 buckets for each entry once past its
	// least size: a look-up that finds nothing seldom touches an entry.
	bucketsPerEntry     = 2
	mostBucketsPerEntry = 8
)

// bucket returns the head of the chain in which a hash belongs.
func (x *index) bucket(hash uint32) *uint32 {
	b := hash & (2*x.base - 1)
	if b >= x.buckets {
		b &= x.base - 1
	}
	return x.head(b)
}

func (x *index) head(b uint32) *uint32 {
	return &x.segments[b/bucketsPerSegment][b%bucketsPerSegment]
}

// insert adds an entry whose hash is set and which is in no chain.
func (x *index) insert(es *entries, id uint32, e *entry) {
	if x.buckets == 0 {
		x.segments = append(x.segments, new([bucketsPerSegment]uint32))
		x.buckets, x.base = bucketsPerSegment, bucketsPerSegment
	}
	head := x.bucket(e.hash)
	e.chain = *head
	*head = id
	x.count++
	for range bucketsPerEntry {
		if x.buckets >= bucketsPerEntry*x.count {
			return
		}
		x.split(es)
	}
}

// delete removes an entry that is in the index.
func (x *index) delete(es *entries, id uint32, e *entry) {
	link := x.bucket(e.hash)
	for *link != id {
		link = &es.at(*link).chain
	}
	*link = e.chain
	e.chain = none
	x.count--
	for range mostBucketsPerEntry {
		if x.buckets <= bucketsPerSegment || x.buckets <= mostBucketsPerEntry*x.count {
			return
		}
		x.merge(es)
	}
}

// split adds a bucket, and moves to it what belongs there.
func (x *index) split(es *entries) {
	b := x.buckets
	if b%bucketsPerSegment == 0 {
		x.segments = append(x.segments, new([bucketsPerSegment]uint32))
	}
	from, to := x.head(b-x.base), x.head(b)
	for *from != none {
		id := *from
		e := es.at(id)
		if e.hash&(2*x.base-1) != b {
			from = &e.chain
			continue
		}
		*from = e.chain
		e.chain = *to
		*to = id
	}
	x.buckets++
	if x.buckets == 2*x.base {
		x.base = x.buckets
	}
}

// merge removes the last bucket; it undoes a split.
func (x *index) merge(es *entries) {
	if x.buckets == x.base {
		x.base /= 2
	}
	x.buckets--
	from, to := x.head(x.buckets), x.head(x.buckets-x.base)
	if *from != none {
		last := from
		for *last != none {
			last = &es.at(*last).chain
		}
		*last = *to
		*to = *from
		*from = none
	}
	if x.buckets%bucketsPerSegment == 0 {
		n := len(x.segments) - 1
		x.segments[n] = nil
		x.segments = x.segments[:n]
	}
}

func (x *index) bytes() int { return len(x.segments) * bucketsPerSegment * 4 }
