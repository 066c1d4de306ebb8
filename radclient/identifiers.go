package radclient

import "time"

// ident is an Identifier of one of the sockets: the socket's number and the octet.
type ident uint32

const identifiersPerSocket = 256 // the field is one octet (RFC 2865 section 3)

func newIdent(socket int, id byte) ident { return ident(socket)<<8 | ident(id) }
func (i ident) socket() int              { return int(i >> 8) }
func (i ident) octet() byte              { return byte(i) }

// identifiers hands out the idents of one server: those of all sockets, each again only when it has rested. Of those
// that have rested the one that was given back first comes first. Taking and giving back are O(1).
type identifiers struct {
	fresh, limit ident         // those from fresh to limit were never taken
	long         time.Duration // rest of an ident of which copies may still be on their way
	short        time.Duration // rest of one whose only copy was answered

	// One queue for each rest, so that each is in the order in which its idents are ready.
	longs, shorts restQueue
}

// grow adds the idents of another socket.
func (ids *identifiers) grow() { ids.limit += identifiersPerSocket }

// take returns an ident that is neither in use nor at rest, if there is one.
func (ids *identifiers) take(now time.Duration) (ident, bool) {
	first, second := &ids.shorts, &ids.longs
	if second.readyAt() < first.readyAt() {
		first, second = second, first
	}
	switch {
	case first.readyAt() <= now:
		return first.pop(), true
	case ids.fresh < ids.limit:
		ids.fresh++
		return ids.fresh - 1, true
	}
	return 0, false
}

// give takes an ident back. settled says that its only copy was answered.
func (ids *identifiers) give(now time.Duration, id ident, settled bool) {
	if settled {
		ids.shorts.push(rested{id, now + ids.short})
		return
	}
	ids.longs.push(rested{id, now + ids.long})
}

// readyAt is when the next ident can be taken, never if all are in use.
func (ids *identifiers) readyAt() time.Duration {
	if ids.fresh < ids.limit {
		return 0
	}
	return min(ids.longs.readyAt(), ids.shorts.readyAt())
}

type rested struct {
	id    ident
	ready time.Duration
}

// restQueue is a ring that grows to what was at rest at once: at most all the idents there are.
type restQueue struct {
	ring        []rested
	head, count int
}

func (q *restQueue) readyAt() time.Duration {
	if q.count == 0 {
		return never
	}
	return q.ring[q.head].ready
}

func (q *restQueue) push(r rested) {
	if q.count == len(q.ring) {
		grown := make([]rested, max(16, 2*len(q.ring)))
		n := copy(grown, q.ring[q.head:])
		copy(grown[n:], q.ring[:q.head])
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.count)%len(q.ring)] = r
	q.count++
}

func (q *restQueue) pop() ident {
	id := q.ring[q.head].id
	q.head = (q.head + 1) % len(q.ring)
	q.count--
	return id
}
