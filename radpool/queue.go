package radpool

import (
	"fmt"
	"math"
	"time"
)

// MaxQueueLen is the largest bound that a [Queue] can be given, in entries:
// sixteen times the max_queue_size at which FreeRADIUS ends.
const MaxQueueLen = 1 << 24

// QueueConfig configures a [Queue]. Zero fields mean the defaults.
type QueueConfig[T any] struct {
	// MaxQueueSize is the most entries, from 1 to [MaxQueueLen]. Zero: 65,536, as
	// FreeRADIUS has it (max_queue_size).
	MaxQueueSize int

	// Order is which job of a flow comes first. Zero: [FreshestInDelay].
	Order Order

	// Renew is asked about a job whose time has come, before it is dropped as
	// expired: it returns until when the job is wanted after all, or a time that
	// is not after now, such as the zero time, if it is not. So what proves that
	// somebody still waits (a retransmission) need not be told to the queue when it
	// happens. It must not call the queue. nil: what has expired has expired.
	Renew func(v T) time.Time
}

// Queue is a bounded queue of jobs that knows which of them to run next when there
// are more than can be run, and which of them nobody wants any more. It is
// a pure data structure: time is an argument, and there is no lock, so a Queue
// must not be used by two goroutines at once ([Pool] locks its own).
//
// # What comes next
//
// The most urgent class that has anything ([Class]), but for some of the turns, about
// two in a hundred, that less urgent ones get which have waited for long ([AgeingTurns]).
// Within a class, each flow in turn: who has asked for much waits behind his own
// jobs and not before those of others. A flow that comes anew goes before those
// that have had a turn. Within a flow the oldest, or while the class is
// lastingly late the newest ([Order]).
//
// # What a full queue does
//
// In this order:
//
//  1. Something in it has expired: that which expired first goes, whatever its
//     class, since dropping it costs nobody anything.
//  2. Something in it is less urgent than the newcomer: one of the lowest class goes.
//  3. A flow of the newcomer's class has more than the newcomer's flow will have:
//     one of that flow goes.
//  4. The class runs its newest first: the oldest of the newcomer's own flow goes, or
//     if it has none that of the class.
//  5. Otherwise the newcomer is refused.
//
// In the second and third case it is the longest flow that loses one: the one
// that would run last, which is its newest, or its oldest where the newest runs first.
//
// # Deadlines and memory
//
// A job expires at the instant given to Push: at that time and after, nobody
// waits for its answer. All the times given must come from one clock.
//
// Memory follows use: entries live in segments that are allocated as they are
// needed and given back as they empty (one of each kind is kept, so that a
// queue at rest does not allocate). A pointer in the queue costs about 57 octets, and
// a flow that waits 50. At most [MaxFlows] flows are told apart: those that come when so many wait share.
//
// The zero value is not usable; call [NewQueue].
type Queue[T any] struct {
	max     int
	order   Order
	renew   func(v T) time.Time
	total   int
	classes [NumClasses]classQueue
	nodes   slab[T]
	flows   flowTable
	dates   deadlines
	// base is the first instant seen. Instants are kept as nanoseconds from
	// it: a third of a time.Time, and still measured by the monotonic clock.
	base time.Time
	seq  uint32
}

// classQueue is what waits of one class.
type classQueue struct {
	head, tail uint32 // by arrival, linked through the nodes
	len        int
	passed     int // turns that others had since this class had one, or since it was empty
	late       lateness
	flowLists
}

// never is the deadline of what does not expire.
const never = math.MaxInt64

// NewQueue returns an empty queue, or an error that names the field that is wrong.
// It allocates nothing for entries yet.
func NewQueue[T any](cfg QueueConfig[T]) (*Queue[T], error) {
	if cfg.MaxQueueSize == 0 {
		cfg.MaxQueueSize = defaultPoolQueue
	}
	if cfg.MaxQueueSize < 1 || cfg.MaxQueueSize > MaxQueueLen {
		return nil, fmt.Errorf("radpool: QueueConfig.MaxQueueSize is %d: must be from 1 to %d", cfg.MaxQueueSize, MaxQueueLen)
	}
	if !cfg.Order.valid() {
		return nil, fmt.Errorf("radpool: QueueConfig.Order is %v: there is no such order", cfg.Order)
	}
	q := &Queue[T]{max: cfg.MaxQueueSize, order: cfg.Order, renew: cfg.Renew, nodes: newSlab[T](), flows: newFlowTable()}
	for i := range q.classes {
		q.classes[i] = classQueue{head: none, tail: none, flowLists: newFlowLists()}
	}
	return q, nil
}

// Push adds v, which expires at the given instant (the zero time: never). flow says
// whose it is, among those of its class: any number, such as a hash of a client's
// address.
//
// ok reports whether v was admitted. out.Why tells what was dropped, if
// anything: with ok, out is the entry that made room (evicted or expired), or
// nothing (DropNone); without ok, out is v itself, refused or expired before
// it came. A class of NumClasses or more panics.
func (q *Queue[T]) Push(now time.Time, class Class, flow uint64, expires time.Time, v T) (out Item[T], ok bool) {
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
	if q.total == q.max {
		victim, why := q.victim(at, class, flow)
		if why == DropRefused {
			return Item[T]{Value: v, Class: class, Why: DropRefused}, false
		}
		out = q.remove(victim, at)
		out.Why = why
	}

	id := q.nodes.alloc()
	n := q.nodes.at(id)
	n.value, n.pushed, n.date = v, at, none
	q.link(id, n, class, flow)
	if deadline != never {
		q.seq++
		q.addDate(deadlineAt{at: deadline, seq: q.seq, node: id})
	}
	return out, true
}

// Pop takes out what comes next. One that has expired comes out too, with Why
// DropExpired: it is to be counted and not run. ok is false if the queue is empty.
func (q *Queue[T]) Pop(now time.Time) (out Item[T], ok bool) {
	c, ok := q.turn()
	if !ok {
		return out, false
	}
	return q.popFrom(c, q.since(now)), true
}

// popFrom takes out what comes next of a class that has anything.
func (q *Queue[T]) popFrom(c Class, now int64) Item[T] {
	cq := &q.classes[c]
	q.observe(now, cq)
	f := q.flows.at(q.nextFlow(cq))
	id := f.head
	if q.newestFirst(cq) {
		id = f.tail
	}
	why := DropNone
	if n := q.nodes.at(id); n.date != none && q.dates.at(n.date).at <= now && q.wanted(n.value) <= now {
		why = DropExpired
	}
	out := q.remove(id, now)
	out.Why = why
	return out
}

// newestFirst reports in which order the class runs now.
func (q *Queue[T]) newestFirst(cq *classQueue) bool {
	return q.order == NewestFirst || q.order == FreshestInDelay && cq.late.late
}

// wanted asks until when a job is wanted whose time has come.
func (q *Queue[T]) wanted(v T) int64 {
	if q.renew == nil {
		return math.MinInt64
	}
	return q.since(q.renew(v))
}

// Expire takes out the entry that expired first, with Why DropExpired. ok is
// false if none has expired. It costs next to nothing when there is none.
//
// One call renews at most a few dozen jobs: when it returns false there may be
// more whose time has come, and they are dropped by a later call or by Pop.
func (q *Queue[T]) Expire(now time.Time) (out Item[T], ok bool) {
	budget := renewBatch
	return q.expire(q.since(now), &budget)
}

// renewBatch bounds how many jobs are renewed in one go.
const renewBatch = 64

func (q *Queue[T]) expire(now int64, budget *int) (out Item[T], ok bool) {
	id := q.firstExpired(now, budget)
	if id == none {
		return out, false
	}
	out = q.remove(id, now)
	out.Why = DropExpired
	return out, true
}

// firstExpired renews what is still wanted and returns the first that is not, or none.
func (q *Queue[T]) firstExpired(now int64, budget *int) uint32 {
	for q.dates.n > 0 {
		first := *q.dates.at(0)
		if first.at > now {
			break
		}
		until := q.wanted(q.nodes.at(first.node).value)
		if until <= now {
			return first.node
		}
		if *budget == 0 {
			break
		}
		*budget--
		first.at = until
		q.siftDown(0, first)
	}
	return none
}

// Len returns the number of entries.
func (q *Queue[T]) Len() int { return q.total }

// LenClass returns the number of entries of one class.
func (q *Queue[T]) LenClass(c Class) int { return q.classes[c].len }

// Max returns the bound given to [NewQueue].
func (q *Queue[T]) Max() int { return q.max }

// Oldest returns how long the oldest entry of the class has waited, and zero
// if the class is empty.
func (q *Queue[T]) Oldest(now time.Time, c Class) time.Duration {
	if q.classes[c].len == 0 {
		return 0
	}
	return time.Duration(q.since(now) - q.nodes.at(q.classes[c].head).pushed)
}

// NewestFirst reports whether the newest jobs of the class run first now. See
// [Order].
func (q *Queue[T]) NewestFirst(c Class) bool { return q.newestFirst(&q.classes[c]) }

// since returns the instant in nanoseconds from the queue's first one.
func (q *Queue[T]) since(t time.Time) int64 { return int64(t.Sub(q.base)) }

// link appends the node to the lists of its class and of its flow.
func (q *Queue[T]) link(id uint32, n *node[T], class Class, key uint64) {
	cq := &q.classes[class]
	n.prev, n.next = cq.tail, none
	if cq.tail == none {
		cq.head = id
		cq.passed = 0
	} else {
		q.nodes.at(cq.tail).next = id
	}
	cq.tail = id
	cq.len++
	q.total++

	fid := q.flowFor(cq, class, key)
	f := q.flows.at(fid)
	n.flow, n.earlier, n.later = fid, f.tail, none
	if f.tail == none {
		f.head = id
	} else {
		q.nodes.at(f.tail).later = id
	}
	f.tail = id
	q.grew(cq, fid, f)
}

// remove takes the node out of its lists, its deadline and the slab.
func (q *Queue[T]) remove(id uint32, now int64) Item[T] {
	n := q.nodes.at(id)
	f := q.flows.at(n.flow)
	out := Item[T]{Value: n.value, Class: f.class, Waited: time.Duration(now - n.pushed)}
	if n.date != none {
		q.removeDate(n.date)
	}
	if n.earlier == none {
		f.head = n.later
	} else {
		q.nodes.at(n.earlier).later = n.later
	}
	if n.later == none {
		f.tail = n.earlier
	} else {
		q.nodes.at(n.later).earlier = n.earlier
	}
	cq := &q.classes[f.class]
	if n.prev == none {
		cq.head = n.next
	} else {
		q.nodes.at(n.prev).next = n.next
	}
	if n.next == none {
		cq.tail = n.prev
	} else {
		q.nodes.at(n.next).prev = n.prev
	}
	cq.len--
	q.total--
	if cq.len == 0 {
		cq.late = lateness{} // there is a moment without a job that waits
	}
	q.shrank(cq, f)
	q.nodes.release(id)
	return out
}
