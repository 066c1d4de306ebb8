package cache

import (
	"math/bits"
	"unsafe"
)

// index finds entries by hash. A bucket is half a cache line: the numbers of
// its entries, each with a few bits of its hash, so that a look-up that finds
// nothing, and a removal, read the bucket and seldom an entry. It grows and
// shrinks by linear hashing, a bucket at a time: there is never a moment at
// which the whole table is rebuilt.
type index struct {
	segments []*[bucketsPerSegment]bucket
	buckets  uint32 // in use; none before the first entry
	base     uint32 // the largest power of two that is not over buckets
	count    uint32 // entries
	arena    *arena
}

// bucket holds up to seven entries. The last word is the head of a chain
// of those that found no place.
type bucket [8]uint32

const (
	overflow = len(bucket{}) - 1

	bucketSize = int(unsafe.Sizeof(bucket{}))

	idBits = 26 // room for MaxMaxRequests and more
	idMask = 1<<idBits - 1

	bucketsPerSegment = 128 // also the fewest buckets of an index in use

	// The mean number of entries in a bucket; the least is one. More means
	// longer overflows, fewer more memory.
	entriesPerBucket = 4
)

// tagged joins an entry's number to bits of its hash that choose no bucket.
func tagged(id, hash uint32) uint32 { return id | hash&^idMask }

// bucketOf returns the bucket in which a hash belongs.
func (x *index) bucketOf(hash uint32) *bucket {
	b := hash & (2*x.base - 1)
	if b >= x.buckets {
		b &= x.base - 1
	}
	return x.at(b)
}

func (x *index) at(b uint32) *bucket {
	return &x.segments[b/bucketsPerSegment][b%bucketsPerSegment]
}

// find returns the entry under a key whose hash is given, or none.
func (x *index) find(es *entries, hash uint32, key *flatKey) uint32 {
	if x.buckets == 0 {
		return none
	}
	b := x.bucketOf(hash)
	for m := b.tags(hash); m != 0; m &= m - 1 {
		id := b[bits.TrailingZeros32(m)] & idMask
		if id == none {
			continue
		}
		if e := es.at(id); e.hash == hash && e.flatKey == *key {
			return id
		}
	}
	for id := b[overflow]; id != none; {
		e := es.at(id)
		if e.hash == hash && e.flatKey == *key {
			return id
		}
		id = e.chain
	}
	return none
}

// insert adds an entry whose hash is set and which is not in the index.
func (x *index) insert(es *entries, id uint32, e *entry) {
	if x.buckets == 0 {
		x.extend()
		x.buckets, x.base = bucketsPerSegment, bucketsPerSegment
	}
	x.bucketOf(e.hash).add(id, e)
	x.count++
	if x.count > entriesPerBucket*x.buckets {
		x.split(es)
	}
}

// delete removes an entry that is in the index.
func (x *index) delete(es *entries, id uint32, e *entry) {
	x.bucketOf(e.hash).remove(es, id, e)
	x.count--
	if x.buckets > bucketsPerSegment && x.count < x.buckets {
		x.merge(es)
	}
}

// tags returns a bit for each word whose tag is the hash's. It takes no branch
// that depends on the bucket: a processor that guesses one wrong while it waits
// for the bucket's memory throws away the accesses that it has begun meanwhile.
func (b *bucket) tags(hash uint32) (m uint32) {
	for i, w := range b[:overflow] {
		m |= ((w^hash)>>idBits - 1) >> 31 << i // 0-1 alone has the upper bit
	}
	return m
}

// places returns a bit for each word that holds a number, in the manner of tags.
func (b *bucket) places(id uint32) (m uint32) {
	for i, w := range b[:overflow] {
		m |= ((w&idMask ^ id) - 1) >> 31 << i
	}
	return m
}

func (b *bucket) add(id uint32, e *entry) {
	if m := b.places(none); m != 0 {
		b[bits.TrailingZeros32(m)] = tagged(id, e.hash)
		return
	}
	e.chain = b[overflow]
	b[overflow] = id
}

func (b *bucket) remove(es *entries, id uint32, e *entry) {
	if m := b.places(id); m != 0 {
		b[bits.TrailingZeros32(m)] = none
		return
	}
	link := &b[overflow]
	for *link != id {
		link = &es.at(*link).chain
	}
	*link = e.chain
	e.chain = none
}

// split adds a bucket, and moves to it what belongs there.
func (x *index) split(es *entries) {
	last := x.buckets
	if last%bucketsPerSegment == 0 {
		x.extend()
	}
	from := x.at(last - x.base)
	x.buckets++
	if x.buckets == 2*x.base {
		x.base = x.buckets
	}
	x.redistribute(es, from)
}

// merge removes the last bucket; it undoes a split.
func (x *index) merge(es *entries) {
	last := x.buckets - 1
	from := x.at(last)
	if x.buckets == x.base {
		x.base /= 2
	}
	x.buckets--
	x.redistribute(es, from)
	if last%bucketsPerSegment == 0 {
		n := len(x.segments) - 1
		x.arena.put(unsafe.Pointer(x.segments[n]))
		x.segments[n] = nil
		x.segments = x.segments[:n]
	}
}

// extend adds a segment of empty buckets.
func (x *index) extend() {
	segment := (*[bucketsPerSegment]bucket)(x.arena.take(bucketsPerSegment*bucketSize, len(x.segments)))
	if segment == nil {
		segment = new([bucketsPerSegment]bucket)
	}
	x.segments = append(x.segments, segment)
}

// reset forgets all memory. The index must hold no entry.
func (x *index) reset() {
	for _, segment := range x.segments {
		x.arena.put(unsafe.Pointer(segment))
	}
	*x = index{arena: x.arena}
}

// redistribute puts each entry of a bucket where it belongs now.
func (x *index) redistribute(es *entries, from *bucket) {
	old := *from
	*from = bucket{}
	for _, w := range old[:overflow] {
		if w != none {
			id := w & idMask
			e := es.at(id)
			x.bucketOf(e.hash).add(id, e)
		}
	}
	for id := old[overflow]; id != none; {
		e := es.at(id)
		next := e.chain
		e.chain = none
		x.bucketOf(e.hash).add(id, e)
		id = next
	}
}

func (x *index) bytes() int { return len(x.segments) * bucketsPerSegment * bucketSize }
