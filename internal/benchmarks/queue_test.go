package benchmarks

import (
	"container/list"
	"fmt"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// A fifo holds jobs until it is their turn. One goroutine uses it, so it needs
// no lock; a channel has one all the same.
type fifo interface {
	push(now time.Time, class radpool.Class, expires time.Time, n uint64) bool
	pop(now time.Time) (n uint64, ok bool)
}

type radpoolQueue struct{ q *radpool.Queue[uint64] }

func (r radpoolQueue) push(now time.Time, class radpool.Class, expires time.Time, n uint64) bool {
	_, ok := r.q.Push(now, class, 0, expires, n)
	return ok
}

func (r radpoolQueue) pop(now time.Time) (uint64, bool) {
	it, ok := r.q.Pop(now)
	return it.Value, ok && it.Why == radpool.DropNone
}

// listQueue is the simplest thing that knows classes and deadlines: a list for
// each class, whose jobs are found to have expired when it is their turn. When it
// is full it refuses, though what it holds may have expired.
type listQueue struct {
	lists [radpool.NumClasses]list.List
	max   int
	n     int
}

type listed struct {
	n       uint64
	expires time.Time
}

func (l *listQueue) push(_ time.Time, class radpool.Class, expires time.Time, n uint64) bool {
	if l.n == l.max {
		return false
	}
	l.n++
	l.lists[class].PushBack(listed{n, expires})
	return true
}

func (l *listQueue) pop(now time.Time) (uint64, bool) {
	for i := range l.lists {
		for e := l.lists[i].Front(); e != nil; e = l.lists[i].Front() {
			l.n--
			if job := l.lists[i].Remove(e).(listed); now.Before(job.expires) {
				return job.n, true
			}
		}
	}
	return 0, false
}

// chanQueue knows neither classes nor deadlines.
type chanQueue chan uint64

func (c chanQueue) push(_ time.Time, _ radpool.Class, _ time.Time, n uint64) bool {
	select {
	case c <- n:
		return true
	default:
		return false
	}
}

func (c chanQueue) pop(time.Time) (uint64, bool) {
	select {
	case n := <-c:
		return n, true
	default:
		return 0, false
	}
}

// BenchmarkQueue is one job pushed and one popped while so many wait as the name
// says, all of one class and none expiring.
func BenchmarkQueue(b *testing.B) {
	for _, waiting := range []int{1024, 1 << 20} {
		for _, impl := range []struct {
			name string
			make func() (fifo, error)
		}{
			{"radpool", func() (fifo, error) {
				q, err := radpool.NewQueue(radpool.QueueConfig[uint64]{MaxQueueSize: waiting + 1, Order: radpool.OldestFirst})
				return radpoolQueue{q}, err
			}},
			{"lists", func() (fifo, error) { return &listQueue{max: waiting + 1}, nil }},
			{"channel", func() (fifo, error) { return make(chanQueue, waiting+1), nil }},
		} {
			b.Run(fmt.Sprintf("waiting=%d/impl=%s", waiting, impl.name), func(b *testing.B) {
				q, err := impl.make()
				if err != nil {
					b.Fatal(err)
				}
				now, first, last := time.Unix(1_700_000_000, 0), uint64(0), uint64(0)
				push := func() {
					now = now.Add(time.Microsecond)
					last++
					if !q.push(now, radpool.ClassAccess, now.Add(time.Hour), last) {
						b.Fatalf("job %d was refused", last)
					}
				}
				for range waiting {
					push()
				}
				b.ReportAllocs()
				report := measure(b)
				for b.Loop() {
					push()
					first++
					if n, ok := q.pop(now); !ok || n != first {
						b.Fatalf("job %d (%v) when it was the turn of %d", n, ok, first)
					}
				}
				report()
			})
		}
	}
}
