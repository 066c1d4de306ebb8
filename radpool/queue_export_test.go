package radpool

import (
	"fmt"
	"time"
	"unsafe"
)

// Segments returns how many segments of nodes and of deadlines have memory.
func (q *Queue[T]) Segments() (nodes, dates int) {
	return q.nodes.held, len(q.dates.segments)
}

// Footprint returns the octets that the queue occupies.
func (q *Queue[T]) Footprint() int {
	var c chunk[T]
	n := int(unsafe.Sizeof(*q)) +
		q.nodes.held*int(unsafe.Sizeof(*c.nodes)) +
		cap(q.nodes.chunks)*int(unsafe.Sizeof(c)) +
		len(q.dates.segments)*int(unsafe.Sizeof(*q.dates.segments[0])) +
		cap(q.dates.segments)*int(unsafe.Sizeof(q.dates.segments[0])) +
		cap(q.flows.flows)*int(unsafe.Sizeof(flow{})) + cap(q.flows.buckets)*4
	for i := range q.classes {
		n += cap(q.classes[i].longest) * 4
	}
	return n
}

// Flows returns how many flows are known, and how many of them have nothing waiting.
func (q *Queue[T]) Flows() (all, idle int) {
	for i := range q.classes {
		all += q.classes[i].flows
		idle += q.classes[i].flows - len(q.classes[i].longest)
	}
	return all, idle
}

// Check returns an error if an invariant of the queue does not hold.
func (q *Queue[T]) Check() error {
	total, dated, flows := 0, 0, 0
	for c := range q.classes {
		cq := &q.classes[c]
		n, prev := 0, none
		for id := cq.head; id != none; id = q.nodes.at(id).next {
			e := q.nodes.at(id)
			if e.prev != prev || q.flows.at(e.flow).class != Class(c) {
				return fmt.Errorf("node %d: class %v, prev %d, want %v, %d", id, q.flows.at(e.flow).class, e.prev, Class(c), prev)
			}
			if e.date != none {
				dated++
				if d := q.dates.at(e.date); d.node != id {
					return fmt.Errorf("node %d: its deadline is that of node %d", id, d.node)
				}
			}
			prev = id
			n++
		}
		if n != cq.len || cq.tail != prev {
			return fmt.Errorf("class %v: %d entries to %d, recorded %d to %d", Class(c), n, prev, cq.len, cq.tail)
		}
		total += n
		flows += cq.flows
		if err := q.checkFlows(Class(c), cq); err != nil {
			return fmt.Errorf("class %v: %w", Class(c), err)
		}
	}
	if total > q.max || total != q.total || flows != q.flows.live {
		return fmt.Errorf("%d entries recorded as %d, of at most %d; %d flows recorded as %d", total, q.total, q.max, flows, q.flows.live)
	}
	if dated != int(q.dates.n) {
		return fmt.Errorf("%d nodes have deadlines, %d deadlines", dated, q.dates.n)
	}
	for i := uint32(1); i < q.dates.n; i++ {
		if q.dates.at(i).before(*q.dates.at((i - 1) / dateWays)) {
			return fmt.Errorf("deadline %d is before its parent", i)
		}
	}
	return q.nodes.check(total)
}

func (q *Queue[T]) checkFlows(c Class, cq *classQueue) error {
	flows, waiting, entries := 0, 0, 0
	for _, l := range []flowList{cq.fresh, cq.turns} {
		prev := none
		for id := l.head; id != none; id = q.flows.at(id).next {
			f := q.flows.at(id)
			if f.prev != prev || f.fresh != (l == cq.fresh) || f.class != c || q.flows.exact(c, f.key) != id {
				return fmt.Errorf("flow %d is not where it belongs: %+v", id, *f)
			}
			n, earlier := uint32(0), none
			for e := f.head; e != none; e = q.nodes.at(e).later {
				if q.nodes.at(e).flow != id || q.nodes.at(e).earlier != earlier {
					return fmt.Errorf("flow %d: node %d is not linked", id, e)
				}
				earlier = e
				n++
			}
			if n != f.len || f.tail != earlier {
				return fmt.Errorf("flow %d: %d entries to %d, recorded %d to %d", id, n, earlier, f.len, f.tail)
			}
			if n > 0 {
				waiting++
				if cq.longest[f.place] != id {
					return fmt.Errorf("flow %d is not at its place in the heap", id)
				}
			}
			entries += int(n)
			flows++
			prev = id
		}
		if prev != l.tail {
			return fmt.Errorf("a list ends with flow %d and not %d", prev, l.tail)
		}
	}
	if flows != cq.flows || waiting != len(cq.longest) || entries != cq.len {
		return fmt.Errorf("%d flows, %d of them with %d entries; recorded %d, %d, %d", flows, waiting, entries, cq.flows, len(cq.longest), cq.len)
	}
	for i := 1; i < len(cq.longest); i++ {
		if q.flows.at(cq.longest[i]).len > q.flows.at(cq.longest[(i-1)/2]).len {
			return fmt.Errorf("flow %d is longer than its parent", cq.longest[i])
		}
	}
	return nil
}

// Lateness is lateness.
type Lateness struct{ l lateness }

// Observe is observe, and reports whether it is late then.
func (l *Lateness) Observe(now, oldest time.Duration) bool {
	l.l.observe(int64(now), int64(oldest))
	return l.l.late
}

func (s *slab[T]) check(total int) error {
	live, held, withRoom := 0, 0, 0
	for i := range s.chunks {
		c := &s.chunks[i]
		if c.nodes == nil {
			continue
		}
		held++
		live += int(c.live)
		if c.live > 0 && c.live < chunkLen {
			withRoom++
		}
		if c.live == 0 && s.empty != uint32(i) {
			return fmt.Errorf("chunk %d is empty and not given back", i)
		}
	}
	for i := s.room; i != none; i = s.chunks[i].next {
		withRoom--
	}
	if live != total || held != s.held || withRoom != 0 {
		return fmt.Errorf("%d live nodes of %d, %d chunks of %d, %d missing from the list", live, total, held, s.held, withRoom)
	}
	return nil
}
