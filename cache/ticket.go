package cache

import (
	"fmt"
	"time"
)

// Ticket stands for one request in flight. It is a small value, to be
// copied freely; the zero Ticket is not live. A Ticket is live from the Begin
// that returned it until it is ended (by Finish, NoReply or Abandon, the
// first of which counts) or superseded; after that its methods do nothing
// and return false, whatever has become of the entry since.
type Ticket struct {
	shard      *shard
	id         uint32
	generation uint64
}

// Finish ends the request with its encoded reply, of which the cache keeps a
// copy for CleanupDelay. It returns true when the reply is still wanted: send
// it. It returns false when the request was superseded or has ended
// already: do not send, for the client would match the reply to another request.
//
// A request that ran past MaxRequestTime finishes in the same way: the reply
// is retained for the retransmission to come, Finish returns true, and
// whether to send it now is the caller's choice.
//
// An empty reply is NoReply. Finish panics on one of more than MaxReply octets,
// which no RADIUS packet has; the Ticket stays live.
func (t Ticket) Finish(now time.Time, reply []byte) bool {
	if len(reply) > MaxReply {
		panic(fmt.Sprintf("cache: Finish with a reply of %d octets, the most is %d", len(reply), MaxReply))
	}
	if t.shard == nil {
		return false
	}
	s := t.shard
	at := s.cache.clock.ticks(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = max(s.latest, at)
	e := s.live(t)
	if e == nil {
		s.counters.void++
		return false
	}
	if len(reply) > 0 {
		s.counters.finished++
	} else {
		s.counters.unanswered++
	}
	s.retain(t.id, e, reply)
	return true
}

// NoReply ends the request with silence as the answer, which is retained as a
// reply is: its retransmissions are Silent. It returns false as Finish does.
func (t Ticket) NoReply(now time.Time) bool { return t.Finish(now, nil) }

// Abandon ends the request as one that failed, and forgets it: its
// retransmission is Fresh. It returns false as Finish does.
func (t Ticket) Abandon() bool {
	if t.shard == nil {
		return false
	}
	s := t.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.live(t)
	if e == nil {
		s.counters.void++
		return false
	}
	s.counters.abandoned++
	s.free(t.id, e)
	s.cache.places.release()
	return true
}

// Current tells whether the Ticket is live. A queued request whose Ticket is
// not must not run.
func (t Ticket) Current() bool {
	if t.shard == nil {
		return false
	}
	t.shard.mu.Lock()
	defer t.shard.mu.Unlock()
	return t.shard.live(t) != nil
}

// Seen returns when the newest copy of the request arrived (its first, if
// there was no other), and how many copies came after the first: a client
// that still asks still waits. It returns zeros when the Ticket is not live.
func (t Ticket) Seen() (last time.Time, duplicates int) {
	if t.shard == nil {
		return time.Time{}, 0
	}
	s := t.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.live(t)
	if e == nil {
		return time.Time{}, 0
	}
	return s.cache.clock.time(e.until), int(e.count)
}
