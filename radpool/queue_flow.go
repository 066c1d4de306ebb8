package radpool

// MaxFlows is how many flows a [Queue] tells apart at once, in all classes
// together: a server's NASes that have something waiting. Those that come when so
// many wait are put together, by their hash, into a thousand of each class.
const MaxFlows = 1 << 14

const (
	sharedFlows = 1 << 10
	// sharedKey marks the key of a flow that several share.
	sharedKey = 1 << 63

	// keptFlows is how many flows of an empty class are kept: a few clients that
	// come by turns need not be made anew each time.
	keptFlows = 16

	firstBuckets = 8
)

// flow is what waits of one flow in one class. One of which nothing waits any more
// lives until its turn would come: were it forgotten at once, who asks one at
// a time would come anew each time, and always go before those who have had a turn.
type flow struct {
	key        uint64
	head, tail uint32 // by arrival, linked through the nodes
	len        uint32
	place      uint32 // in the heap of its class, while anything waits
	next, prev uint32 // neighbours in its list; unused: next is the next unused
	chain      uint32 // next of its bucket
	class      Class
	fresh      bool // on which list
}

// flowList is a list of flows whose turn is to come.
type flowList struct{ head, tail uint32 }

// flowLists is the flows of one class.
type flowLists struct {
	fresh   flowList // they have had no turn yet
	turns   flowList // the rest, the next one first
	flows   int      // on both
	longest []uint32 // a heap of those of which something waits
}

func newFlowLists() flowLists {
	empty := flowList{head: none, tail: none}
	return flowLists{fresh: empty, turns: empty}
}

// flowTable holds the flows of all classes, and finds them by their keys.
type flowTable struct {
	flows   []flow
	unused  uint32
	buckets []uint32
	shift   uint // 64 less the logarithm of the number of buckets
	live    int
}

func newFlowTable() flowTable { return flowTable{unused: none} }

func (t *flowTable) at(id uint32) *flow { return &t.flows[id] }

func (t *flowTable) bucket(class Class, key uint64) *uint32 {
	h := (key ^ uint64(class)<<56) * 0x9e3779b97f4a7c15
	return &t.buckets[h>>t.shift]
}

// find returns the flow that an entry of this key belongs to, or none.
func (t *flowTable) find(class Class, key uint64) uint32 {
	id := t.exact(class, key)
	if id == none && t.live >= MaxFlows {
		id = t.exact(class, shared(key))
	}
	return id
}

func (t *flowTable) exact(class Class, key uint64) uint32 {
	if t.live == 0 {
		return none
	}
	for id := *t.bucket(class, key); id != none; id = t.flows[id].chain {
		if f := &t.flows[id]; f.key == key && f.class == class {
			return id
		}
	}
	return none
}

func shared(key uint64) uint64 {
	return key*0xd6e8feb86659fd93>>(64-10)%sharedFlows | sharedKey
}

// flowFor returns the flow for a new entry, which it makes if there is none.
func (q *Queue[T]) flowFor(cq *classQueue, class Class, key uint64) uint32 {
	t := &q.flows
	id := t.find(class, key)
	if id != none {
		return id
	}
	if t.live >= MaxFlows {
		key = shared(key)
	}
	id = t.add(class, key)
	t.append(&cq.fresh, id)
	cq.flows++
	return id
}

func (t *flowTable) add(class Class, key uint64) uint32 {
	if t.live >= len(t.buckets) {
		t.grow()
	}
	id := t.unused
	if id != none {
		t.unused = t.flows[id].next
	} else {
		id = uint32(len(t.flows))
		t.flows = append(t.flows, flow{})
	}
	b := t.bucket(class, key)
	t.flows[id] = flow{key: key, class: class, head: none, tail: none, place: none, chain: *b, fresh: true}
	*b = id
	t.live++
	return id
}

// grow doubles the buckets. MaxFlows bounds it to some 100 us of work.
func (t *flowTable) grow() {
	n := max(2*len(t.buckets), firstBuckets)
	old := t.buckets
	t.buckets = make([]uint32, n)
	for i := range t.buckets {
		t.buckets[i] = none
	}
	t.shift = 64
	for ; n > 1; n /= 2 {
		t.shift--
	}
	for _, id := range old {
		for id != none {
			f := &t.flows[id]
			next := f.chain
			b := t.bucket(f.class, f.key)
			f.chain, *b = *b, id
			id = next
		}
	}
}

// drop forgets a flow of which nothing waits and which is on no list.
func (t *flowTable) drop(id uint32) {
	f := &t.flows[id]
	link := t.bucket(f.class, f.key)
	for *link != id {
		link = &t.flows[*link].chain
	}
	*link = f.chain
	t.live--
	if t.live == 0 && len(t.flows) > NumClasses*keptFlows {
		*t = newFlowTable()
		return
	}
	f.next = t.unused
	t.unused = id
}

// append puts the flow at the end of a list.
func (t *flowTable) append(l *flowList, id uint32) {
	f := &t.flows[id]
	f.prev, f.next = l.tail, none
	if l.tail == none {
		l.head = id
	} else {
		t.flows[l.tail].next = id
	}
	l.tail = id
}

func (t *flowTable) unlink(l *flowList, id uint32) {
	f := &t.flows[id]
	if f.prev == none {
		l.head = f.next
	} else {
		t.flows[f.prev].next = f.next
	}
	if f.next == none {
		l.tail = f.prev
	} else {
		t.flows[f.next].prev = f.prev
	}
}

// nextFlow gives a flow of the class its turn. Something waits in the class.
func (q *Queue[T]) nextFlow(cq *classQueue) uint32 {
	t := &q.flows
	newest := q.newestFirst(cq)
	for {
		from, id := &cq.turns, cq.turns.head
		if cq.fresh.head != none {
			from, id = &cq.fresh, cq.fresh.head
			if newest {
				id = cq.fresh.tail
			}
		}
		f := t.at(id)
		if f.len > 0 && from.head == id && from.tail == id && !f.fresh {
			return id // the only one
		}
		t.unlink(from, id)
		if f.len > 0 {
			f.fresh = false
			t.append(&cq.turns, id)
			return id
		}
		cq.flows--
		t.drop(id)
	}
}

// grew notes that the flow has one entry more.
func (q *Queue[T]) grew(cq *classQueue, id uint32, f *flow) {
	f.len++
	if f.len == 1 {
		f.place = uint32(len(cq.longest))
		cq.longest = append(cq.longest, id)
	}
	q.flows.siftUp(cq.longest, f.place)
}

// shrank notes that the flow has one entry less. The class has one less already.
func (q *Queue[T]) shrank(cq *classQueue, f *flow) {
	f.len--
	if f.len > 0 {
		q.flows.siftDown(cq.longest, f.place)
		return
	}
	last := uint32(len(cq.longest) - 1)
	moved := cq.longest[last]
	cq.longest = cq.longest[:last]
	if place := f.place; place != last {
		cq.longest[place] = moved
		q.flows.at(moved).place = place
		q.flows.siftUp(cq.longest, place)
		q.flows.siftDown(cq.longest, q.flows.at(moved).place)
	}
	if cq.len == 0 && (cq.flows > keptFlows || cap(cq.longest) > 2*keptFlows) {
		q.forgetFlows(cq)
	}
	if q.total == 0 && len(q.flows.flows) > NumClasses*keptFlows {
		for i := range q.classes {
			q.forgetFlows(&q.classes[i])
		}
	}
}

// forgetFlows drops all flows of a class that is empty.
func (q *Queue[T]) forgetFlows(cq *classQueue) {
	for _, list := range []flowList{cq.fresh, cq.turns} {
		for id := list.head; id != none; {
			next := q.flows.at(id).next
			q.flows.drop(id)
			id = next
		}
	}
	cq.flowLists = newFlowLists()
}
