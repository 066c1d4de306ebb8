package loadgen

import (
	"time"

	"layeh.com/radius"
)

// identifiers is how many requests may be in flight between one port of the generator and one of the server.
const identifiers = 256

// memory is how many earlier requests of an Identifier are remembered, so that an answer which comes late is known for
// what it is.
const memory = 4

// A request is what one Identifier is used for, now or last.
type request struct {
	octets []byte   // as sent; its memory serves the next request too
	auth   [16]byte // its Request Authenticator
	code   radius.Code
	conv   *conversation // who asks
	first  time.Duration // when it was to be sent
	due    time.Duration // when its timer ends
	sends  int           // times that the timer was started
	busy   bool

	prev, next int16 // in the order of due, while busy

	past  [memory]signed // a ring of requests that were answered or given up
	pasts uint8
}

// signed is what it takes to verify a reply.
type signed struct {
	auth [16]byte
	code radius.Code
}

// flight is the requests on their way from one port to another: Identifiers, the timers of the NAS, and what was there
// before. It is a state machine without clock or socket. The wait after every sending is the same, so that the order of
// the timers is that of the sendings.
type flight struct {
	timeout time.Duration
	retries int

	requests    [identifiers]request
	free        [identifiers]uint8 // a ring: who has been free for longest is used next
	head, count int                // of it
	first, last int16              // of the timers; -1: none
}

func newFlight(timeout time.Duration, retries int) *flight {
	f := &flight{timeout: timeout, retries: retries, first: -1, last: -1, count: identifiers}
	for i := range f.free {
		f.free[i] = uint8(i)
	}
	return f
}

// inFlight is how many requests are on their way.
func (f *flight) inFlight() int { return identifiers - f.count }

// room reports whether an Identifier is free.
func (f *flight) room() bool { return f.count > 0 }

// take takes the Identifier that has been free for longest; there must be room.
func (f *flight) take(now time.Duration) (id uint8, r *request) {
	id = f.free[f.head%identifiers]
	f.head++
	f.count--
	r = &f.requests[id]
	r.busy, r.sends = true, 0
	f.arm(int16(id), now)
	return id, r
}

// arm starts the timer of a request that is sent now.
func (f *flight) arm(id int16, now time.Duration) {
	r := &f.requests[id]
	r.sends++
	r.due = now + f.timeout
	r.prev, r.next = f.last, -1
	if f.last >= 0 {
		f.requests[f.last].next = id
	} else {
		f.first = id
	}
	f.last = id
}

func (f *flight) disarm(id int16) {
	r := &f.requests[id]
	if r.prev >= 0 {
		f.requests[r.prev].next = r.next
	} else {
		f.first = r.next
	}
	if r.next >= 0 {
		f.requests[r.next].prev = r.prev
	} else {
		f.last = r.prev
	}
}

// dueNow returns a request whose timer has ended: it is to be sent again, the same octets, and its timer was started anew;
// or it is lost, and its Identifier still taken. ok is false where there is none.
func (f *flight) dueNow(now time.Duration) (id uint8, lost, ok bool) {
	if f.first < 0 || f.requests[f.first].due > now {
		return 0, false, false
	}
	first := f.first
	if f.requests[first].sends > f.retries {
		return uint8(first), true, true
	}
	f.disarm(first)
	f.arm(first, now)
	return uint8(first), false, true
}

// nextDue is when the next timer ends; ok is false where none runs.
func (f *flight) nextDue() (at time.Duration, ok bool) {
	if f.first < 0 {
		return 0, false
	}
	return f.requests[f.first].due, true
}

// release frees an Identifier whose request was answered or given up, and remembers the request.
func (f *flight) release(id uint8) {
	r := &f.requests[id]
	f.disarm(int16(id))
	r.busy = false
	r.past[r.pasts%memory] = signed{r.auth, r.code}
	r.pasts++
	f.free[(f.head+f.count)%identifiers] = id
	f.count++
}
