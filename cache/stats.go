package cache

// Stats is a snapshot of a Cache. Its counters count from New and only grow.
// The shards are read one after another, so under load the numbers may be of
// slightly different moments; at rest they satisfy
//
//	Begun + Superseded = Finished + Unanswered + Abandoned + Superseded + InFlight
//	Finished + Unanswered = Expired + Evicted + Replaced + Retained
//
// where a Superseded request counts once as a request that began and once
// as one, the older, that ended.
type Stats struct {
	// Status.
	MaxRequests int // the bound on Entries
	Entries     int // requests in flight or about to be, and retained: exact at any moment
	InFlight    int // requests with a live Ticket, tombstones included
	Tombstones  int // of those, past MaxRequestTime when last looked at
	Retained    int // answered requests, silence included
	ReplyBytes  int // octets of retained replies
	Bytes       int // octets of memory held for entries, index and replies

	// What Begin said, one counter for each call.
	Begun          uint64 // Fresh
	InFlightCopies uint64 // InFlight
	Replayed       uint64 // Replay
	SilencedCopies uint64 // Silent
	Superseded     uint64 // Superseded
	Full           uint64 // Full

	// How requests ended.
	Finished   uint64 // with a reply
	Unanswered uint64 // with silence, by NoReply
	Abandoned  uint64 // forgotten, by Abandon
	Late       uint64 // of Finished and Unanswered, those past MaxRequestTime
	Void       uint64 // calls to end a Ticket that was not live

	// How retained entries went.
	Expired  uint64 // at the end of their time
	Evicted  uint64 // before it, to make room
	Replaced uint64 // before it, by a new request under the same Key
}

// counters are a shard's part of Stats.
type counters struct {
	replyBytes int

	begun, inFlight, replayed, silent, superseded uint64
	finished, unanswered, abandoned, late, void   uint64
	expired, evicted, replaced                    uint64
}

// Stats returns the numbers of the moment. It costs a lock and a few
// additions a shard.
func (c *Cache) Stats() Stats {
	total := Stats{
		MaxRequests: int(c.places.most),
		Entries:     c.places.used(),
		Full:        c.full.Load(),
	}
	for i := range c.shards {
		c.shards[i].addTo(&total)
	}
	total.Bytes += c.arena.idle()
	return total
}

// addTo takes the shard's lock itself.
func (s *shard) addTo(total *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.counters
	total.InFlight += s.running.length + s.tombstones.length
	total.Tombstones += s.tombstones.length
	total.Retained += s.retained.length
	total.ReplyBytes += n.replyBytes
	total.Bytes += s.entries.bytes() + s.index.bytes() + s.replies.held

	total.Begun += n.begun
	total.InFlightCopies += n.inFlight
	total.Replayed += n.replayed
	total.SilencedCopies += n.silent
	total.Superseded += n.superseded
	total.Finished += n.finished
	total.Unanswered += n.unanswered
	total.Abandoned += n.abandoned
	total.Late += n.late
	total.Void += n.void
	total.Expired += n.expired
	total.Evicted += n.evicted
	total.Replaced += n.replaced
}
