package radpool

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// The flows of a class of which something waits are a heap, the longest first, so
// that a full queue knows who is to give way. Lengths change by one at a time, so
// that it is seldom anything moves.

// longestFlow is the longest flow of a class that is not empty.
func (q *Queue[T]) longestFlow(cq *classQueue) uint32 { return cq.longest[0] }

func (t *flowTable) siftUp(longest []uint32, i uint32) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.flows[longest[parent]].len >= t.flows[longest[i]].len {
			return
		}
		t.swap(longest, i, parent)
		i = parent
	}
}

func (t *flowTable) siftDown(longest []uint32, i uint32) {
	for {
		child := 2*i + 1
		if child >= uint32(len(longest)) {
			return
		}
		if other := child + 1; other < uint32(len(longest)) && t.flows[longest[other]].len > t.flows[longest[child]].len {
			child = other
		}
		if t.flows[longest[i]].len >= t.flows[longest[child]].len {
			return
		}
		t.swap(longest, i, child)
		i = child
	}
}

func (t *flowTable) swap(longest []uint32, i, j uint32) {
	longest[i], longest[j] = longest[j], longest[i]
	t.flows[longest[i]].place, t.flows[longest[j]].place = i, j
}

// FlowStats is what waits of one flow.
type FlowStats struct {
	Flow   uint64          // as given to Push
	Queued [NumClasses]int // by class
	Total  int
	Oldest time.Duration // how long the first of them has waited
}

// Longest returns flows of which much waits: the n of which most waits in one class, those
// first of which most waits in all. It costs about a microsecond a flow.
func (q *Queue[T]) Longest(now time.Time, n int) []FlowStats {
	var all []FlowStats
	q.eachLongest(now, n, func(s FlowStats, _ T) { all = append(all, s) })
	slices.SortStableFunc(all, func(a, b FlowStats) int { return cmp.Compare(b.Total, a.Total) })
	return all
}

// eachLongest calls visit for each of the n flows of which most waits in one class,
// in no order, with one of its jobs.
func (q *Queue[T]) eachLongest(now time.Time, n int, visit func(FlowStats, T)) {
	at := q.since(now)
	open := frontier{flows: q.flows.flows}
	for c := range q.classes {
		open.add(q.classes[c].longest, 0)
	}
	seen := make(map[uint64]bool)
	for len(seen) < n && len(open.places) > 0 {
		f := q.flows.at(open.next())
		if seen[f.key] {
			continue
		}
		seen[f.key] = true
		s := FlowStats{Flow: f.key}
		for c := range q.classes {
			id := q.flows.exact(Class(c), f.key)
			if id == none || q.flows.at(id).len == 0 {
				continue
			}
			same := q.flows.at(id)
			s.Queued[c] = int(same.len)
			s.Total += int(same.len)
			s.Oldest = max(s.Oldest, time.Duration(at-q.nodes.at(same.head).pushed))
		}
		visit(s, q.nodes.at(f.head).value)
	}
}

// frontier walks heaps of flows from the longest down: it is the places whose parents it
// has been at, as a heap in the sense of package heap.
type frontier struct {
	flows  []flow
	places []heapPlace
}

type heapPlace struct {
	heap []uint32
	i    int
}

func (f *frontier) add(h []uint32, i int) {
	if i < len(h) {
		heap.Push(f, heapPlace{h, i})
	}
}

// next returns the longest flow that is open, and opens those below it.
func (f *frontier) next() uint32 {
	p := heap.Pop(f).(heapPlace)
	f.add(p.heap, 2*p.i+1)
	f.add(p.heap, 2*p.i+2)
	return p.heap[p.i]
}

func (f *frontier) length(i int) uint32 { return f.flows[f.places[i].heap[f.places[i].i]].len }

func (f *frontier) Len() int           { return len(f.places) }
func (f *frontier) Less(i, j int) bool { return f.length(i) > f.length(j) }
func (f *frontier) Swap(i, j int)      { f.places[i], f.places[j] = f.places[j], f.places[i] }
func (f *frontier) Push(x any)         { f.places = append(f.places, x.(heapPlace)) }

func (f *frontier) Pop() any {
	last := len(f.places) - 1
	x := f.places[last]
	f.places = f.places[:last]
	return x
}
