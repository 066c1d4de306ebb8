package radpool

// victim chooses what leaves a full queue so that a newcomer can come in, or
// answers DropRefused. The rules stand at [Queue].
func (q *Queue[T]) victim(now int64, class Class, key uint64) (uint32, Drop) {
	budget := renewBatch
	if id := q.firstExpired(now, &budget); id != none {
		return id, DropExpired
	}
	for c := Class(NumClasses - 1); c > class; c-- {
		if cq := &q.classes[c]; cq.len > 0 {
			return q.lastOf(cq, q.longestFlow(cq)), DropEvicted
		}
	}
	cq := &q.classes[class]
	if cq.len == 0 {
		return none, DropRefused
	}
	own := q.flows.find(class, key)
	has := uint32(0)
	if own != none {
		has = q.flows.at(own).len
	}
	longest := q.longestFlow(cq)
	switch {
	case q.flows.at(longest).len > has+1:
		return q.lastOf(cq, longest), DropEvicted
	case !q.newestFirst(cq):
		return none, DropRefused
	case has > 0:
		return q.flows.at(own).head, DropEvicted
	}
	return cq.head, DropEvicted
}

// lastOf is the entry of the flow that would run last.
func (q *Queue[T]) lastOf(cq *classQueue, flow uint32) uint32 {
	f := q.flows.at(flow)
	if q.newestFirst(cq) {
		return f.head
	}
	return f.tail
}
