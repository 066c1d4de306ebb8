package cache

import "sync"

// shard is one part of the table, with everything that its entries need. All
// methods want mu held. No two shards are ever locked at the same time.
type shard struct {
	mu    sync.Mutex
	cache *Cache

	// latest is the newest time that the shard has seen. Goroutines bring
	// times that are a little out of order; within a shard time never goes back,
	// so that the lists below stay in order.
	latest     int64
	generation uint64 // of the newest entry

	entries entries
	index   index
	replies replies
	zones   zones

	running    list // in the order in which they began
	tombstones list // in the order in which they became one
	retained   list // in the order in which their replies were last sent

	counters counters

	_ [64]byte // keeps the next shard's lock off this one's cache line
}

// query is a request with what was worked out of it before the lock.
type query struct {
	*Request
	key  flatKey // without the number of its zone
	zone string
	hash uint32
}

// sweepEach is how many entries one call looks at on its way. It is more than
// the one entry that a call can add, so what is due cannot pile up under load.
const sweepEach = 4

// sweep frees up to n expired entries, marks up to n tombstones, and reports
// whether it stopped for that limit.
func (s *shard) sweep(n int) (more bool) {
	expired := 0
	for ; expired < n && s.retained.head != none; expired++ {
		id := s.retained.head
		e := s.entries.at(id)
		if e.until > s.latest {
			break
		}
		s.counters.expired++
		s.free(id, e)
		s.cache.places.release()
	}
	marked := 0
	for ; marked < n && s.running.head != none; marked++ {
		id := s.running.head
		e := s.entries.at(id)
		if !s.overdue(e) {
			break
		}
		s.remove(&s.running, e)
		e.state = tombstone
		s.pushTail(&s.tombstones, id, e)
	}
	return expired == n || marked == n
}

// overdue tells whether an entry in flight is past MaxRequestTime.
func (s *shard) overdue(e *entry) bool {
	return s.latest-e.since >= s.cache.maxRequestTime
}

// lookup returns the entry under the query's key, or none. It completes the
// query's key when the shard knows its zone.
func (s *shard) lookup(q *query) uint32 {
	if q.zone != "" {
		scope, ok := s.zones.number(q.zone)
		if !ok {
			return none
		}
		q.key.scope = scope
	}
	return s.index.find(&s.entries, q.hash, &q.key)
}

// again decides about a request whose key has an entry.
func (s *shard) again(id uint32, q *query, dst []byte) (Ticket, Verdict, []byte) {
	e := s.entries.at(id)
	same := e.authenticator == q.Authenticator && e.length == q.Length
	switch {
	case e.state.inFlight() && same:
		if e.count < 1<<32-1 {
			e.count++
		}
		e.until = s.latest
		s.counters.inFlight++
		return Ticket{}, InFlight, dst
	case e.state.inFlight():
		s.counters.superseded++
		return s.renew(id, e, q), Superseded, dst
	case e.until <= s.latest:
		s.counters.expired++
	case same:
		return s.repeat(id, e, dst)
	default:
		s.counters.replaced++
	}
	s.counters.begun++
	return s.renew(id, e, q), Fresh, dst
}

// repeat answers an exact copy of a request that has ended, and extends the
// entry's life.
func (s *shard) repeat(id uint32, e *entry, dst []byte) (Ticket, Verdict, []byte) {
	e.until = min(s.latest+s.cache.cleanupDelay, e.since+s.cache.maxAge)
	s.remove(&s.retained, e)
	s.pushTail(&s.retained, id, e)
	if e.state == silenced {
		s.counters.silent++
		return Ticket{}, Silent, dst
	}
	s.counters.replayed++
	return Ticket{}, Replay, s.appendReply(dst, e)
}

// admit makes an entry for a request whose key has none. The caller has
// reserved its place.
func (s *shard) admit(q *query) Ticket {
	if q.zone != "" {
		q.key.scope = s.zones.hold(q.zone)
	}
	id := s.entries.take()
	e := s.entries.at(id)
	e.flatKey, e.hash, e.chain = q.key, q.hash, none // start sets the rest
	s.index.insert(&s.entries, id, e)
	s.counters.begun++
	return s.start(id, e, q)
}

// renew gives the entry of a request to a new one under the same key. The
// Ticket of the old one is void by the change of generation.
func (s *shard) renew(id uint32, e *entry, q *query) Ticket {
	s.detach(e)
	return s.start(id, e, q)
}

// start puts a request in flight in an entry that is on no list.
func (s *shard) start(id uint32, e *entry, q *query) Ticket {
	s.generation++
	e.authenticator, e.length = q.Authenticator, q.Length
	e.generation = s.generation
	e.state = running
	e.count = 0
	e.since, e.until = s.latest, s.latest
	s.pushTail(&s.running, id, e)
	return Ticket{shard: s, id: id, generation: s.generation}
}

// live returns the entry of a Ticket whose request is in flight, or nil.
func (s *shard) live(t Ticket) *entry {
	e := s.entries.find(t.id)
	if e == nil || e.generation != t.generation || !e.state.inFlight() {
		return nil
	}
	return e
}

// retain ends a request: its entry holds the reply, or silence when that is
// empty.
func (s *shard) retain(id uint32, e *entry, reply []byte) {
	if s.overdue(e) {
		s.counters.late++
	}
	s.detach(e)
	e.state = silenced
	if len(reply) > 0 {
		e.state = replied
		s.keepReply(e, reply)
	}
	e.since, e.until = s.latest, s.latest+s.cache.cleanupDelay
	s.pushTail(&s.retained, id, e)
	s.cache.places.retain()
}

// detach takes an entry off its list and drops its reply.
func (s *shard) detach(e *entry) {
	s.remove(s.listOf(e.state), e)
	if e.state == replied {
		s.dropReply(e)
	}
	if e.state.retained() {
		s.cache.places.claim()
	}
	e.state = absent
}

// free removes an entry. Its place among MaxRequests is the caller's to pass
// on or to give back.
func (s *shard) free(id uint32, e *entry) {
	s.index.delete(&s.entries, id, e)
	s.detach(e)
	s.zones.drop(e.scope)
	s.entries.put(id)
}

// evict frees the retained entry whose reply was sent longest ago, and
// reports whether there was one. Its place passes to the caller.
func (s *shard) evict() bool {
	id := s.retained.head
	if id == none {
		return false
	}
	e := s.entries.at(id)
	if e.until <= s.latest {
		s.counters.expired++
	} else {
		s.counters.evicted++
	}
	s.free(id, e)
	return true
}

// reset gives all memory back when the shard holds no entry.
func (s *shard) reset() {
	if s.index.count == 0 && s.index.buckets != 0 {
		s.entries.reset()
		s.index.reset()
		s.replies.reset()
		s.zones = zones{}
	}
}
