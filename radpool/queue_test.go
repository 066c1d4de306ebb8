package radpool_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

var queueEpoch = time.Unix(1_700_000_000, 0)

func newTestQueue(t testing.TB, most int) *radpool.Queue[string] {
	t.Helper()
	q, err := radpool.NewQueue(radpool.QueueConfig[string]{MaxQueueSize: most})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// pushQueue pushes without a deadline, and fails the test unless what is
// dropped is as wanted.
func pushQueue(t *testing.T, q *radpool.Queue[string], c radpool.Class, v, wantOut string, wantWhy radpool.Drop) {
	t.Helper()
	out, ok := q.Push(queueEpoch, c, 0, time.Time{}, v)
	if out.Value != wantOut || out.Why != wantWhy || ok != (wantWhy != radpool.DropRefused) {
		t.Errorf("push %q: %+v, %v; want %q %v", v, out, ok, wantOut, wantWhy)
	}
}

func drainQueue(q *radpool.Queue[string], now time.Time) string {
	var all []string
	for {
		it, ok := q.Pop(now)
		if !ok {
			return strings.Join(all, " ")
		}
		v := it.Value
		if it.Why != radpool.DropNone {
			v += "!" + it.Why.String()
		}
		all = append(all, v)
	}
}

func TestQueueBounds(t *testing.T) {
	for _, most := range []int{-1, radpool.MaxQueueLen + 1} {
		if _, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: most}); err == nil || !strings.Contains(err.Error(), "must be from 1 to 16777216") {
			t.Errorf("max %d: %v", most, err)
		}
	}
	if q := newTestQueue(t, 3); q.Max() != 3 || q.Len() != 0 {
		t.Errorf("Max %d, Len %d", q.Max(), q.Len())
	}
}

func TestQueuePopsByClassThenByArrival(t *testing.T) {
	q := newTestQueue(t, 10)
	for _, e := range []struct {
		class radpool.Class
		v     string
	}{
		{radpool.ClassInterim, "i1"}, {radpool.ClassAccess, "a1"}, {radpool.ClassAccounting, "s1"},
		{radpool.ClassAccess, "a2"}, {radpool.ClassStatus, "p1"}, {radpool.ClassInterim, "i2"},
	} {
		pushQueue(t, q, e.class, e.v, "", radpool.DropNone)
	}
	if got := drainQueue(q, queueEpoch); got != "p1 a1 a2 s1 i1 i2" {
		t.Error(got)
	}
}

// FreeRADIUS has a rule like it that never does anything: its loop over the
// lower classes ends before it begins.
func TestQueueFullEvictsNewestOfLowestClass(t *testing.T) {
	q := newTestQueue(t, 4)
	pushQueue(t, q, radpool.ClassInterim, "i1", "", radpool.DropNone)
	pushQueue(t, q, radpool.ClassInterim, "i2", "", radpool.DropNone)
	pushQueue(t, q, radpool.ClassAccounting, "s1", "", radpool.DropNone)
	pushQueue(t, q, radpool.ClassAccess, "a1", "", radpool.DropNone)

	pushQueue(t, q, radpool.ClassInterim, "i3", "i3", radpool.DropRefused)
	pushQueue(t, q, radpool.ClassAccess, "a2", "i2", radpool.DropEvicted)
	pushQueue(t, q, radpool.ClassAccounting, "s2", "i1", radpool.DropEvicted)
	pushQueue(t, q, radpool.ClassAccounting, "s3", "s3", radpool.DropRefused)
	pushQueue(t, q, radpool.ClassStatus, "p1", "s2", radpool.DropEvicted)
	pushQueue(t, q, radpool.ClassAccess, "a3", "s1", radpool.DropEvicted)
	pushQueue(t, q, radpool.ClassAccess, "a4", "a4", radpool.DropRefused)
	if got := drainQueue(q, queueEpoch); got != "p1 a1 a2 a3" {
		t.Error(got)
	}
}

// What has expired goes first whatever its class and place: the entry in the
// middle whose NAS has less patience, before any that is still wanted.
func TestQueueFullDropsExpiredBeforeLive(t *testing.T) {
	q := newTestQueue(t, 3)
	at := func(d time.Duration) time.Time { return queueEpoch.Add(d) }
	q.Push(at(0), radpool.ClassAccess, 0, at(9*time.Second), "patient")
	q.Push(at(0), radpool.ClassAccess, 0, at(3*time.Second), "hasty")
	q.Push(at(0), radpool.ClassInterim, 0, time.Time{}, "interim")

	out, ok := q.Push(at(3*time.Second-1), radpool.ClassInterim, 0, time.Time{}, "early")
	if ok || out.Why != radpool.DropRefused {
		t.Errorf("a nanosecond before: %+v, %v", out, ok)
	}
	out, ok = q.Push(at(3*time.Second), radpool.ClassInterim, 0, time.Time{}, "late")
	want := radpool.Item[string]{Value: "hasty", Class: radpool.ClassAccess, Waited: 3 * time.Second, Why: radpool.DropExpired}
	if !ok || out != want {
		t.Errorf("at the deadline: %+v, %v; want %+v", out, ok, want)
	}
	if got := drainQueue(q, at(9*time.Second)); got != "patient!expired interim late" {
		t.Error(got)
	}
}

func TestQueueRefusesWhatHasExpired(t *testing.T) {
	q := newTestQueue(t, 2)
	out, ok := q.Push(queueEpoch, radpool.ClassAccess, 0, queueEpoch, "old")
	if ok || out.Value != "old" || out.Why != radpool.DropExpired || q.Len() != 0 {
		t.Errorf("%+v, %v, %d entries", out, ok, q.Len())
	}
}

func TestQueueUnknownClassPanics(t *testing.T) {
	defer func() {
		if v, _ := recover().(string); !strings.HasPrefix(v, "radpool: Queue.Push: class 5") {
			t.Errorf("panic %q", v)
		}
	}()
	newTestQueue(t, 1).Push(queueEpoch, radpool.NumClasses, 0, time.Time{}, "")
}

// The bound of FreeRADIUS at which "the server uses about 1 GB more memory".
const stormSize = 1 << 20

func TestQueueMemoryFollowsUse(t *testing.T) {
	const stormSize = stormSize / 8
	q, err := radpool.NewQueue(radpool.QueueConfig[*int]{MaxQueueSize: stormSize})
	if err != nil {
		t.Fatal(err)
	}
	if n := q.Footprint(); n > 1024 {
		t.Errorf("a new queue occupies %d octets", n)
	}
	v := new(int)
	for storm := range 2 {
		for i := range stormSize {
			// A third of them without deadlines, and the others not in order.
			var expires time.Time
			if i%3 > 0 {
				expires = queueEpoch.Add(time.Duration(3+i%7) * time.Second)
			}
			if _, ok := q.Push(queueEpoch, radpool.Class(i%radpool.NumClasses), 0, expires, v); !ok {
				t.Fatalf("refused at %d", i)
			}
		}
		if n := q.Footprint(); n > stormSize*64 {
			t.Errorf("storm %d: full, it occupies %d octets: %d an entry", storm, n, n/stormSize)
		}
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		for q.Len() > 0 {
			if q.Len()%2 == 0 {
				if _, ok := q.Expire(queueEpoch.Add(time.Minute)); ok {
					continue
				}
			}
			q.Pop(queueEpoch)
		}
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		nodes, dates := q.Segments()
		if nodes > 1 || dates > 2 || q.Footprint() > 32<<10 {
			t.Errorf("storm %d: empty, it keeps %d and %d segments, %d octets", storm, nodes, dates, q.Footprint())
		}
	}
}

// The same as the collector sees it, with everything that Footprint might have
// forgotten.
func TestQueueOfAMillionCostsAtMost256MB(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	q, err := radpool.NewQueue(radpool.QueueConfig[*int]{MaxQueueSize: stormSize})
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	v := new(int)
	for i := range stormSize {
		q.Push(queueEpoch, radpool.ClassAccess, 0, queueEpoch.Add(time.Duration(i+1)), v)
	}
	full := heap() - before
	t.Logf("%d entries: %d MB, %d octets an entry", q.Len(), full>>20, full/stormSize)
	if full > 256<<20 {
		t.Errorf("full: %d octets", full)
	}
	for q.Len() > 0 {
		q.Pop(queueEpoch)
	}
	if kept := heap() - before; kept > 1<<20 {
		t.Errorf("empty again, it keeps %d octets", kept)
	}
	runtime.KeepAlive(q)
}

// A segment that is nearly empty must be able to run empty: new entries go
// where it is fullest.
func TestQueueGivesBackWithEntriesLeft(t *testing.T) {
	q, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		q.Push(queueEpoch, radpool.ClassAccess, 0, time.Time{}, i)
	}
	for range 9_900 {
		q.Pop(queueEpoch)
	}
	if nodes, _ := q.Segments(); nodes > 3 {
		t.Errorf("100 entries in %d segments", nodes)
	}
	if err := q.Check(); err != nil {
		t.Error(err)
	}
}

func TestQueueAllocatesNothingAtRest(t *testing.T) {
	q, err := radpool.NewQueue(radpool.QueueConfig[*int]{MaxQueueSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	v, now := new(int), queueEpoch
	allocs := testing.AllocsPerRun(1000, func() {
		now = now.Add(time.Microsecond)
		for range 3 {
			q.Push(now, radpool.ClassAccess, 0, now.Add(time.Second), v)
		}
		for range 3 {
			q.Pop(now)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestNames(t *testing.T) {
	var got []string
	for c := range radpool.Class(radpool.NumClasses + 1) {
		got = append(got, c.String())
	}
	for d := range radpool.DropClosed + 2 {
		got = append(got, d.String())
	}
	want := "status conversation access accounting interim Class(5) none refused evicted expired closed Drop(5)"
	if s := strings.Join(got, " "); s != want {
		t.Error(s)
	}
}

func BenchmarkQueuePushPop(b *testing.B) {
	for _, c := range []struct{ depth, flows int }{{0, 1}, {0, 100}, {1000, 1}, {1000, 100}, {1 << 20, 1}, {1 << 20, 5000}} {
		b.Run(fmt.Sprintf("depth=%d/flows=%d", c.depth, c.flows), func(b *testing.B) {
			q, err := radpool.NewQueue(radpool.QueueConfig[*int]{MaxQueueSize: c.depth + 1})
			if err != nil {
				b.Fatal(err)
			}
			v, now, flow := new(int), queueEpoch, 0
			push := func() {
				now = now.Add(time.Microsecond)
				flow = (flow + 1) % c.flows
				q.Push(now, radpool.ClassAccess, uint64(flow), now.Add(time.Second), v)
			}
			for range c.depth {
				push()
			}
			b.ReportAllocs()
			for b.Loop() {
				push()
				q.Pop(now)
			}
		})
	}
}
