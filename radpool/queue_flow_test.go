package radpool_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

func newFlowQueue(t testing.TB, most int, order radpool.Order) *radpool.Queue[string] {
	t.Helper()
	q, err := radpool.NewQueue(radpool.QueueConfig[string]{MaxQueueSize: most, Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestQueueFlowsTakeTurns(t *testing.T) {
	for order, want := range map[radpool.Order]string{
		radpool.FreshestInDelay: "A1 B1 C1 A2 B2 A3 A4 A5",
		radpool.OldestFirst:     "A1 B1 C1 A2 B2 A3 A4 A5",
		radpool.NewestFirst:     "C1 B2 A5 B1 A4 A3 A2 A1",
	} {
		q := newFlowQueue(t, 100, order)
		for _, v := range []string{"A1", "A2", "A3", "A4", "B1", "C1", "B2", "A5"} {
			q.Push(queueEpoch, radpool.ClassAccess, uint64(v[0]), time.Time{}, v)
		}
		if got := drainQueue(q, queueEpoch); got != want {
			t.Errorf("%v: %s, want %s", order, got, want)
		}
	}
}

// Who comes anew goes before those who have had a turn, but cannot keep
// them waiting by coming anew again and again.
func TestQueueFreshFlowGoesFirstOnce(t *testing.T) {
	q := newFlowQueue(t, 1000, radpool.FreshestInDelay)
	push := func(v string) { q.Push(queueEpoch, radpool.ClassAccess, uint64(v[0]), time.Time{}, v) }
	pop := func() byte {
		it, _ := q.Pop(queueEpoch)
		return it.Value[0]
	}
	for i := range 100 {
		push(fmt.Sprintf("A%d", i))
		push(fmt.Sprintf("B%d", i))
	}
	pop()
	pop()
	pop()
	push("C")
	if got := pop(); got != 'C' {
		t.Errorf("%c before the one that came anew", got)
	}
	var turns [256]int
	for range 90 {
		if turns['C'] < 90 {
			push("C")
		}
		turns[pop()]++
	}
	if turns['A'] != 30 || turns['B'] != 30 || turns['C'] != 30 {
		t.Errorf("turns: A %d, B %d, C %d", turns['A'], turns['B'], turns['C'])
	}
}

// However the flows differ in what they ask for, one that asks for no more than
// its share gets all of it, and the rest is divided among the others: max-min
// fairness, beside the textbook's way to work it out.
func TestQueueSharesAreMaxMinFair(t *testing.T) {
	for _, order := range []radpool.Order{radpool.FreshestInDelay, radpool.NewestFirst} {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		q, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: 2000, Order: order})
		if err != nil {
			t.Fatal(err)
		}
		const flows, rounds = 20, 20_000
		demand := make([]float64, flows) // jobs a round; 10 are taken
		for i := range demand {
			demand[i] = 0.05 * float64(1+i*i/4)
		}
		got := make([]float64, flows)
		now := queueEpoch
		for range rounds {
			now = now.Add(time.Millisecond)
			for f, d := range demand {
				for ; d > 0; d-- {
					if d >= 1 || r.Float64() < d {
						q.Push(now, radpool.ClassAccess, uint64(f), now.Add(3*time.Second), f)
					}
				}
			}
			for range 10 {
				for {
					if _, ok := q.Expire(now); !ok {
						break
					}
				}
				if it, ok := q.Pop(now); ok {
					got[it.Value]++
				}
			}
		}
		want := maxMin(demand, 10)
		for f := range demand {
			if share := got[f] / rounds; math.Abs(share-want[f]) > 0.01+0.07*want[f] {
				t.Errorf("%v, seed %d: flow %d asks for %.2f and gets %.2f a round, want %.2f", order, seed, f, demand[f], share, want[f])
			}
		}
	}
}

// maxMin divides capacity: nobody gets more than he asks for, and nobody less than
// another who gets more than he.
func maxMin(demand []float64, capacity float64) []float64 {
	order := make([]int, len(demand))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if demand[a] < demand[b] {
			return -1
		}
		return 1
	})
	share := make([]float64, len(demand))
	for n, f := range order {
		share[f] = min(demand[f], capacity/float64(len(order)-n))
		capacity -= share[f]
	}
	return share
}

// When the queue is full it is the one who fills it that loses something.
func TestQueueFullTakesFromTheLongestFlow(t *testing.T) {
	for order, want := range map[radpool.Order]string{
		radpool.OldestFirst: "A1 B1 C1 A2 B2",
		radpool.NewestFirst: "C1 B2 A5 B1 A4",
	} {
		q := newFlowQueue(t, 5, order)
		push := func(v, out string, why radpool.Drop) {
			t.Helper()
			it, ok := q.Push(queueEpoch, radpool.ClassAccess, uint64(v[0]), time.Time{}, v)
			if it.Value != out || it.Why != why || ok != (why != radpool.DropRefused) {
				t.Errorf("%v: push %s: %q %v, want %q %v", order, v, it.Value, it.Why, out, why)
			}
		}
		for _, v := range []string{"A1", "A2", "A3", "A4"} {
			push(v, "", radpool.DropNone)
		}
		push("B1", "", radpool.DropNone)
		if order == radpool.OldestFirst {
			push("A5", "A5", radpool.DropRefused)
			push("B2", "A4", radpool.DropEvicted)
			push("C1", "A3", radpool.DropEvicted)
			push("B3", "B3", radpool.DropRefused) // A has 2, as B
		} else {
			push("A5", "A1", radpool.DropEvicted)
			push("B2", "A2", radpool.DropEvicted)
			push("C1", "A3", radpool.DropEvicted)
		}
		if got := drainQueue(q, queueEpoch); got != want {
			t.Errorf("%v: %s, want %s", order, got, want)
		}
	}
}

func TestQueueFullOfSingles(t *testing.T) {
	q := newFlowQueue(t, 2, radpool.NewestFirst)
	q.Push(queueEpoch, radpool.ClassAccess, 1, time.Time{}, "old")
	q.Push(queueEpoch, radpool.ClassAccess, 2, time.Time{}, "new")
	if it, ok := q.Push(queueEpoch, radpool.ClassAccess, 3, time.Time{}, "newest"); !ok || it.Value != "old" || it.Why != radpool.DropEvicted {
		t.Errorf("%+v, %v", it, ok)
	}
	if it, ok := q.Push(queueEpoch, radpool.ClassInterim, 3, time.Time{}, "interim"); ok || it.Why != radpool.DropRefused {
		t.Errorf("%+v, %v", it, ok)
	}
}

// More flows than are told apart cost no more memory, and nothing is lost.
func TestQueueBoundsFlows(t *testing.T) {
	q, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const n = 4 * radpool.MaxFlows
	for storm := range 2 {
		for i := range n {
			q.Push(queueEpoch, radpool.Class(i%radpool.NumClasses), uint64(i)*2654435761, time.Time{}, i)
		}
		all, _ := q.Flows()
		if most := radpool.MaxFlows + 1024*radpool.NumClasses; all > most || all < radpool.MaxFlows {
			t.Errorf("%d flows, at most %d", all, most)
		}
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, n)
		for q.Len() > 0 {
			it, _ := q.Pop(queueEpoch)
			if seen[it.Value] {
				t.Fatalf("%d came twice", it.Value)
			}
			seen[it.Value] = true
		}
		if slices.Contains(seen, false) {
			t.Error("something is lost")
		}
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		if all, _ := q.Flows(); all > 16*radpool.NumClasses || q.Footprint() > 32<<10 {
			t.Errorf("storm %d: empty, it keeps %d flows and %d octets", storm, all, q.Footprint())
		}
	}
}

func TestQueueLongest(t *testing.T) {
	q := newFlowQueue(t, 100, radpool.FreshestInDelay)
	for i, v := range []string{"A", "B", "B", "C", "C", "C"} {
		q.Push(queueEpoch.Add(time.Duration(i)*time.Second), radpool.ClassAccess, uint64(v[0]), time.Time{}, v)
	}
	for range 2 {
		q.Push(queueEpoch, radpool.ClassInterim, 'B', time.Time{}, "B")
	}
	got := q.Longest(queueEpoch.Add(10*time.Second), 2)
	want := []radpool.FlowStats{
		{Flow: 'B', Queued: [radpool.NumClasses]int{radpool.ClassAccess: 2, radpool.ClassInterim: 2}, Total: 4, Oldest: 10 * time.Second},
		{Flow: 'C', Queued: [radpool.NumClasses]int{radpool.ClassAccess: 3}, Total: 3, Oldest: 7 * time.Second},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := len(q.Longest(queueEpoch, 100)); n != 3 {
		t.Errorf("%d flows of 3", n)
	}
	if n := len(q.Longest(queueEpoch, -1)); n != 0 {
		t.Errorf("%d flows of none", n)
	}
}

// The longest of many are found, beside sorting them all.
func TestQueueLongestOfMany(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	q := newFlowQueue(t, 1<<20, radpool.FreshestInDelay)
	lengths := make([]int, 300)
	for f := range lengths {
		lengths[f] = 1 + r.IntN(100)
		for range lengths[f] {
			q.Push(queueEpoch, radpool.ClassAccess, uint64(f), time.Time{}, "")
		}
	}
	slices.Sort(lengths)
	slices.Reverse(lengths)
	got := q.Longest(queueEpoch, 50)
	for i, s := range got {
		if s.Total != lengths[i] {
			t.Fatalf("seed %d: number %d has %d, want %d", seed, i, s.Total, lengths[i])
		}
	}
	if len(got) != 50 {
		t.Errorf("%d flows of 50", len(got))
	}
}
