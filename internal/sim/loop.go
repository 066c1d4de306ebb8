package sim

import "time"

// epoch is when every simulation begins, for what wants an instant.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// loop is virtual time: things that happen, in their order. Those of one
// instant happen in the order in which they were asked for, so that a
// simulation has one course.
type loop struct {
	now    time.Duration // since the epoch
	seq    uint64
	events []event // a heap, the next one first
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// at has do happen at the given time, which is not before now.
func (l *loop) at(t time.Duration, do func()) {
	l.seq++
	e := event{at: max(t, l.now), seq: l.seq, do: do}
	l.events = append(l.events, e)
	i := len(l.events) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&l.events[parent]) {
			break
		}
		l.events[i] = l.events[parent]
		i = parent
	}
	l.events[i] = e
}

// next takes out the first event.
func (l *loop) next() event {
	first := l.events[0]
	last := len(l.events) - 1
	e := l.events[last]
	l.events[last] = event{}
	l.events = l.events[:last]
	for i := 0; last > 0; {
		child := 2*i + 1
		if child+1 < last && l.events[child+1].before(&l.events[child]) {
			child++
		}
		if child >= last || !l.events[child].before(&e) {
			l.events[i] = e
			break
		}
		l.events[i] = l.events[child]
		i = child
	}
	return first
}

// after has do happen in d.
func (l *loop) after(d time.Duration, do func()) { l.at(l.now+d, do) }

// run lets happen what there is until the given time, and then it is that time.
func (l *loop) run(until time.Duration) {
	for len(l.events) > 0 && l.events[0].at <= until {
		e := l.next()
		l.now = e.at
		e.do()
	}
	l.now = until
}

// time is now as an instant.
func (l *loop) time() time.Time { return epoch.Add(l.now) }
