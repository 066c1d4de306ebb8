package cache

// MaxReply is the longest reply, in octets (RFC 2865 section 3, Length).
const MaxReply = 4096

// replies retains encoded replies in slots of a few sizes, in segments
// without pointers. A reply is always whole within its slot. The slots of a
// size that is no longer used are given back as their replies expire.
type replies struct {
	classes [numClasses]replyClass
	held    int // octets of memory
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
		c.segments[segment] = make([]byte, c.slots.width*c.size)
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
	if release := c.slots.put(id); release >= 0 {
		c.segments[release] = nil
		r.held -= c.slots.width * c.size
	}
}

func (c *replyClass) slot(id uint32) []byte {
	segment, slot := c.slots.locate(id)
	return c.segments[segment][slot*c.size:][:c.size:c.size]
}
