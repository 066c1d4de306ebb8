package radpool

import (
	"fmt"
	"unsafe"
)

// Segments returns how many segments of nodes and of deadlines have memory.
func (q *Queue[T]) Segments() (nodes, dates int) {
	return q.nodes.held, len(q.dates.segments)
}

// Footprint returns the octets that the queue occupies.
func (q *Queue[T]) Footprint() int {
	var c chunk[T]
	return int(unsafe.Sizeof(*q)) +
		q.nodes.held*int(unsafe.Sizeof(*c.nodes)) +
		cap(q.nodes.chunks)*int(unsafe.Sizeof(c)) +
		len(q.dates.segments)*int(unsafe.Sizeof(*q.dates.segments[0])) +
		cap(q.dates.segments)*int(unsafe.Sizeof(q.dates.segments[0]))
}

// Check returns an error if an invariant of the queue does not hold.
func (q *Queue[T]) Check() error {
	total, dated := 0, 0
	for c := range q.lists {
		l := q.lists[c]
		n, prev := 0, none
		for id := l.head; id != none; id = q.nodes.at(id).next {
			e := q.nodes.at(id)
			if e.class != Class(c) || e.prev != prev {
				return fmt.Errorf("node %d: class %v, prev %d, want %v, %d", id, e.class, e.prev, Class(c), prev)
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
		if n != l.len || l.tail != prev {
			return fmt.Errorf("class %v: %d entries to %d, recorded %d to %d", Class(c), n, prev, l.len, l.tail)
		}
		total += n
	}
	if total > q.max {
		return fmt.Errorf("%d entries, of at most %d", total, q.max)
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
