package radpool_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// queuePair drives a Queue and its reference with the same calls.
type queuePair struct {
	real  *radpool.Queue[int]
	naive naiveQueue
	now   time.Time
	next  int
	flows int
}

func newQueuePair(t testing.TB, most, flows int, order radpool.Order) *queuePair {
	renewed := make(map[int]time.Time)
	q, err := radpool.NewQueue(radpool.QueueConfig[int]{
		MaxQueueSize: most, Order: order, Renew: func(v int) time.Time { return renewed[v] },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &queuePair{
		real: q, naive: naiveQueue{max: most, order: order, renewed: renewed}, now: time.Unix(1_700_000_000, 0), flows: flows,
	}
}

// step does one operation, chosen by op, with the numbers a and b, and returns
// an error if the two differ.
func (p *queuePair) step(op, a, b byte) error {
	var got, want radpool.Item[int]
	var gotOK, wantOK bool
	var did string
	switch op % 9 {
	case 0, 1, 2, 3: // more pushes than pops: it is full much of the time
		e := naiveEntry{value: p.next, class: radpool.Class(a % radpool.NumClasses), pushed: p.now}
		// Half of all are of one flow.
		if f := int(op/9) % (2 * p.flows); f < p.flows {
			e.flow = uint64(f)
		}
		if b%4 != 0 {
			e.expires = p.now.Add(time.Duration(int(b)-8) * time.Millisecond)
		}
		p.next++
		did = fmt.Sprintf("push %+v", e)
		got, gotOK = p.real.Push(p.now, e.class, e.flow, e.expires, e.value)
		want, wantOK = p.naive.push(p.now, e, got)
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
	case 8:
		did = "renew"
		if n := len(p.naive.entries); n > 0 {
			p.naive.renewed[p.naive.entries[int(a)%n].value] = p.now.Add(time.Duration(b) * time.Millisecond)
		}
	}
	if got != want || gotOK != wantOK {
		return fmt.Errorf("%s: %+v, %v; want %+v, %v", did, got, gotOK, want, wantOK)
	}
	if p.real.Len() != len(p.naive.entries) {
		return fmt.Errorf("%s: Len is %d, want %d", did, p.real.Len(), len(p.naive.entries))
	}
	for c := range radpool.Class(radpool.NumClasses) {
		n, age := p.naive.oldest(p.now, c)
		if p.real.LenClass(c) != n || p.real.Oldest(p.now, c) != age || p.real.NewestFirst(c) != p.naive.newestFirst(c) {
			return fmt.Errorf("%s: class %v has %d, oldest %v, newest first %v; want %d, %v, %v", did, c, p.real.LenClass(c),
				p.real.Oldest(p.now, c), p.real.NewestFirst(c), n, age, p.naive.newestFirst(c))
		}
	}
	return nil
}

func TestQueueAgreesWithReference(t *testing.T) {
	for i, most := range []int{1, 2, 7, 40, 130, 1000, 7, 40, 130, 1000, 40, 130} {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		p := newQueuePair(t, most, 1+i*i/4, radpool.Order(i%3))
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
	f.Add(byte(0x43), []byte{0, 1, 9, 9, 1, 10, 18, 1, 0, 8, 0, 200, 7, 15, 0, 0, 1, 0, 5, 0, 0})
	f.Fuzz(func(t *testing.T, most byte, ops []byte) {
		p := newQueuePair(t, int(most%64)+1, 1+int(most/64)*3, radpool.Order(most%3))
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
