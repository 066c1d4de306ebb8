package cache

import (
	"sync"
	"unsafe"
)

// arena provides the segments of a large table from chunks of the size and
// alignment of a huge page, outside the Go heap: where look-ups go all over
// hundreds of megabytes, an access to a page of 4 KiB costs a walk of the page
// tables on top of the access itself. All shards share an arena, so that
// there is at most about one partly used chunk for each size of segment, not
// for each shard. A nil arena has no chunks.
type arena struct {
	// small is the number of segments of each kind that a shard has on the
	// Go heap before it asks for chunks. As shards fill their low segments
	// first, a table that is small again holds no chunk.
	small int

	mu     sync.Mutex // may be taken while a shard is locked, never the reverse
	pools  map[int]*pool
	chunks map[uintptr]*chunk // by address
	used   int                // octets of blocks in use
}

// pool is the chunks that are cut into blocks of one size. Like slots it
// gives the lowest free block, so that the upper chunks empty.
type pool struct {
	size   int
	chunks []*chunk
	open   bitset // the chunks with a free block, those without memory included
	spare  int    // an empty chunk kept against flapping, plus 1; 0: none
	used   int    // blocks
}

// chunk is memory from the operating system.
type chunk struct {
	pool    *pool
	number  int
	mapping []byte // what to unmap
	memory  []byte // the aligned part of it
	free    bitset
	used    int // blocks
}

const (
	chunkOctets = 2 << 20

	// The segments of each kind in small pages, over all shards: some 4 to 6
	// MiB of each, so that a first chunk does not multiply what is held.
	smallSegments = 1024
)

func newArena(shards int) *arena {
	return &arena{
		small:  max(1, smallSegments/shards),
		pools:  make(map[int]*pool),
		chunks: make(map[uintptr]*chunk),
	}
}

// take returns a zeroed block for a shard's segment, or nil when that
// segment belongs on the Go heap.
func (a *arena) take(size, segment int) unsafe.Pointer {
	if a == nil || segment < a.small {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.pools[size]
	if p == nil {
		p = &pool{size: size}
		a.pools[size] = p
	}
	c := a.openChunk(p)
	if c == nil {
		return nil
	}
	block := c.free.first()
	c.free.clear(block)
	if c.free.first() < 0 {
		p.open.clear(c.number)
	}
	c.used++
	p.used++
	a.used += size
	b := c.memory[block*size:][:size]
	clear(b) // it may have been another shard's
	return unsafe.Pointer(unsafe.SliceData(b))
}

// openChunk returns a chunk with a free block, or nil when the system gives
// no memory.
func (a *arena) openChunk(p *pool) *chunk {
	number := p.open.first()
	if number < 0 {
		number = len(p.chunks)
		p.chunks = append(p.chunks, nil)
		p.open.grow(len(p.chunks))
		p.open.set(number)
	}
	if p.spare == number+1 {
		p.spare = 0
	}
	if c := p.chunks[number]; c != nil {
		return c
	}
	mapping, memory := mapChunk()
	if memory == nil {
		return nil
	}
	c := &chunk{pool: p, number: number, mapping: mapping, memory: memory}
	blocks := chunkOctets / p.size
	c.free.grow(blocks)
	for block := range blocks {
		c.free.set(block)
	}
	p.chunks[number] = c
	a.chunks[c.address()] = c
	return c
}

func (c *chunk) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(c.memory))) }

// put gives a segment's memory back when it is a block, and leaves it to the
// collector otherwise.
func (a *arena) put(segment unsafe.Pointer) {
	if a == nil || segment == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	offset := uintptr(segment) % chunkOctets
	c := a.chunks[uintptr(segment)-offset]
	if c == nil {
		return
	}
	p := c.pool
	c.free.set(int(offset) / p.size)
	p.open.set(c.number)
	c.used--
	p.used--
	a.used -= p.size
	if c.used > 0 {
		return
	}
	switch {
	case p.used == 0:
		a.unmap(c)
		if p.spare > 0 {
			a.unmap(p.chunks[p.spare-1])
			p.spare = 0
		}
	case p.spare == 0:
		p.spare = c.number + 1
	default:
		a.unmap(p.chunks[max(p.spare-1, c.number)])
		p.spare = min(p.spare-1, c.number) + 1
	}
}

func (a *arena) unmap(c *chunk) {
	delete(a.chunks, c.address())
	c.pool.chunks[c.number] = nil
	unmapChunk(c.mapping)
}

// close gives everything back. Nothing may use a block any more.
func (a *arena) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.chunks {
		a.unmap(c)
	}
}

// idle returns the octets of chunks that are not in use as segments.
func (a *arena) idle() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.chunks)*chunkOctets - a.used
}
