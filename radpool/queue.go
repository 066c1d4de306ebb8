package radpool

import (
	"fmt"
	"math"
	"time"
)

// MaxQueueLen is the largest bound that a [Queue] can be given, in entries:
// sixteen times the max_queue_size at which FreeRADIUS ends.
const MaxQueueLen = 1 << 24

// Queue is a bounded queue of jobs with strict priority between classes and
// first-in, first-out order within one. It is a pure data structure: time is
// an argument, and there is no lock, so a Queue must not be used by two
// goroutines at once ([Pool] locks its own).
//
// What a full queue does, in this order:
//
//  1. Something in it has expired: that which expired first goes, whatever its
//     class, since dropping it costs nobody anything.
//  2. Something in it is less urgent than the newcomer: the newest of the
//     lowest class goes, since it has waited least.
//  3. Otherwise the newcomer is refused.
//
// A job expires at the instant given to Push: at that time and after, nobody
// waits for its answer.
//
// Memory follows use: entries live in segments that are allocated as they are
// needed and given back as they empty (one of each kind is kept, so that a
// queue at rest does not allocate). A pointer in the queue costs about 54 octets. All
// the times given must come from one clock.
//
// The zero value is not usable; call [NewQueue].
type Queue[T any] struct {
	max   int
	lists [NumClasses]list
	nodes slab[T]
	dates deadlines
	// base is the first instant seen. Instants are kept as nanoseconds from
	// it: a third of a time.Time, and still measured by the monotonic clock.
	base time.Time
	seq  uint32
}

// list is the first-in, first-out order of one class, linked through the nodes.
type list struct {
	head, tail uint32
	len        int
}

// never is the deadline of what does not expire.
const never = math.MaxInt64

// NewQueue returns an empty queue that holds at most size entries, from 1 to
// [MaxQueueLen]. It allocates nothing for entries yet.
func NewQueue[T any](size int) (*Queue[T], error) {
	if size < 1 || size > MaxQueueLen {
		return nil, fmt.Errorf("radpool: queue of %d entries: must be from 1 to %d", size, MaxQueueLen)
	}
	q := &Queue[T]{max: size, nodes: newSlab[T]()}
	for i := range q.lists {
		q.lists[i] = list{head: none, tail: none}
	}
	return q, nil
}

// Push adds v, which expires at the given instant (the zero time: never).
//
// ok reports whether v was admitted. out.Why tells what was dropped, if
// anything: with ok, out is the entry that made room (evicted or expired), or
// nothing (DropNone); without ok, out is v itself, refused or expired before
// it came. A class of NumClasses or more panics.
func (q *Queue[T]) Push(now time.Time, class Class, expires time.Time, v T) (out Item[T], ok bool) {
	if class >= NumClasses {
		panic(fmt.Sprintf("radpool: Queue.Push: class %d: there are %d", class, NumClasses))
	}
	if q.base.IsZero() {
		q.base = now
	}
	at, deadline := q.since(now), int64(never)
	if !expires.IsZero() {
		deadline = q.since(expires)
	}
	if deadline <= at {
		return Item[T]{Value: v, Class: class, Why: DropExpired}, false
	}
	if q.Len() == q.max {
		victim, why := q.victim(at, class)
		if why == DropRefused {
			return Item[T]{Value: v, Class: class, Why: DropRefused}, false
		}
		out = q.remove(victim, at)
		out.Why = why
	}

	id := q.nodes.alloc()
	n := q.nodes.at(id)
	n.value, n.class, n.pushed, n.date = v, class, at, none
	q.link(id, n)
	if deadline != never {
		q.seq++
		q.addDate(deadlineAt{at: deadline, seq: q.seq, node: id})
	}
	return out, true
}

// victim chooses what leaves a full queue so that a newcomer of the class can
// come in, or answers DropRefused.
func (q *Queue[T]) victim(now int64, class Class) (uint32, Drop) {
	if q.dates.n > 0 {
		if first := q.dates.at(0); first.at <= now {
			return first.node, DropExpired
		}
	}
	for c := Class(NumClasses - 1); c > class; c-- {
		if q.lists[c].len > 0 {
			return q.lists[c].tail, DropEvicted
		}
	}
	return none, DropRefused
}

// Pop takes out the oldest entry of the most urgent class. One that has expired comes
// out too, with Why DropExpired: it is to be counted and not run. ok is false
// if the queue is empty.
func (q *Queue[T]) Pop(now time.Time) (out Item[T], ok bool) {
	c, ok := q.Next()
	if !ok {
		return out, false
	}
	return q.remove(q.lists[c].head, q.since(now)), true
}

// Next is the class of what Pop would take out. ok is false if the queue is
// empty.
func (q *Queue[T]) Next() (class Class, ok bool) {
	for c := range q.lists {
		if q.lists[c].len > 0 {
			return Class(c), true
		}
	}
	return 0, false
}

// Expire takes out the entry that expired first, with Why DropExpired. ok is
// false if none has expired. It costs next to nothing when there is none.
func (q *Queue[T]) Expire(now time.Time) (out Item[T], ok bool) {
	if q.dates.n == 0 {
		return out, false
	}
	at := q.since(now)
	first := q.dates.at(0)
	if first.at > at {
		return out, false
	}
	return q.remove(first.node, at), true
}

// Len returns the number of entries.
func (q *Queue[T]) Len() int {
	n := 0
	for c := range q.lists {
		n += q.lists[c].len
	}
	return n
}

// LenClass returns the number of entries of one class.
func (q *Queue[T]) LenClass(c Class) int { return q.lists[c].len }

// Max returns the bound given to [NewQueue].
func (q *Queue[T]) Max() int { return q.max }

// Oldest returns how long the oldest entry of the class has waited, and zero
// if the class is empty.
func (q *Queue[T]) Oldest(now time.Time, c Class) time.Duration {
	if q.lists[c].len == 0 {
		return 0
	}
	return time.Duration(q.since(now) - q.nodes.at(q.lists[c].head).pushed)
}

// since returns the instant in nanoseconds from the queue's first one.
func (q *Queue[T]) since(t time.Time) int64 { return int64(t.Sub(q.base)) }

// link appends the node to the list of its class.
func (q *Queue[T]) link(id uint32, n *node[T]) {
	l := &q.lists[n.class]
	n.prev, n.next = l.tail, none
	if l.tail == none {
		l.head = id
	} else {
		q.nodes.at(l.tail).next = id
	}
	l.tail = id
	l.len++
}

// remove takes the node out of its list, its deadline and the slab.
func (q *Queue[T]) remove(id uint32, now int64) Item[T] {
	n := q.nodes.at(id)
	out := Item[T]{Value: n.value, Class: n.class, Waited: time.Duration(now - n.pushed)}
	if n.date != none {
		if q.dates.at(n.date).at <= now {
			out.Why = DropExpired
		}
		q.removeDate(n.date)
	}
	l := &q.lists[n.class]
	if n.prev == none {
		l.head = n.next
	} else {
		q.nodes.at(n.prev).next = n.next
	}
	if n.next == none {
		l.tail = n.prev
	} else {
		q.nodes.at(n.next).prev = n.prev
	}
	l.len--
	q.nodes.release(id)
	return out
}
