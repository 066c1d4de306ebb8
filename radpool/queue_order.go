package radpool

import (
	"strconv"
	"time"
)

// Order is which job of a flow a [Queue] runs first.
type Order uint8

const (
	// FreshestInDelay runs the oldest first, as is fair, until the class is lastingly
	// late; then the newest, until it is not late any more.
	//
	// Late is what CoDel (RFC 8289) calls a standing queue: for [LateInterval]
	// there was never a moment without a job that had waited for longer than [LateTarget]. A
	// burst that is worked off makes a long queue too, but not for that long.
	//
	// When more comes than can be done, oldest first answers everybody just
	// when they have given up, and so nobody. Newest first answers some at once, and
	// the others, whom no order could help, expire at the old end. Unlike CoDel, which
	// tells senders to slow down by dropping, it drops nothing that is still wanted. A
	// job that never expires is not late: while it is the oldest, the oldest comes first.
	FreshestInDelay Order = iota
	// OldestFirst is first in, first out, whatever happens.
	OldestFirst
	// NewestFirst is last in, first out, whatever happens.
	NewestFirst
	numOrders
)

func (o Order) valid() bool { return o < numOrders }

// String returns "freshest-in-delay", "oldest-first" or "newest-first".
func (o Order) String() string {
	switch o {
	case FreshestInDelay:
		return "freshest-in-delay"
	case OldestFirst:
		return "oldest-first"
	case NewestFirst:
		return "newest-first"
	}
	return "Order(" + strconv.Itoa(int(o)) + ")"
}

// What a lasting delay is; see [FreshestInDelay]. The target is what a subscriber does
// not notice and no NAS gives up for, the interval what a burst may take.
const (
	LateTarget   = 100 * time.Millisecond
	LateInterval = 500 * time.Millisecond
)

// observe judges whether the class is late. Something waits in it.
func (q *Queue[T]) observe(now int64, cq *classQueue) {
	oldest := q.nodes.at(cq.head)
	if oldest.date == none {
		cq.late = lateness{}
		return
	}
	cq.late.observe(now, now-oldest.pushed)
}

// leftovers reports whether something waits, and all of it in classes that run their newest
// first since they are late, of which even the newest has been passed over for long.
func (q *Queue[T]) leftovers(now int64) bool {
	if q.total == 0 || q.order != FreshestInDelay {
		return false
	}
	for c := range q.classes {
		cq := &q.classes[c]
		if cq.len > 0 && (!q.newestFirst(cq) || now-q.nodes.at(cq.tail).pushed <= int64(LateTarget)) {
			return false
		}
	}
	return true
}

// lateness is CoDel's test of one class, as a state machine: it is shown, whenever
// a job is taken, how long the oldest one has waited. That is also the test's
// minimum: of all that wait and of all that are taken, in whatever order, at no moment
// since late would have been less.
type lateness struct {
	late  bool
	above bool  // the oldest has been above the target since the test began
	until int64 // when, if it stays there, the class is late
}

// observe takes the time, and how long the oldest job of the class has waited.
func (l *lateness) observe(now, oldest int64) {
	switch {
	case oldest <= int64(LateTarget):
		*l = lateness{}
	case !l.above:
		l.above, l.until = true, now+int64(LateInterval)
	case now >= l.until:
		l.late = true
	}
}
