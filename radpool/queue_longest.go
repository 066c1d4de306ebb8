package radpool

import (
	"cmp"
	"slices"
	"time"
)

// The flows of a class of which something waits are a heap, the longest first, so
// that a full queue knows who is to give way. Lengths change by one at a time, so
// that it is seldom anything moves.

// longestFlow is the longest flow of a class that is not empty.
func (q *Queue[T]) longestFlow(cq *classQueue) uint32 { return cq.longest[0] }

func (t *flowTable) siftUp(heap []uint32, i uint32) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.flows[heap[parent]].len >= t.flows[heap[i]].len {
			return
		}
		t.swap(heap, i, parent)
		i = parent
	}
}

func (t *flowTable) siftDown(heap []uint32, i uint32) {
	for {
		child := 2*i + 1
		if child >= uint32(len(heap)) {
			return
		}
		if other := child + 1; other < uint32(len(heap)) && t.flows[heap[other]].len > t.flows[heap[child]].len {
			child = other
		}
		if t.flows[heap[i]].len >= t.flows[heap[child]].len {
			return
		}
		t.swap(heap, i, child)
		i = child
	}
}

func (t *flowTable) swap(heap []uint32, i, j uint32) {
	heap[i], heap[j] = heap[j], heap[i]
	t.flows[heap[i]].place, t.flows[heap[j]].place = i, j
}

// FlowStats is what waits of one flow in one class.
type FlowStats struct {
	Flow   uint64 // as given to Push
	Class  Class
	Queued int
	Oldest time.Duration // how long the first of them has waited
}

// Longest returns the n flows of which most waits, the longest first; fewer if
// fewer wait. It looks at all of them: it is for people, who ask seldom.
func (q *Queue[T]) Longest(now time.Time, n int) []FlowStats {
	var all []FlowStats
	q.eachLongest(now, n, func(s FlowStats, _ T) { all = append(all, s) })
	return all
}

// eachLongest calls visit for each with one of its jobs, the oldest.
func (q *Queue[T]) eachLongest(now time.Time, n int, visit func(FlowStats, T)) {
	var all []uint32
	for c := range q.classes {
		all = append(all, q.classes[c].longest...)
	}
	slices.SortFunc(all, func(a, b uint32) int { return cmp.Compare(q.flows.at(b).len, q.flows.at(a).len) })
	for _, id := range all[:max(0, min(n, len(all)))] {
		f := q.flows.at(id)
		first := q.nodes.at(f.head)
		visit(FlowStats{f.key, f.class, int(f.len), time.Duration(q.since(now) - first.pushed)}, first.value)
	}
}
