package radpool

// AgeingTurns bounds how long a more urgent class can keep a less urgent one
// waiting: a class that has something to do gets at least one turn of so many,
// and the few more that other classes get in the same way. A turn is one job, or one
// batch of a [Pool] with MaxBatch. So a flood of Access-Requests leaves accounting
// some 1.5 % and takes the rest, and Interim-Updates as much behind it.
const AgeingTurns = 64

// Next is the class of what Pop would take out. ok is false if the queue is
// empty.
func (q *Queue[T]) Next() (class Class, ok bool) {
	if q.total == 0 {
		return 0, false
	}
	c := 0
	for q.classes[c].len == 0 {
		c++
	}
	if q.classes[c].len == q.total {
		return Class(c), true
	}
	best, longest := c, AgeingTurns-2
	for d := c + 1; d < NumClasses; d++ {
		if cq := &q.classes[d]; cq.len > 0 && cq.passed > longest {
			best, longest = d, cq.passed
		}
	}
	return Class(best), true
}

// turn is Next for who is going to take from the class.
func (q *Queue[T]) turn() (class Class, ok bool) {
	class, ok = q.Next()
	if !ok {
		return class, false
	}
	cq := &q.classes[class]
	cq.passed = 0
	if cq.len < q.total {
		for d := range q.classes {
			if Class(d) != class && q.classes[d].len > 0 {
				q.classes[d].passed++
			}
		}
	}
	return class, true
}
