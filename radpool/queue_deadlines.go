package radpool

const (
	dateBits = 8
	dateLen  = 1 << dateBits // deadlines a segment: 4 KiB
	dateMask = dateLen - 1
	dateWays = 4 // children of a place in the heap: half the depth of two
)

// deadlineAt is when one node expires. seq orders those that expire together
// by their arrival; it wraps, which at worst disorders such equals.
type deadlineAt struct {
	at   int64
	seq  uint32
	node uint32
}

func (d deadlineAt) before(o deadlineAt) bool {
	return d.at < o.at || d.at == o.at && int32(d.seq-o.seq) < 0
}

// deadlines is a heap of deadlines, the first one at place 0. It is there
// because jobs do not expire in the order in which they came: NASes differ in
// patience. It lives in segments, since a slice that doubles would copy 16 MB
// under the pool's lock, in the middle of the storm that made it grow.
type deadlines struct {
	segments []*[dateLen]deadlineAt
	n        uint32
}

func (h *deadlines) at(i uint32) *deadlineAt {
	return &h.segments[i>>dateBits][i&dateMask]
}

// addDate adds a deadline and tells its node where it is.
func (q *Queue[T]) addDate(d deadlineAt) {
	h := &q.dates
	if int(h.n)>>dateBits == len(h.segments) {
		h.segments = append(h.segments, new([dateLen]deadlineAt))
	}
	h.n++
	q.siftUp(h.n-1, d)
}

// removeDate removes the deadline at place i.
func (q *Queue[T]) removeDate(i uint32) {
	h := &q.dates
	h.n--
	last := *h.at(h.n)
	if i != h.n {
		if i > 0 && last.before(*h.at((i - 1) / dateWays)) {
			q.siftUp(i, last)
		} else {
			q.siftDown(i, last)
		}
	}
	// One segment is kept beyond those in use, against growing and shrinking
	// at a boundary by turns.
	if keep := int(h.n)>>dateBits + 2; len(h.segments) > keep {
		h.segments[keep] = nil
		h.segments = h.segments[:keep]
		if keep*4 < cap(h.segments) {
			h.segments = append(make([]*[dateLen]deadlineAt, 0, keep*2), h.segments...)
		}
	}
}

// siftUp puts d at place i or nearer to the first.
func (q *Queue[T]) siftUp(i uint32, d deadlineAt) {
	for i > 0 {
		parent := (i - 1) / dateWays
		p := *q.dates.at(parent)
		if !d.before(p) {
			break
		}
		q.setDate(i, p)
		i = parent
	}
	q.setDate(i, d)
}

// siftDown puts d at place i or further from the first.
func (q *Queue[T]) siftDown(i uint32, d deadlineAt) {
	h := &q.dates
	for {
		child := i*dateWays + 1
		if child >= h.n {
			break
		}
		best, b := child, *h.at(child)
		for c := child + 1; c < min(child+dateWays, h.n); c++ {
			if o := *h.at(c); o.before(b) {
				best, b = c, o
			}
		}
		if !b.before(d) {
			break
		}
		q.setDate(i, b)
		i = best
	}
	q.setDate(i, d)
}

func (q *Queue[T]) setDate(i uint32, d deadlineAt) {
	*q.dates.at(i) = d
	q.nodes.at(d.node).date = i
}
