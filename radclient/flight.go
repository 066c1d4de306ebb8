package radclient

import (
	"container/heap"
	"time"

	"layeh.com/radius"
)

// flight is one request on its way. The first half is the core's, the second its driver's.
type flight struct {
	server  int
	pinned  bool // it goes to its server alone, whatever is thought of that
	probe   bool // a Status-Server of our own
	id      ident
	holds   bool // id is its own
	here    int  // copies sent under this id
	plan    schedule
	sentAt  time.Duration // the last copy
	due     time.Duration
	index   int // in the heap of timers; -1: not in it
	waiting bool
	before  *flight // in the list of those that wait for an Identifier
	after   *flight

	generation uint64 // grows with each use, by which a reader knows that it found another one
	request    radius.Packet
	attributes radius.Attributes // request's, reused
	hidden     radius.AVP        // User-Password under the server's secret
	challenge  radius.AVP        // CHAP-Challenge, where the Request Authenticator was it
	password   []byte            // cleartext
	hides      bool              // hidden is among the attributes
	encoded    bool              // datagram is for id
	ended      bool              // reply or err is set
	datagram   []byte
	discarded  [numDiscards]uint64 // replies that were not believed
	reply      *Reply
	err        error
	done       chan struct{} // has room for one; written when reply or err is set
}

// timers is the heap of the flights that wait, by their due time. It implements heap.Interface.
type timers []*flight

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].due < t[j].due }

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

// Push is for package heap.
func (t *timers) Push(x any) {
	f := x.(*flight)
	f.index = len(*t)
	*t = append(*t, f)
}

// Pop is for package heap.
func (t *timers) Pop() any {
	last := len(*t) - 1
	f := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	f.index = -1
	return f
}

// at puts f into the heap, or moves it there.
func (t *timers) at(f *flight, due time.Duration) {
	f.due = due
	if f.index < 0 {
		heap.Push(t, f)
		return
	}
	heap.Fix(t, f.index)
}

func (t *timers) remove(f *flight) {
	if f.index >= 0 {
		heap.Remove(t, f.index)
	}
}

func (t timers) next() time.Duration {
	if len(t) == 0 {
		return never
	}
	return t[0].due
}

// line is a list of flights, oldest first.
type line struct{ first, last *flight }

func (l *line) push(f *flight) {
	f.waiting, f.before, f.after = true, l.last, nil
	if l.last == nil {
		l.first = f
	} else {
		l.last.after = f
	}
	l.last = f
}

func (l *line) remove(f *flight) {
	if f.before == nil {
		l.first = f.after
	} else {
		f.before.after = f.after
	}
	if f.after == nil {
		l.last = f.before
	} else {
		f.after.before = f.before
	}
	f.waiting, f.before, f.after = false, nil, nil
}
