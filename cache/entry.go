package cache

import "unsafe"

// state is where an entry is in its life. Which list it is on follows from it.
type state uint8

const (
	absent    state = iota
	running         // in flight: queued or running
	tombstone       // in flight for longer than MaxRequestTime
	replied         // a reply is retained
	silenced        // silence is retained
)

func (s state) inFlight() bool { return s == running || s == tombstone }
func (s state) retained() bool { return s == replied || s == silenced }

// entry is one request. It holds no pointer, so that the collector never
// looks inside; the sizes are chosen to fill 96 octets before the reply. What
// a look-up compares comes first.
type entry struct {
	flatKey
	hash          uint32
	authenticator [16]byte
	length        uint16
	replyLength   uint16
	chain         uint32 // next entry of the bucket
	prev, next    uint32 // neighbours in the list of its state

	// count is the number of duplicates while in flight, and the slot of
	// the rest of a long reply once replied.
	count uint32
	state state

	generation uint64

	since int64 // when it began; once retained, when its reply was first sent
	until int64 // when its newest copy came; once retained, when it expires

	// reply is the reply, or the first octets of a long one. Most replies are
	// short, and what is beside the entry is at hand once that is found.
	reply [inlineReply]byte
}

// inlineReply is how many octets of a reply are kept within its entry.
const inlineReply = 64

const entrySize = int(unsafe.Sizeof(entry{}))

// entries holds a shard's entries in segments that come and go with use.
type entries struct {
	slots    slots
	segments []*[entriesPerSegment]entry
	held     int // segments with memory
	arena    *arena
}

// 64 entries of 160 octets are 10 KiB, a size that Go's allocator has.
const entriesPerSegment = 64

// at returns an entry that is known to exist. Like at of an index, it does
// without the check of the pointer to the segment.
func (e *entries) at(id uint32) *entry {
	i := id - 1
	segment := unsafe.Pointer(e.segments[i/entriesPerSegment])
	return (*entry)(unsafe.Add(segment, uintptr(i%entriesPerSegment)*unsafe.Sizeof(entry{})))
}

// find returns the entry of a number that may be of the past, or nil.
func (e *entries) find(id uint32) *entry {
	i := id - 1
	if id == none || int(i/entriesPerSegment) >= len(e.segments) {
		return nil
	}
	if e.segments[i/entriesPerSegment] == nil {
		return nil
	}
	return e.at(id)
}

func (e *entries) take() uint32 {
	id := e.slots.take()
	segment, _ := e.slots.locate(id)
	if segment == len(e.segments) {
		e.segments = append(e.segments, nil)
	}
	if e.segments[segment] == nil {
		e.segments[segment] = (*[entriesPerSegment]entry)(e.arena.take(entriesPerSegment*entrySize, segment))
		if e.segments[segment] == nil {
			e.segments[segment] = new([entriesPerSegment]entry)
		}
		e.held++
	}
	return id
}

func (e *entries) put(id uint32) {
	e.release(e.slots.put(id))
}

// trim gives back what only protects against flapping.
func (e *entries) trim() { e.release(e.slots.trim()) }

func (e *entries) release(release int) {
	if release >= 0 {
		e.arena.put(unsafe.Pointer(e.segments[release]))
		e.segments[release] = nil
		e.held--
	}
}

// reset forgets all memory. All entries must be absent.
func (e *entries) reset() {
	for _, segment := range e.segments {
		e.arena.put(unsafe.Pointer(segment))
	}
	*e = entries{slots: slots{width: entriesPerSegment}, arena: e.arena}
}

func (e *entries) bytes() int { return e.held * entriesPerSegment * entrySize }
