package loadgen

import (
	"container/heap"
	"net/netip"
	"time"

	"github.com/radpool/radpool/internal/histogram"
	"github.com/radpool/radpool/internal/udp"
)

// A lane is what one socket of the generator does. It is a state machine: it is told the time and what was received, and
// leaves in out what is to be sent. It has neither clock nor goroutine.
type lane struct {
	*plan
	nas     netip.Addr
	builder *builder
	mschap1 mschapCache[mschap1]
	mschap2 mschapCache[mschap2]

	auth, acct *flight // the same one where the server's addresses are
	arrivals   arrivals

	active    int             // conversations that are not over
	idle      []*conversation // whose memory is free
	readyAuth queue           // conversations that want to send
	readyAcct queue
	waiting   waiting // sessions between two records
	ending    bool    // nothing new begins

	out      []udp.Message // to be sent
	counters Counters
	recent   histogram.Histogram // latencies, since the last sample
	behind   time.Duration
	// When the last request was answered, and when the last was answered or given up.
	lastAnswer, lastDone time.Duration
}

func newLane(p *plan, index int, nas netip.Addr) *lane {
	l := &lane{
		plan: p, nas: nas,
		builder:  newBuilder(p.secret, p.seed(index)),
		auth:     newFlight(p.Timeout, p.Retries),
		arrivals: newArrivals(p, index),
		out:      make([]udp.Message, 0, identifiers),
	}
	l.acct = l.auth
	if p.Acct != p.Auth {
		l.acct = newFlight(p.Timeout, p.Retries)
	}
	return l
}

// advance does what is to be done at now, and returns when it wants to be called next at the latest; more is false when
// there is nothing left to do. The error is that a request cannot be made.
func (l *lane) advance(now time.Duration) (wake time.Duration, more bool, err error) {
	l.timers(l.auth, l.Auth, now)
	if l.acct != l.auth {
		l.timers(l.acct, l.Acct, now)
	}
	for len(l.waiting) > 0 && l.waiting[0].due <= now {
		l.ready(heap.Pop(&l.waiting).(*conversation))
	}
	if err := l.drain(&l.readyAuth, l.auth, l.Auth, now); err != nil {
		return 0, false, err
	}
	if err := l.drain(&l.readyAcct, l.acct, l.Acct, now); err != nil {
		return 0, false, err
	}
	wake, err = l.begin(now)
	if err != nil {
		return 0, false, err
	}
	for _, f := range []*flight{l.auth, l.acct} {
		if at, ok := f.nextDue(); ok {
			wake = min(wake, at)
		}
	}
	if len(l.waiting) > 0 {
		wake = min(wake, l.waiting[0].due)
	}
	return wake, l.active > 0 || !l.ending && !l.arrivals.over(), nil
}

// end has nothing new begin but what is due in an open loop and has an Identifier; and sessions end. What is in flight is
// waited for.
func (l *lane) end(now time.Duration) error {
	if l.ending {
		return nil
	}
	if l.open() {
		if _, err := l.begin(now); err != nil {
			return err
		}
	}
	l.ending = true
	l.counters.Unsent += l.arrivals.missed(now)
	for _, c := range l.waiting {
		c.cut()
		c.due = now
		l.ready(c)
	}
	clear(l.waiting)
	l.waiting = l.waiting[:0]
	return nil
}

// begin begins the conversations that are due and have an Identifier, and returns when the next one is.
func (l *lane) begin(now time.Duration) (wake time.Duration, err error) {
	l.behind = 0
	for !l.ending {
		number, at, ok := l.arrivals.next(now, l.active)
		if !ok {
			return at, nil
		}
		kind := l.pattern[number%uint64(len(l.pattern))]
		f, to := l.auth, l.Auth
		if kind.Method == MethodNone {
			f, to = l.acct, l.Acct
		}
		if !f.room() {
			l.behind = now - at
			return never, nil // an answer or a timer makes room
		}
		l.arrivals.take()
		c := l.conversation()
		c.open(number, int(number%uint64(l.Users.Len())), kind, at)
		l.active++
		l.counters.Begun++
		if err := l.send(c, f, to, now); err != nil {
			return never, err
		}
	}
	return never, nil
}

// conversation returns one whose memory is free.
func (l *lane) conversation() *conversation {
	if n := len(l.idle); n > 0 {
		c := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return c
	}
	return new(conversation)
}

func (l *lane) ready(c *conversation) {
	if c.step == stepLogin {
		l.readyAuth.push(c)
	} else {
		l.readyAcct.push(c)
	}
}

// drain sends what waits for an Identifier, while there are any.
func (l *lane) drain(q *queue, f *flight, to netip.AddrPort, now time.Duration) error {
	for !q.empty() && f.room() {
		if err := l.send(q.pop(), f, to, now); err != nil {
			return err
		}
	}
	return nil
}

// send sends what c asks next.
func (l *lane) send(c *conversation, f *flight, to netip.AddrPort, now time.Duration) error {
	id, r := f.take(now)
	r.conv, r.first = c, c.due
	if err := l.build(c, id, r); err != nil {
		return err
	}
	l.counters.Requests++
	l.put(r, to)
	if l.Duplicates > 0 && float64(l.builder.random.Uint64()>>11)*0x1p-53 < l.Duplicates {
		l.counters.Duplicated++
		l.put(r, to)
	}
	return nil
}

func (l *lane) put(r *request, to netip.AddrPort) {
	l.out = append(l.out, udp.Message{Buf: r.octets, N: len(r.octets), Addr: to})
}

// timers sends again what was not answered in time, and gives up what was sent often enough.
func (l *lane) timers(f *flight, to netip.AddrPort, now time.Duration) {
	for {
		id, lost, ok := f.dueNow(now)
		if !ok {
			return
		}
		r := &f.requests[id]
		if !lost {
			l.counters.Retransmitted++
			l.put(r, to)
			continue
		}
		l.counters.Lost++
		l.lastDone = now
		c := r.conv
		f.release(id)
		l.over(c)
	}
}

// over frees a conversation.
func (l *lane) over(c *conversation) {
	l.active--
	l.idle = append(l.idle, c)
}

// inFlight is how many requests are on their way.
func (l *lane) inFlight() int {
	n := l.auth.inFlight()
	if l.acct != l.auth {
		n += l.acct.inFlight()
	}
	return n
}
