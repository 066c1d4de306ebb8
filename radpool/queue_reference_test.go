package radpool_test

import (
	"slices"
	"time"

	"github.com/radpool/radpool/radpool"
)

// naiveEntry and naiveQueue say in the plainest way what a Queue does: slices in
// order, looked through from end to end each time.
type naiveEntry struct {
	value   int
	class   radpool.Class
	flow    uint64
	pushed  time.Time
	expires time.Time
}

type naiveFlow struct {
	class radpool.Class
	flow  uint64
}

type naiveQueue struct {
	max     int
	order   radpool.Order
	entries []naiveEntry // by arrival
	renewed map[int]time.Time

	fresh, turns []naiveFlow
	passed       [radpool.NumClasses]int
	above        [radpool.NumClasses]time.Time // since when the oldest is too old
	late         [radpool.NumClasses]bool
}

func (e naiveEntry) expired(now time.Time) bool {
	return !e.expires.IsZero() && !e.expires.After(now)
}

func (e naiveEntry) item(now time.Time, why radpool.Drop) radpool.Item[int] {
	return radpool.Item[int]{Value: e.value, Class: e.class, Waited: now.Sub(e.pushed), Why: why}
}

func (q *naiveQueue) remove(i int) naiveEntry {
	e := q.entries[i]
	q.entries = slices.Delete(q.entries, i, i+1)
	if n, _ := q.oldest(e.pushed, e.class); n == 0 {
		q.passed[e.class] = 0
		q.above[e.class], q.late[e.class] = time.Time{}, false
		var flows int
		for _, f := range slices.Concat(q.fresh, q.turns) {
			if f.class == e.class {
				flows++
			}
		}
		if flows > 16 {
			other := func(f naiveFlow) bool { return f.class == e.class }
			q.fresh, q.turns = slices.DeleteFunc(q.fresh, other), slices.DeleteFunc(q.turns, other)
		}
	}
	return e
}

// firstExpired returns the index of what expired first and is not wanted after
// all, or -1.
func (q *naiveQueue) firstExpired(now time.Time) int {
	for budget := 64; ; budget-- {
		first := -1
		for i, e := range q.entries {
			if e.expired(now) && (first < 0 || e.expires.Before(q.entries[first].expires)) {
				first = i
			}
		}
		if first < 0 || !q.renewed[q.entries[first].value].After(now) {
			return first
		}
		if budget == 0 {
			return -1
		}
		q.entries[first].expires = q.renewed[q.entries[first].value]
	}
}

func (q *naiveQueue) newestFirst(c radpool.Class) bool {
	return q.order == radpool.NewestFirst || q.order == radpool.FreshestInDelay && q.late[c]
}

// length is how many of the flow wait.
func (q *naiveQueue) length(f naiveFlow) (n int) {
	for _, e := range q.entries {
		if (naiveFlow{e.class, e.flow}) == f {
			n++
		}
	}
	return n
}

// lasts returns the entries that may give way where one of the longest flow of the
// class is to: the last to run of each flow that is as long.
func (q *naiveQueue) lasts(c radpool.Class) (entries []int, length int) {
	last := make(map[naiveFlow]int)
	for i, e := range q.entries {
		f := naiveFlow{e.class, e.flow}
		if e.class != c {
			continue
		}
		if _, seen := last[f]; !seen || !q.newestFirst(c) {
			last[f] = i
		}
		length = max(length, q.length(f))
	}
	for f, i := range last {
		if q.length(f) == length {
			entries = append(entries, i)
		}
	}
	return entries, length
}

// victims returns those of which one is to give way, or none.
func (q *naiveQueue) victims(e naiveEntry) []int {
	for c := radpool.Class(radpool.NumClasses - 1); c > e.class; c-- {
		if v, _ := q.lasts(c); len(v) > 0 {
			return v
		}
	}
	own := q.length(naiveFlow{e.class, e.flow})
	if v, length := q.lasts(e.class); length > own+1 {
		return v
	}
	if !q.newestFirst(e.class) {
		return nil
	}
	for i, old := range q.entries {
		if old.class == e.class && (own == 0 || old.flow == e.flow) {
			return []int{i}
		}
	}
	return nil
}

// push takes what the Queue answered, to choose the same among equals.
func (q *naiveQueue) push(now time.Time, e naiveEntry, actual radpool.Item[int]) (radpool.Item[int], bool) {
	if e.expired(now) {
		return e.item(now, radpool.DropExpired), false
	}
	var out radpool.Item[int]
	if len(q.entries) == q.max {
		if i := q.firstExpired(now); i >= 0 {
			out = q.remove(i).item(now, radpool.DropExpired)
		} else {
			victims := q.victims(e)
			if len(victims) == 0 {
				return e.item(now, radpool.DropRefused), false
			}
			v := victims[0]
			for _, i := range victims {
				if q.entries[i].value == actual.Value {
					v = i
				}
			}
			out = q.remove(v).item(now, radpool.DropEvicted)
		}
	}
	q.entries = append(q.entries, e)
	if f := (naiveFlow{e.class, e.flow}); !slices.Contains(q.fresh, f) && !slices.Contains(q.turns, f) {
		q.fresh = append(q.fresh, f)
	}
	return out, true
}

// turn is the class that comes next.
func (q *naiveQueue) turn() (radpool.Class, bool) {
	if len(q.entries) == 0 {
		return 0, false
	}
	waits := func(c radpool.Class) bool {
		return slices.ContainsFunc(q.entries, func(e naiveEntry) bool { return e.class == c })
	}
	first := radpool.Class(0)
	for !waits(first) {
		first++
	}
	chosen, overdue := first, -1
	for c, share := first+1, radpool.AgeingTurns; c < radpool.NumClasses; c++ {
		if !waits(c) {
			continue
		}
		if n := q.passed[c] + 1 - share; n > overdue {
			chosen, overdue = c, n
		}
		share *= 4
	}
	for c := range radpool.Class(radpool.NumClasses) {
		if waits(c) {
			q.passed[c]++
		}
	}
	q.passed[chosen] = 0
	return chosen, true
}

func (q *naiveQueue) observe(now time.Time, c radpool.Class) {
	_, oldest := q.oldest(now, c)
	for _, e := range q.entries {
		if e.class == c {
			if e.expires.IsZero() {
				oldest = 0
			}
			break
		}
	}
	switch {
	case oldest <= radpool.LateTarget:
		q.above[c], q.late[c] = time.Time{}, false
	case q.above[c].IsZero():
		q.above[c] = now
	case now.Sub(q.above[c]) >= radpool.LateInterval:
		q.late[c] = true
	}
}

// nextFlow gives a flow of the class its turn.
func (q *naiveQueue) nextFlow(c radpool.Class) uint64 {
	for {
		from := &q.fresh
		is := func(f naiveFlow) bool { return f.class == c }
		i := slices.IndexFunc(q.fresh, is)
		if i < 0 {
			from = &q.turns
			i = slices.IndexFunc(q.turns, is)
		} else if q.newestFirst(c) {
			for j, f := range q.fresh {
				if is(f) {
					i = j
				}
			}
		}
		f := (*from)[i]
		*from = slices.Delete(*from, i, i+1)
		if q.length(f) > 0 {
			q.turns = append(q.turns, f)
			return f.flow
		}
	}
}

func (q *naiveQueue) pop(now time.Time) (radpool.Item[int], bool) {
	c, ok := q.turn()
	if !ok {
		return radpool.Item[int]{}, false
	}
	q.observe(now, c)
	flow := q.nextFlow(c)
	next := -1
	for i, e := range q.entries {
		if e.class == c && e.flow == flow && (next < 0 || q.newestFirst(c)) {
			next = i
		}
	}
	e := q.remove(next)
	why := radpool.DropNone
	if e.expired(now) && !q.renewed[e.value].After(now) {
		why = radpool.DropExpired
	}
	return e.item(now, why), true
}

func (q *naiveQueue) expire(now time.Time) (radpool.Item[int], bool) {
	if i := q.firstExpired(now); i >= 0 {
		return q.remove(i).item(now, radpool.DropExpired), true
	}
	return radpool.Item[int]{}, false
}

func (q *naiveQueue) oldest(now time.Time, c radpool.Class) (n int, age time.Duration) {
	for _, e := range q.entries {
		if e.class != c {
			continue
		}
		if n == 0 {
			age = now.Sub(e.pushed)
		}
		n++
	}
	return n, age
}
