package loadgen_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/loadgen"
)

// naiveFlight looks through all Identifiers each time.
type naiveFlight struct {
	due   [256]time.Duration
	armed [256]int // when its timer was started, in turns
	sends [256]int // 0: free
	freed [256]int // when, in turns
	turn  int
}

func (n *naiveFlight) take(now, timeout time.Duration) uint8 {
	best := -1
	for id, s := range n.sends {
		if s == 0 && (best < 0 || n.freed[id] < n.freed[best]) {
			best = id
		}
	}
	n.arm(best, now+timeout)
	return uint8(best)
}

func (n *naiveFlight) arm(id int, due time.Duration) {
	n.turn++
	n.sends[id]++
	n.due[id], n.armed[id] = due, n.turn
}

func (n *naiveFlight) first() (id int, ok bool) {
	id = -1
	for i, s := range n.sends {
		if s > 0 && (id < 0 || n.due[i] < n.due[id] || n.due[i] == n.due[id] && n.armed[i] < n.armed[id]) {
			id = i
		}
	}
	return id, id >= 0
}

func TestFlightBesideNaive(t *testing.T) {
	const timeout, retries = 3 * time.Second, 2
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	f := loadgen.NewFlight(timeout, retries)
	n := new(naiveFlight)
	for i := range n.freed {
		n.freed[i] = i - 256
	}
	release := func(id uint8) {
		f.Release(id)
		n.turn++
		n.sends[id], n.freed[id] = 0, n.turn
	}
	now := time.Duration(0)
	for step := range 50_000 {
		now += time.Duration(r.Int64N(int64(20 * time.Millisecond)))
		switch id := uint8(r.IntN(256)); {
		case r.IntN(3) > 0 && f.Room():
			if got, want := f.Take(now), n.take(now, timeout); got != want {
				t.Fatalf("seed %d step %d: Identifier %d, want %d, free for longest", seed, step, got, want)
			}
		case r.IntN(3) > 0 && f.Busy(id):
			release(id)
		}
		for {
			id, lost, ok := f.Due(now)
			first, some := n.first()
			if ok != (some && n.due[max(first, 0)] <= now) {
				t.Fatalf("seed %d step %d: due %v, want %v", seed, step, ok, !ok)
			}
			if !ok {
				break
			}
			if int(id) != first || lost != (n.sends[first] > retries) {
				t.Fatalf("seed %d step %d: %d due, lost %v; want %d sent %d times", seed, step, id, lost, first, n.sends[first])
			}
			if lost {
				release(id)
				continue
			}
			n.arm(first, now+timeout)
		}
		at, ok := f.Next()
		if first, some := n.first(); ok != some || ok && at != n.due[first] {
			t.Fatalf("seed %d step %d: next at %v, %v", seed, step, at, ok)
		}
	}
}
