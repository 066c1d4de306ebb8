package cache

import (
	"math/bits"
	"unsafe"
)

// index finds entries by hash. A bucket is one cache line: an octet of the
// hash of each of its entries, and their numbers, so that a look-up that finds
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

// bucket holds up to twelve entries. Those that find no place are in a chain.
type bucket struct {
	tags     uint64 // of the first eight entries, one octet each; zero: no entry
	moreTags uint32 // of the other four
	overflow uint32 // the first of the chain, and filter bits of all that are on it
	ids      [bucketPlaces]uint32
}

const (
	bucketPlaces = 12
	bucketSize   = int(unsafe.Sizeof(bucket{}))

	idBits = 26 // room for MaxMaxRequests and more
	idMask = 1<<idBits - 1

	bucketsPerSegment = 64 // also the fewest buckets of an index in use

	// The mean number of entries in a bucket; the least is a quarter of it. More
	// means longer overflows, fewer more memory.
	entriesPerBucket = 8
)

// bucketOf returns the bucket in which a hash belongs.
func (x *index) bucketOf(hash uint32) *bucket {
	b := hash & (2*x.base - 1)
	if b >= x.buckets {
		b &= x.base - 1
	}
	return x.at(b)
}

// at returns a bucket in use. It does without the check that Go makes of a
// pointer to an array, for that reads the first bucket of the segment: one
// more access to memory that is seldom at hand.
func (x *index) at(b uint32) *bucket {
	segment := unsafe.Pointer(x.segments[b/bucketsPerSegment])
	return (*bucket)(unsafe.Add(segment, uintptr(b%bucketsPerSegment)*unsafe.Sizeof(bucket{})))
}

// find returns the entry under a key whose hash is given, or none.
func (x *index) find(es *entries, hash uint32, key *flatKey) uint32 {
	if x.buckets == 0 {
		return none
	}
	b := x.bucketOf(hash)
	for m := b.tagged(tagOf(hash)); m != 0; m &= m - 1 {
		id := b.ids[placeOf(m)]
		if e := es.at(id); e.hash == hash && e.flatKey == *key {
			return id
		}
	}
	if b.overflow&filterOf(hash) == 0 {
		return none
	}
	for id := b.overflow & idMask; id != none; {
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
	if x.buckets > bucketsPerSegment && x.count < entriesPerBucket/4*x.buckets {
		x.merge(es)
	}
}

// tagOf returns the tag of a hash, of bits that choose no bucket.
func tagOf(hash uint32) uint8 { return max(uint8(hash>>24), 1) }

// filterOf returns one of the bits of an overflow word that are not an entry's
// number. An entry is not on a chain whose word does not have its bit.
func filterOf(hash uint32) uint32 { return 1 << (idBits + hash>>20&15*(32-idBits)>>4) }

// tagged returns a bit for each place whose tag is the given one, to be read
// with placeOf. It takes no branch that depends on the bucket: a processor
// that guesses one wrong while it waits for the bucket's memory throws away the
// accesses that it has begun meanwhile.
func (b *bucket) tagged(tag uint8) (m uint64) {
	const ones, rest = 0x0101_0101_0101_0101, 0x7f7f_7f7f_7f7f_7f7f
	// An octet that is zero is the only one which sets no upper bit.
	first := b.tags ^ ones*uint64(tag)
	first = ^(first&rest + rest | first | rest)
	more := uint64(b.moreTags) ^ ones>>32*uint64(tag)
	more = ^(more&rest + rest | more | rest) & (1<<32 - 1)
	return first>>7 | more>>6
}

// placeOf returns the place of the lowest bit of what tagged returned.
func placeOf(m uint64) int {
	bit := bits.TrailingZeros64(m)
	return bit>>3 | bit&1<<3
}

// setTag sets the tag of a place.
func (b *bucket) setTag(place int, tag uint8) {
	if place < 8 {
		b.tags = b.tags&^(255<<(8*place)) | uint64(tag)<<(8*place)
		return
	}
	place -= 8
	b.moreTags = b.moreTags&^(255<<(8*place)) | uint32(tag)<<(8*place)
}

// hasTag tells whether a place has an entry.
func (b *bucket) hasTag(place int) bool {
	if place < 8 {
		return b.tags>>(8*place)&255 != 0
	}
	return b.moreTags>>(8*(place-8))&255 != 0
}

func (b *bucket) add(id uint32, e *entry) {
	if m := b.tagged(0); m != 0 {
		place := placeOf(m)
		b.ids[place] = id
		b.setTag(place, tagOf(e.hash))
		return
	}
	e.chain = b.overflow & idMask
	b.overflow = b.overflow&^idMask | filterOf(e.hash) | id
}

func (b *bucket) remove(es *entries, id uint32, e *entry) {
	for m := b.tagged(tagOf(e.hash)); m != 0; m &= m - 1 {
		if place := placeOf(m); b.ids[place] == id {
			b.setTag(place, 0)
			return
		}
	}
	before := b.overflow & idMask
	if before == id {
		b.overflow = b.overflow&^idMask | e.chain
		if e.chain == none {
			b.overflow = none // and no filter
		}
		return
	}
	for es.at(before).chain != id {
		before = es.at(before).chain
	}
	es.at(before).chain = e.chain
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
	for place, id := range old.ids {
		if old.hasTag(place) {
			e := es.at(id)
			x.bucketOf(e.hash).add(id, e)
		}
	}
	for id := old.overflow & idMask; id != none; {
		e := es.at(id)
		next := e.chain
		x.bucketOf(e.hash).add(id, e)
		id = next
	}
}

func (x *index) bytes() int { return len(x.segments) * bucketsPerSegment * bucketSize }
