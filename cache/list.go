package cache

// list is a queue of entries, oldest at the head, linked through the entries
// themselves: removal from the middle costs no search.
type list struct {
	head, tail uint32
	length     int
}

// pushTail appends an entry that is on no list.
func (s *shard) pushTail(l *list, id uint32, e *entry) {
	e.prev, e.next = l.tail, none
	if l.tail == none {
		l.head = id
	} else {
		s.entries.at(l.tail).next = id
	}
	l.tail = id
	l.length++
}

// remove takes an entry off the list that it is on.
func (s *shard) remove(l *list, e *entry) {
	if e.prev == none {
		l.head = e.next
	} else {
		s.entries.at(e.prev).next = e.next
	}
	if e.next == none {
		l.tail = e.prev
	} else {
		s.entries.at(e.next).prev = e.prev
	}
	e.prev, e.next = none, none
	l.length--
}

// listOf returns the list on which entries of a state are.
func (s *shard) listOf(st state) *list {
	switch st {
	case running:
		return &s.running
	case tombstone:
		return &s.tombstones
	default:
		return &s.retained
	}
}
