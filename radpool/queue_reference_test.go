package radpool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// naiveEntry and naiveQueue say in the plainest way what a Queue does: one
// slice in order of arrival, looked through from end to end each time.
type naiveEntry struct {
	value   int
	class   radpool.Class
	pushed  time.Time
	expires time.Time
}

type naiveQueue struct {
	max     int
	entries []naiveEntry
}

func (e naiveEntry) expired(now time.Time) bool {
	return !e.expires.IsZero() && !e.expires.After(now)
}

func (e naiveEntry) item(now time.Time, why radpool.Drop) radpool.Item[int] {
	return radpool.Item[int]{Value: e.value, Class: e.class, Waited: now.Sub(e.pushed), Why: why}
}

func (q *naiveQueue) remove(i int) naiveEntry {
	e := q.entries[i]
	q.entries = slices.Delete(q.entries, i, i+1)
	return e
}

// firstExpired returns the index of what expired first, or -1.
func (q *naiveQueue) firstExpired(now time.Time) int {
	first := -1
	for i, e := range q.entries {
		if e.expired(now) && (first < 0 || e.expires.Before(q.entries[first].expires)) {
			first = i
		}
	}
	return first
}

func (q *naiveQueue) push(now time.Time, e naiveEntry) (radpool.Item[int], bool) {
	if e.expired(now) {
		return e.item(now, radpool.DropExpired), false
	}
	var out radpool.Item[int]
	if len(q.entries) == q.max {
		if i := q.firstExpired(now); i >= 0 {
			out = q.remove(i).item(now, radpool.DropExpired)
		} else {
			worst := -1
			for i, old := range q.entries {
				if old.class > e.class && (worst < 0 || old.class >= q.entries[worst].class) {
					worst = i
				}
			}
			if worst < 0 {
				return e.item(now, radpool.DropRefused), false
			}
			out = q.remove(worst).item(now, radpool.DropEvicted)
		}
	}
	q.entries = append(q.entries, e)
	return out, true
}

func (q *naiveQueue) pop(now time.Time) (radpool.Item[int], bool) {
	best := -1
	for i, e := range q.entries {
		if best < 0 || e.class < q.entries[best].class {
			best = i
		}
	}
	if best < 0 {
		return radpool.Item[int]{}, false
	}
	e := q.remove(best)
	why := radpool.DropNone
	if e.expired(now) {
		why = radpool.DropExpired
	}
	return e.item(now, why), true
}

func (q *naiveQueue) expire(now time.Time) (radpool.Item[int], bool) {
	if i := q.firstExpired(now); i >= 0 {
		return q.remove(i).item(now, radpool.DropExpired), true
	}
	return radpool.Item[int]{}, false
}

func (q *naiveQueue) oldest(now time.Time, c radpool.Class) (n int, age time.Duration) {
	for _, e := range q.entries {
		if e.class != c {
			continue
		}
		if n == 0 {
			age = now.Sub(e.pushed)
		}
		n++
	}
	return n, age
}

// queuePair drives a Queue and its reference with the same calls.
type queuePair struct {
	real  *radpool.Queue[int]
	naive naiveQueue
	now   time.Time
	next  int
}

func newQueuePair(t testing.TB, most int) *queuePair {
	q, err := radpool.NewQueue[int](most)
	if err != nil {
		t.Fatal(err)
	}
	return &queuePair{real: q, naive: naiveQueue{max: most}, now: time.Unix(1_700_000_000, 0)}
}

// step does one operation, chosen by op, with the numbers a and b, and returns
// an error if the two differ.
func (p *queuePair) step(op, a, b byte) error {
	var got, want radpool.Item[int]
	var gotOK, wantOK bool
	var did string
	switch op % 8 {
	case 0, 1, 2, 3: // more pushes than pops: it is full much of the time
		e := naiveEntry{value: p.next, class: radpool.Class(a % radpool.NumClasses), pushed: p.now}
		if b%4 != 0 {
			e.expires = p.now.Add(time.Duration(int(b)-8) * time.Millisecond)
		}
		p.next++
		did = fmt.Sprintf("push %+v", e)
		got, gotOK = p.real.Push(p.now, e.class, e.expires, e.value)
		want, wantOK = p.naive.push(p.now, e)
	case 4, 5:
		did = "pop"
		got, gotOK = p.real.Pop(p.now)
		want, wantOK = p.naive.pop(p.now)
	case 6:
		did = "expire"
		got, gotOK = p.real.Expire(p.now)
		want, wantOK = p.naive.expire(p.now)
	case 7:
		did = "wait"
		p.now = p.now.Add(time.Duration(a%16) * time.Millisecond)
	}
	if got != want || gotOK != wantOK {
		return fmt.Errorf("%s: %+v, %v; want %+v, %v", did, got, gotOK, want, wantOK)
	}
	if p.real.Len() != len(p.naive.entries) {
		return fmt.Errorf("%s: Len is %d, want %d", did, p.real.Len(), len(p.naive.entries))
	}
	for c := range radpool.Class(radpool.NumClasses) {
		n, age := p.naive.oldest(p.now, c)
		if p.real.LenClass(c) != n || p.real.Oldest(p.now, c) != age {
			return fmt.Errorf("%s: class %v has %d, oldest %v; want %d, %v", did, c, p.real.LenClass(c), p.real.Oldest(p.now, c), n, age)
		}
	}
	return nil
}

func TestQueueAgreesWithReference(t *testing.T) {
	for _, most := range []int{1, 2, 7, 130, 1000} {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		p := newQueuePair(t, most)
		for i := range 6000 {
			if err := p.step(byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())); err != nil {
				t.Fatalf("max %d, seed %d, step %d: %v", most, seed, i, err)
			}
			if i%64 == 0 {
				if err := p.real.Check(); err != nil {
					t.Fatalf("max %d, seed %d, step %d: %v", most, seed, i, err)
				}
			}
		}
	}
}

func FuzzQueue(f *testing.F) {
	f.Add(byte(1), []byte{0, 3, 0, 0, 1, 0, 4, 0, 0})
	f.Add(byte(2), []byte{0, 1, 9, 0, 1, 10, 7, 15, 0, 0, 1, 0, 6, 0, 0})
	f.Fuzz(func(t *testing.T, most byte, ops []byte) {
		p := newQueuePair(t, int(most)+1)
		for i := 0; i+2 < min(len(ops), 3000); i += 3 {
			if err := p.step(ops[i], ops[i+1], ops[i+2]); err != nil {
				t.Fatalf("step %d: %v", i/3, err)
			}
		}
		if err := p.real.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
