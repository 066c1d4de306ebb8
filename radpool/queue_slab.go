package radpool

// none is the absence of a node, a chunk or a deadline.
const none = ^uint32(0)

const (
	chunkBits = 8
	chunkLen  = 1 << chunkBits // entries a chunk: 10 KiB of nodes for a pointer, a size that Go's allocator has
	chunkMask = chunkLen - 1
)

// node is one entry of a [Queue]. Neighbours are indices and not pointers, so
// that the collector need not walk a list of a million links one by one.
type node[T any] struct {
	value          T
	pushed         int64  // nanoseconds from the queue's base
	next, prev     uint32 // neighbours in the class; unused: next is the next free place in the chunk
	later, earlier uint32 // neighbours in the flow
	flow           uint32
	date           uint32 // place among the deadlines, none: does not expire
}

// chunk is a segment of nodes and its place in the directory.
type chunk[T any] struct {
	nodes *[chunkLen]node[T] // nil: given back
	free  uint32             // first unused place in the chunk
	live  uint32
	// next and prev are the neighbours among the chunks that have room; of a
	// chunk that was given back, next is the next such place in the directory.
	next, prev uint32
}

// slab hands out nodes from chunks, and gives empty chunks back but one. A
// node keeps its index for as long as it lives: removing one from the middle
// moves nothing, and leaves no hole that could grow the memory beyond the
// queue's bound.
type slab[T any] struct {
	chunks []chunk[T]
	room   uint32 // first chunk that is neither full nor empty
	holes  uint32 // first place in the directory without memory
	empty  uint32 // the one empty chunk that is kept
	held   int    // chunks that have memory
}

func newSlab[T any]() slab[T] { return slab[T]{room: none, holes: none, empty: none} }

func (s *slab[T]) at(id uint32) *node[T] {
	return &s.chunks[id>>chunkBits].nodes[id&chunkMask]
}

// alloc returns the index of an unused node.
func (s *slab[T]) alloc() uint32 {
	if s.room == none {
		if s.empty == none {
			s.grow()
		}
		s.linkRoom(s.empty)
		s.empty = none
	}
	place := s.room
	c := &s.chunks[place]
	i := c.free
	c.free = c.nodes[i].next
	c.live++
	if c.live == chunkLen {
		s.unlinkRoom(place)
	}
	return place<<chunkBits | i
}

// release gives the node back, and its chunk if that was its last one.
func (s *slab[T]) release(id uint32) {
	place := id >> chunkBits
	c := &s.chunks[place]
	i := id & chunkMask
	c.nodes[i] = node[T]{next: c.free} // no reference to the value remains
	c.free = i
	c.live--
	if c.live == chunkLen-1 {
		// The fullest chunk comes first, so that the emptiest can run empty.
		s.linkRoom(place)
	}
	if c.live > 0 {
		return
	}
	s.unlinkRoom(place)
	if s.empty == none {
		s.empty = place
	} else {
		*c = chunk[T]{next: s.holes, free: none, prev: none}
		s.holes = place
		s.held--
	}
	if s.held == 1 && len(s.chunks) > chunkLen {
		s.shrink()
	}
}

// grow makes one empty chunk, in a place of the directory that is free or new.
func (s *slab[T]) grow() {
	place := s.holes
	if place != none {
		s.holes = s.chunks[place].next
	} else {
		place = uint32(len(s.chunks))
		s.chunks = append(s.chunks, chunk[T]{})
	}
	nodes := new([chunkLen]node[T])
	for i := range nodes {
		nodes[i].next = uint32(i) + 1 // never followed from the last: live is counted
	}
	s.chunks[place] = chunk[T]{nodes: nodes, next: none, prev: none}
	s.empty = place
	s.held++
}

// shrink gives a large directory back. Called when one chunk is left and it is
// empty, so that no index points anywhere.
func (s *slab[T]) shrink() {
	s.chunks = append(make([]chunk[T], 0, 1), s.chunks[s.empty])
	s.empty, s.holes = 0, none
}

func (s *slab[T]) linkRoom(place uint32) {
	c := &s.chunks[place]
	c.prev, c.next = none, s.room
	if s.room != none {
		s.chunks[s.room].prev = place
	}
	s.room = place
}

func (s *slab[T]) unlinkRoom(place uint32) {
	c := &s.chunks[place]
	if c.prev == none {
		s.room = c.next
	} else {
		s.chunks[c.prev].next = c.next
	}
	if c.next != none {
		s.chunks[c.next].prev = c.prev
	}
	c.next, c.prev = none, none
}
