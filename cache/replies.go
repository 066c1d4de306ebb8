package cache

import "unsafe"

// MaxReply is the longest reply, in octets (RFC 2865 section 3, Length).
const MaxReply = 4096

// replies retains what entries have no room for, the rest of each long reply,
// in slots of a few sizes, in segments without pointers. A rest is always
// whole within its slot. The slots of a size that is no longer used are given
// back as their replies expire.
type replies struct {
	classes [numClasses]replyClass
	held    int // octets of memory
	arena   *arena
}

// replyClass is the slots of one size.
type replyClass struct {
	slots    slots
	size     int
	segments [][]byte
}

// classSizes are in steps of 16 octets at first, for most replies are short
// and many, and then in steps of an eighth to a quarter.
var classSizes = [numClasses]int{
	16, 32, 48, 64, 80, 96, 112, 128,
	160, 192, 224, 256, 320, 384, 448, 512,
	640, 768, 896, 1024, 1280, 1536, 1792, 2048,
	2560, 3072, 3584, 4096,
}

const (
	numClasses = 28

	// A segment is about this large, and of 4 to 64 slots.
	segmentOctets = 16 << 10
)

// classOf is a table over lengths in steps of 16 octets, rounded up.
var classOf = func() (t [MaxReply/16 + 1]uint8) {
	class := 0
	for i := range t {
		if i*16 > classSizes[class] {
			class++
		}
		t[i] = uint8(class)
	}
	return t
}()

// class returns the slots for replies of a length.
func (r *replies) class(length int) *replyClass {
	i := classOf[(length+15)/16]
	c := &r.classes[i]
	if c.size == 0 {
		c.size = classSizes[i]
		c.slots.width = min(64, max(4, segmentOctets/c.size))
	}
	return c
}

// store copies a reply of 1 to MaxReply octets and returns its slot.
func (r *replies) store(reply []byte) uint32 {
	c := r.class(len(reply))
	id := c.slots.take()
	segment, _ := c.slots.locate(id)
	if segment == len(c.segments) {
		c.segments = append(c.segments, nil)
	}
	if c.segments[segment] == nil {
		c.segments[segment] = r.segment(c.slots.width*c.size, segment)
		r.held += c.slots.width * c.size
	}
	copy(c.slot(id), reply)
	return id
}

// load returns the octets of a reply; they are the cache's.
func (r *replies) load(id uint32, length int) []byte {
	return r.class(length).slot(id)[:length]
}

// drop frees a reply.
func (r *replies) drop(id uint32, length int) {
	c := r.class(length)
	r.release(c, c.slots.put(id))
}

// trim gives back what only protects against flapping.
func (r *replies) trim() {
	for i := range r.classes {
		c := &r.classes[i]
		r.release(c, c.slots.trim())
	}
}

func (r *replies) release(c *replyClass, release int) {
	if release >= 0 {
		r.arena.put(unsafe.Pointer(unsafe.SliceData(c.segments[release])))
		c.segments[release] = nil
		r.held -= c.slots.width * c.size
	}
}

// segment returns zeroed memory for a segment of a class.
func (r *replies) segment(size, number int) []byte {
	if p := r.arena.take(size, number); p != nil {
		return unsafe.Slice((*byte)(p), size)
	}
	return make([]byte, size)
}

// reset forgets all memory. There must be no reply.
func (r *replies) reset() {
	for i := range r.classes {
		for _, segment := range r.classes[i].segments {
			r.arena.put(unsafe.Pointer(unsafe.SliceData(segment)))
		}
	}
	*r = replies{arena: r.arena}
}

func (c *replyClass) slot(id uint32) []byte {
	segment, slot := c.slots.locate(id)
	return c.segments[segment][slot*c.size:][:c.size:c.size]
}

// keepReply makes a copy of a reply the entry's.
func (s *shard) keepReply(e *entry, reply []byte) {
	e.replyLength = uint16(len(reply))
	s.counters.replyBytes += len(reply)
	if n := copy(e.reply[:], reply); n < len(reply) {
		e.count = s.replies.store(reply[n:])
	}
}

// appendReply appends the reply of an entry to dst.
func (s *shard) appendReply(dst []byte, e *entry) []byte {
	length := int(e.replyLength)
	dst = append(dst, e.reply[:min(length, inlineReply)]...)
	if rest := length - inlineReply; rest > 0 {
		dst = append(dst, s.replies.load(e.count, rest)...)
	}
	return dst
}

// dropReply forgets the reply of an entry.
func (s *shard) dropReply(e *entry) {
	s.counters.replyBytes -= int(e.replyLength)
	if rest := int(e.replyLength) - inlineReply; rest > 0 {
		s.replies.drop(e.count, rest)
	}
}
