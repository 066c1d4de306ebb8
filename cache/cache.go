package cache

import (
	"hash/maphash"
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// Cache remembers requests and their replies. Make one with [New]. Its
// methods, and those of its Tickets, may be called by any number of
// goroutines at the same time.
type Cache struct {
	seed   maphash.Seed
	clock  clock
	shards []shard
	arena  *arena

	cleanupDelay   int64 // ns, like the two below
	maxAge         int64
	maxRequestTime int64

	// places makes MaxRequests exact over all shards: a place is
	// reserved before an entry is made, or passed on by one that makes room.
	places places
	full   atomic.Uint64 // requests refused
}

// New returns an empty Cache, which holds next to no memory. The error names
// each field of the Config that is out of bounds, and its bounds.
func New(config Config) (*Cache, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	c := &Cache{
		seed:           maphash.MakeSeed(),
		shards:         make([]shard, config.Shards),
		arena:          newArena(config.Shards),
		cleanupDelay:   int64(config.CleanupDelay),
		maxAge:         int64(config.MaxAge),
		maxRequestTime: int64(config.MaxRequestTime),
	}
	c.places.most = uint64(config.MaxRequests)
	for i := range c.shards {
		c.shards[i].cache = c
		s := &c.shards[i]
		s.entries.arena, s.index.arena, s.replies.arena = c.arena, c.arena, c.arena
		s.entries.reset()
	}
	// A Ticket leads to the Cache too, so nobody can reach a block by then.
	runtime.AddCleanup(c, (*arena).close, c.arena)
	return c, nil
}

// Begin looks up a request that arrived at now, whose authenticators the
// caller has verified, and says what to do with it.
//
// With Fresh and Superseded the Ticket is live, and the caller must end it.
// With Replay, reply is dst with the octets of the retained reply appended
// (up to MaxReply); with any other Verdict it is dst as it was. Neither r nor
// dst is kept.
//
// When the table is full, the retained entry whose reply was sent longest ago
// makes room: one of the same shard if that has any, else of the next one
// that has. Begin allocates only as the table grows.
func (c *Cache) Begin(now time.Time, r *Request, dst []byte) (t Ticket, v Verdict, reply []byte) {
	q := query{Request: r}
	q.key, q.zone = r.flatten()
	return c.begin(c.clock.ticks(now), &q, q.key.hash(c.seed, q.zone), dst)
}

// begin is Begin once the hash is known: its upper half chooses the shard, its
// lower half the bucket.
func (c *Cache) begin(at int64, q *query, hash uint64, dst []byte) (t Ticket, v Verdict, reply []byte) {
	q.hash = uint32(hash)
	own := int(hash >> 32 * uint64(len(c.shards)) >> 32)
	s := &c.shards[own]
	for reserved := false; ; reserved = true {
		s.mu.Lock()
		s.latest = max(s.latest, at)
		// The sweep comes after the look-up, so that a processor can wait for
		// both of their buckets at the same time.
		if id := s.lookup(q); id != none {
			t, v, reply = s.again(id, q, dst)
			s.sweep(sweepEach)
			s.mu.Unlock()
			if reserved { // another goroutine brought the same request meanwhile
				c.places.release()
			}
			return t, v, reply
		}
		s.sweep(sweepEach)
		if reserved || c.places.reserve() || s.evict() {
			t = s.admit(q)
			s.mu.Unlock()
			return t, Fresh, dst
		}
		s.mu.Unlock()
		if !c.makeRoom(own, at) {
			c.full.Add(1)
			return Ticket{}, Full, dst
		}
	}
}

// makeRoom gets a place from any shard, one lock at a time. It gives up only
// when at some moment all places were taken and no entry was retained.
func (c *Cache) makeRoom(own int, now int64) bool {
	for {
		for i := range c.shards {
			s := &c.shards[(own+1+i)%len(c.shards)]
			s.mu.Lock()
			s.latest = max(s.latest, now)
			ok := s.evict()
			s.mu.Unlock()
			if ok {
				return true
			}
		}
		if c.places.reserve() {
			return true
		}
		if c.places.exhausted() {
			return false
		}
		// What is retained now became so behind the scan: look again.
	}
}

// expireBatch bounds how long Expire holds a shard's lock.
const expireBatch = 256

// Expire frees everything that has expired at now, and gives back the memory
// that is no longer needed. It returns when it should be called next, or the
// zero Time when no reply is retained. A server under load need not call it, as Begin
// frees entries as it goes; a server that falls idle should, for instance
// from one timer set to the time returned. Entries whose extended life ends
// at MaxAge may be freed up to CleanupDelay later than they expire; nobody
// is answered from them.
func (c *Cache) Expire(now time.Time) (next time.Time) {
	at := c.clock.ticks(now)
	soonest := int64(math.MaxInt64)
	for i := range c.shards {
		if due := c.shards[i].expire(at); due < soonest {
			soonest = due
		}
	}
	if soonest == math.MaxInt64 {
		return time.Time{}
	}
	return c.clock.time(soonest)
}

// expire frees all that is due in a shard. It takes the lock itself, and
// returns when the shard's next entry is due.
func (s *shard) expire(now int64) (due int64) {
	for {
		s.mu.Lock()
		s.latest = max(s.latest, now)
		if s.sweep(expireBatch) {
			s.mu.Unlock()
			continue
		}
		s.entries.trim()
		s.replies.trim()
		s.reset()
		due = math.MaxInt64
		if head := s.retained.head; head != none {
			due = s.entries.at(head).until
		}
		s.mu.Unlock()
		return due
	}
}
