package radpool

import (
	"math/bits"
	"sync/atomic"
	"time"

	"layeh.com/radius"
)

// NumResponseTimeBuckets is how many buckets [ResponseTimes] has.
const NumResponseTimeBuckets = len(responseTimeBounds) + 1

// ResponseTimes is a histogram of how long replies took: from the arrival of the
// request at this host to the reply that is ready to be sent. What waits in the
// socket's buffer counts, as far as the system tells of it. A retransmission that is
// answered from the cache is no reply of its own and not in it. The zero value is
// one without replies.
//
// The buckets are fixed, ten to each power of ten from 1 us to 100 s, so that
// histograms can be added and subtracted, and a quantile is off by a few percent at
// most where there are many.
type ResponseTimes struct {
	// Buckets counts the replies that took up to ResponseTimeBound(i), and longer
	// than the bound before. The last counts those that took longer than any bound.
	Buckets [NumResponseTimeBuckets]uint64
	// Sum is what all of them took together.
	Sum time.Duration
}

// responseTimeBounds are the upper bounds of all buckets but the last.
var responseTimeBounds = func() (bounds [81]time.Duration) {
	decade, n := time.Microsecond, 0
	for n+10 < len(bounds) {
		for _, percent := range [...]time.Duration{100, 125, 150, 200, 250, 300, 400, 500, 600, 800} {
			bounds[n] = decade * percent / 100
			n++
		}
		decade *= 10
	}
	bounds[n] = decade
	return bounds
}()

// firstBucket is, for each number of bits, the bucket of the shortest time that has
// so many. The bucket of any other is a few further on.
var firstBucket = func() (first [65]uint8) {
	i := 0
	for n := range first {
		least := time.Duration(0)
		if n > 0 {
			least = min(1<<min(n-1, 62), responseTimeBounds[len(responseTimeBounds)-1]+1)
		}
		for i < len(responseTimeBounds) && responseTimeBounds[i] < least {
			i++
		}
		first[n] = uint8(i)
	}
	return first
}()

// responseTimeBucket is the bucket that d belongs to. What is less than zero, since
// the time of arrival is not known to the nanosecond, counts as zero.
func responseTimeBucket(d time.Duration) int {
	d = max(d, 0)
	i := int(firstBucket[bits.Len64(uint64(d))])
	for i < len(responseTimeBounds) && d > responseTimeBounds[i] {
		i++
	}
	return i
}

// ResponseTimeBound is the upper bound of bucket i: the longest time that is in it.
// Of the last bucket, which has none, and of those that there are not, it is the
// greatest Duration.
func ResponseTimeBound(i int) time.Duration {
	if i < 0 || i >= len(responseTimeBounds) {
		return 1<<63 - 1
	}
	return responseTimeBounds[i]
}

// Count is how many replies there were.
func (t *ResponseTimes) Count() uint64 {
	var n uint64
	for _, b := range t.Buckets {
		n += b
	}
	return n
}

// Mean is what a reply took on the average; zero if there was none.
func (t *ResponseTimes) Mean() time.Duration {
	n := t.Count()
	if n == 0 {
		return 0
	}
	return t.Sum / time.Duration(n)
}

// Quantile is the time that the share q of the replies, from 0 to 1, took at most:
// 0.99 is p99. It is taken to lie between the bounds of its bucket as its rank does; in
// the last bucket it is the greatest bound. Zero if there was no reply.
func (t *ResponseTimes) Quantile(q float64) time.Duration {
	rank := min(max(q, 0), 1) * float64(t.Count())
	var below float64
	var low time.Duration
	for i, n := range t.Buckets {
		if n == 0 {
			continue
		}
		if i == len(responseTimeBounds) {
			return responseTimeBounds[i-1]
		}
		if i > 0 {
			low = responseTimeBounds[i-1]
		}
		if below+float64(n) >= rank {
			return low + time.Duration((rank-below)/float64(n)*float64(responseTimeBounds[i]-low))
		}
		below += float64(n)
	}
	return 0
}

// Sub is what came between two looks: t without those of earlier, which was taken of
// the same server before.
func (t *ResponseTimes) Sub(earlier *ResponseTimes) ResponseTimes {
	d := ResponseTimes{Sum: t.Sum - earlier.Sum}
	for i := range d.Buckets {
		d.Buckets[i] = t.Buckets[i] - earlier.Buckets[i]
	}
	return d
}

// responseTimes is ResponseTimes while it is counted, by one goroutine.
type responseTimes struct {
	buckets [NumResponseTimeBuckets]atomic.Uint64
	sum     atomic.Int64
}

func (t *responseTimes) count(d time.Duration) {
	t.buckets[responseTimeBucket(d)].Add(1)
	t.sum.Add(int64(max(d, 0)))
}

func (t *responseTimes) addTo(sum *ResponseTimes) {
	for i := range t.buckets {
		sum.Buckets[i] += t.buckets[i].Load()
	}
	sum.Sum += time.Duration(t.sum.Load())
}

// replied counts the reply to a request.
func (c *counters) replied(request, reply radius.Code, took time.Duration) {
	c.replies[kindOfReply(reply)].Add(1)
	c.times[askedBy(request)].count(took)
}

// times adds the response times up into st. It is apart from sum, which is asked
// for every second.
func (s *counterSet) times(st *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		c.times[askedAccess].addTo(&st.AccessTimes)
		c.times[askedAccounting].addTo(&st.AccountingTimes)
		c.times[askedOther].addTo(&st.CoATimes)
	}
}
