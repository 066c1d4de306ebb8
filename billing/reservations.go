package billing

import (
	"net/netip"
	"strings"
	"time"
)

// A sessionID tells which login asks for a session, before there is any
// Acct-Session-Id that could be relied on.
type sessionID struct {
	user   string // folded
	device device
}

// A device is what a subscriber dials in with: the station, or else the port of
// the NAS.
type device struct {
	mac  uint64     // Calling-Station-Id, if it is a MAC address
	nas  netip.Addr // if there is no Calling-Station-Id
	text string     // Calling-Station-Id that is no MAC address, or the port
}

func deviceOf(callingStationID string, nas netip.Addr, port string) device {
	if mac, ok := parseMAC(callingStationID); ok {
		return device{mac: mac}
	}
	if callingStationID != "" {
		return device{text: callingStationID}
	}
	return device{nas: nas, text: port}
}

// reservations counts the sessions that were let in and of which the accounting
// does not know yet, so that two Access-Requests before either Start do not both
// pass.
//
// A reservation is pending until the Start (or any later record) of its session is
// durable. It does not vanish then: a decision that is being made from what the
// database said before the Start must still count it. So it stays, as started,
// and counts for decisions whose question was put before. Either state ends by
// itself after ttl. It is a pure data structure, without lock or clock.
type reservations struct {
	ttl  time.Duration
	most int    // reservations, pending and started
	full uint64 // logins let in without a reservation, for want of room

	count   int
	pending map[sessionID]*reservation
	users   map[string]*reservedUser

	oldest, newest *reservation // in the order in which they end
}

type reservation struct {
	id           sessionID
	until        time.Time
	isStarted    bool
	startedAt    time.Time
	older, newer *reservation
}

// reservedUser is what one user has reserved.
type reservedUser struct {
	pending int
	started []*reservation // by the time of the start
}

func newReservations(ttl time.Duration, most int) reservations {
	return reservations{
		ttl:     ttl,
		most:    most,
		pending: make(map[sessionID]*reservation),
		users:   make(map[string]*reservedUser),
	}
}

// reserve reports whether the user may have one more session beside open, of which
// the database knew at asOf or later, and reserves it. The same device asking again
// keeps the reservation that it has. When there is no room for another reservation
// the limit is held against open and what is reserved, but the session itself is
// not reserved: a full table must not lock out everybody in a storm.
func (t *reservations) reserve(now, asOf time.Time, id sessionID, open, limit int) bool {
	t.expire(now)
	own := t.pending[id]
	u := t.users[id.user]
	taken := open
	if u != nil {
		taken += u.pending
		for i := len(u.started) - 1; i >= 0 && !u.started[i].startedAt.Before(asOf); i-- {
			taken++
		}
	}
	if own != nil {
		taken--
	}
	if taken >= limit {
		return false
	}
	if own != nil {
		t.unlink(own)
		own.until = now.Add(t.ttl)
		t.link(own)
		return true
	}
	if t.count >= t.most {
		t.full++
		return true
	}
	// Not the memory of all that the request said, of which they are parts.
	id.user, id.device.text = strings.Clone(id.user), strings.Clone(id.device.text)
	if u == nil {
		u = &reservedUser{}
		t.users[id.user] = u
	}
	u.pending++
	r := &reservation{id: id, until: now.Add(t.ttl)}
	t.pending[id] = r
	t.count++
	t.link(r)
	return true
}

// end says that the session is in the accounting from now on.
func (t *reservations) end(now time.Time, id sessionID) {
	t.expire(now)
	r := t.pending[id]
	if r == nil {
		return
	}
	delete(t.pending, id)
	u := t.users[id.user]
	u.pending--
	r.isStarted, r.startedAt = true, now
	u.started = append(u.started, r)
	t.unlink(r)
	r.until = now.Add(t.ttl)
	t.link(r)
}

// expire removes what has ended by now.
func (t *reservations) expire(now time.Time) {
	for r := t.oldest; r != nil && !now.Before(r.until); r = t.oldest {
		t.unlink(r)
		t.count--
		u := t.users[r.id.user]
		if r.isStarted {
			u.started = u.started[1:] // they end in the order of their starts
		} else {
			delete(t.pending, r.id)
			u.pending--
		}
		if u.pending == 0 && len(u.started) == 0 {
			delete(t.users, r.id.user)
		}
	}
}

// link puts r at the end, where what ends last is.
func (t *reservations) link(r *reservation) {
	r.older, r.newer = t.newest, nil
	if t.newest != nil {
		t.newest.newer = r
	} else {
		t.oldest = r
	}
	t.newest = r
}

func (t *reservations) unlink(r *reservation) {
	if r.older != nil {
		r.older.newer = r.newer
	} else {
		t.oldest = r.newer
	}
	if r.newer != nil {
		r.newer.older = r.older
	} else {
		t.newest = r.older
	}
	r.older, r.newer = nil, nil
}
