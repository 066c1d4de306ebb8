package cache

import (
	"time"
	"unsafe"
)

// SetGeneration makes the next entry of every shard follow generation g.
func SetGeneration(c *Cache, g uint64) {
	for i := range c.shards {
		c.shards[i].generation = g
	}
}

// BeginHashed is Begin with a hash of the test's choosing.
func BeginHashed(c *Cache, now time.Time, r *Request, dst []byte, hash uint64) (Ticket, Verdict, []byte) {
	q := query{Request: r}
	q.key, q.zone = r.flatten()
	return c.begin(c.clock.ticks(now), &q, hash, dst)
}

// Hash returns the hash under which the cache files a key.
func Hash(c *Cache, k Key) uint64 {
	f, zone := k.flatten()
	return f.hash(c.seed, zone)
}

// Zones returns how many zones the shards number.
func Zones(c *Cache) (n int) {
	for i := range c.shards {
		n += len(c.shards[i].zones.numbers)
	}
	return n
}

// EntrySize is the size of an entry in octets, without room for a reply.
const EntrySize = entrySize - inlineReply

// DefaultShards is the rule for a zero Config.Shards.
var DefaultShards = defaultShards

// Bitset opens the set of small integers to its test.
type Bitset struct{ b bitset }

func (b *Bitset) Grow(n int)  { b.b.grow(n) }
func (b *Bitset) Set(i int)   { b.b.set(i) }
func (b *Bitset) Clear(i int) { b.b.clear(i) }
func (b *Bitset) First() int  { return b.b.first() }

// Index opens the index, over entries that are nothing but a hash and a number for a key.
type Index struct {
	x  index
	es entries
}

func NewIndex() *Index {
	var x Index
	x.es.reset()
	return &x
}

func (x *Index) Insert(hash, key uint32) uint32 {
	id := x.es.take()
	e := x.es.at(id)
	*e = entry{hash: hash, flatKey: flatKey{listener: key}}
	x.x.insert(&x.es, id, e)
	return id
}

func (x *Index) Delete(id uint32) {
	x.x.delete(&x.es, id, x.es.at(id))
	x.es.put(id)
}

// Find returns the number of the entry whose hash and key are given, or zero.
func (x *Index) Find(hash, key uint32) uint32 {
	return x.x.find(&x.es, hash, &flatKey{listener: key})
}

// Buckets returns how many buckets are in use.
func (x *Index) Buckets() int { return int(x.x.buckets) }

// Replies opens the store of replies.
type Replies struct{ r replies }

func (r *Replies) Store(b []byte) uint32             { return r.r.store(b) }
func (r *Replies) Load(id uint32, length int) []byte { return r.r.load(id, length) }
func (r *Replies) Drop(id uint32, length int)        { r.r.drop(id, length) }
func (r *Replies) Held() int                         { return r.r.held }

// Slots opens the allocator of slots.
type Slots struct{ s slots }

func NewSlots(width int) *Slots { return &Slots{slots{width: width}} }

func (s *Slots) Take() uint32      { return s.s.take() }
func (s *Slots) Put(id uint32) int { return s.s.put(id) }
func (s *Slots) Trim() int         { return s.s.trim() }

// LockShard keeps everyone out of a shard until unlock is called.
func LockShard(c *Cache, i int) (unlock func()) {
	c.shards[i].mu.Lock()
	return c.shards[i].mu.Unlock
}

// Visited tells whether a call that brought now has been in a shard and has
// left it.
func Visited(c *Cache, i int, now time.Time) bool {
	c.shards[i].mu.Lock()
	defer c.shards[i].mu.Unlock()
	return c.shards[i].latest >= c.clock.ticks(now)
}

// Exhausted tells whether the cache holds that nothing can make room.
func Exhausted(c *Cache) bool { return c.places.exhausted() }

// Chunks returns how many chunks the cache holds, and whether this system has
// any to give.
func Chunks(c *Cache) (n int, possible bool) {
	mapping, memory := mapChunk()
	if memory != nil {
		unmapChunk(mapping)
	}
	c.arena.mu.Lock()
	defer c.arena.mu.Unlock()
	return len(c.arena.chunks), memory != nil
}

// Arena opens the arena, with segments of one size.
type Arena struct{ a *arena }

func NewArena(shards int) Arena { return Arena{newArena(shards)} }

// ArenaOf returns a cache's arena, and does not hold the cache.
func ArenaOf(c *Cache) Arena { return Arena{c.arena} }

// Take returns a block, or nil.
func (a Arena) Take(size, segment int) []byte {
	if p := a.a.take(size, segment); p != nil {
		return unsafe.Slice((*byte)(p), size)
	}
	return nil
}

func (a Arena) Put(b []byte) { a.a.put(unsafe.Pointer(unsafe.SliceData(b))) }
func (a Arena) Close()       { a.a.close() }

// Held returns the chunks, the octets of blocks in use and the idle ones.
func (a Arena) Held() (chunks, used, idle int) {
	idle = a.a.idle()
	a.a.mu.Lock()
	defer a.a.mu.Unlock()
	return len(a.a.chunks), a.a.used, idle
}
