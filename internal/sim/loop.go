package sim

import (
	"container/heap"
	"time"
)

// epoch is when every simulation begins, for what wants an instant.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// loop is virtual time: things that happen, in their order. Those of one
// instant happen in the order in which they were asked for, so that a
// simulation has one course.
type loop struct {
	now    time.Duration // since the epoch
	seq    uint64
	events events
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

// at has do happen at the given time, which is not before now.
func (l *loop) at(t time.Duration, do func()) {
	l.seq++
	heap.Push(&l.events, event{at: max(t, l.now), seq: l.seq, do: do})
}

// after has do happen in d.
func (l *loop) after(d time.Duration, do func()) { l.at(l.now+d, do) }

// run lets happen what there is until the given time, and then it is that time.
func (l *loop) run(until time.Duration) {
	for len(l.events) > 0 && l.events[0].at <= until {
		e := heap.Pop(&l.events).(event)
		l.now = e.at
		e.do()
	}
	l.now = until
}

// time is now as an instant.
func (l *loop) time() time.Time { return epoch.Add(l.now) }

// events is a heap, the next one first.
type events []event

func (h events) Len() int { return len(h) }

func (h events) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}

func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *events) Push(x any) { *h = append(*h, x.(event)) }

func (h *events) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = event{}
	*h = (*h)[:last]
	return e
}
