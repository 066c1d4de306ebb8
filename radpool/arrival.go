package radpool

import "time"

const (
	// soon is how long a datagram may have waited in its socket's buffer without
	// anybody asking: a reader that keeps up is spared the question.
	soon = 5 * time.Millisecond

	// maxAge is the most that a datagram is said to have waited, more than any
	// MaxRequestTime.
	maxAge = 125 * time.Second
)

// arrivals judges how long datagrams have waited in a socket's buffer: a queue
// that nobody sees, and that is long when the reader was held up or the whole
// process stopped. It is told the time and keeps no clock.
//
// Times of arrival are the wall clock's, which somebody may set meanwhile. But
// what is read arrived after the buffer was last seen empty, and when that was
// the monotonic clock knows. That bounds every age, and mostly so closely that the
// time of arrival need not be asked for.
type arrivals struct {
	empty time.Time // zero: it never was, as far as we know
}

// most is how long a datagram that was read at now can have waited. emptied is
// whether the buffer is empty now.
func (a *arrivals) most(now time.Time, emptied bool) time.Duration {
	most := maxAge
	if !a.empty.IsZero() {
		most = min(max(now.Sub(a.empty), 0), maxAge)
	}
	if emptied {
		a.empty = now
	}
	return most
}

// waited is the time from arrived to now, both by the wall clock, as far as that
// can be.
func waited(now, arrived int64, most time.Duration) time.Duration {
	return min(max(time.Duration(now-arrived), 0), most)
}

// age is how long the last datagram of a batch that was read at now has waited. It
// stands for all of the batch: those before it came earlier, by more than a moment
// only in the batch that empties the buffer, and so none is taken for older than it
// is. It is 0 where it must be less than soon, or the system does not tell: then age
// counts from the read.
func (l *listener) age(now time.Time, emptied bool) time.Duration {
	most := l.arrivals.most(now, emptied)
	if most < soon {
		return 0
	}
	arrived, ok := l.conn.Arrived()
	if !ok {
		return 0
	}
	return waited(now.UnixNano(), arrived, most)
}
