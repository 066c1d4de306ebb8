package radpool

// AgeingTurns bounds how long more urgent classes can keep a less urgent one
// waiting. Of those that have something to do, the second most urgent gets at least
// one turn of so many, and each after it a quarter of the one before; between them
// it is two in a hundred, and the most urgent has the rest. A turn is one
// job, or one batch of a [Pool] with MaxBatch. So nothing waits for ever, and of what is
// left undone in a flood of Access-Requests most is Interim-Updates.
const AgeingTurns = 64

// ageingStep is by how much the share of each class is less than that of the one
// before, as a power of two.
const ageingStep = 2

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
	best, most := c, -1
	limit := AgeingTurns - 1
	for d := c + 1; d < NumClasses; d++ {
		cq := &q.classes[d]
		if cq.len == 0 {
			continue
		}
		if over := cq.passed - limit; over > most {
			best, most = d, over
		}
		limit = (limit+1)<<ageingStep - 1
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
