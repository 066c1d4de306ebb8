package radpool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

func TestLateness(t *testing.T) {
	const ms = time.Millisecond
	type look struct {
		at, oldest time.Duration
		late       bool
	}
	for name, looks := range map[string][]look{
		"quick":                          {{0, 0, false}, {time.Hour, 100 * ms, false}},
		"a burst":                        {{0, 101 * ms, false}, {499 * ms, 400 * ms, false}, {500 * ms, 100 * ms, false}, {600 * ms, 101 * ms, false}},
		"just long enough":               {{0, 101 * ms, false}, {499 * ms, 400 * ms, false}, {500 * ms, 101 * ms, true}},
		"one good moment starts it anew": {{0, 500 * ms, false}, {400 * ms, 100 * ms, false}, {500 * ms, 500 * ms, false}, {999 * ms, 500 * ms, false}, {1000 * ms, 500 * ms, true}},
		"and ends it":                    {{0, 500 * ms, false}, {600 * ms, 500 * ms, true}, {700 * ms, 101 * ms, true}, {701 * ms, 100 * ms, false}, {702 * ms, 200 * ms, false}},
		"nobody looked for long":         {{0, time.Minute, false}, {time.Minute, time.Minute, true}},
		"a time that is not yet":         {{0, -1, false}, {time.Second, -time.Second, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var l radpool.Lateness
			for i, look := range looks {
				if got := l.Observe(look.at, look.oldest); got != look.late {
					t.Errorf("look %d: late is %v, want %v", i, got, look.late)
				}
			}
		})
	}
}

// A class that is empty is not late, nor is what was seen of it before held against it.
func TestEmptyIsNotLate(t *testing.T) {
	const ms = time.Millisecond
	expires := queueEpoch.Add(24 * time.Hour)
	for name, before := range map[string][]time.Duration{ // of jobs that come at 0, those are taken at these times
		"a job that had waited":   {101 * ms},
		"a storm to the last":     {101 * ms, 700 * ms, 800 * ms},
		"nothing":                 nil,
		"what was nearly a storm": {101 * ms, 500 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: 2})
			if err != nil {
				t.Fatal(err)
			}
			for i, at := range before {
				if i == 0 || q.Len() == 0 {
					q.Push(queueEpoch, radpool.ClassAccess, 0, expires, -1)
				}
				if i+1 < len(before) {
					q.Push(queueEpoch, radpool.ClassAccess, 0, expires, -1)
				}
				q.Pop(queueEpoch.Add(at))
			}
			if q.Len() != 0 || q.NewestFirst(radpool.ClassAccess) {
				t.Errorf("%d wait; newest first is %v", q.Len(), q.NewestFirst(radpool.ClassAccess))
			}
			later := queueEpoch.Add(time.Hour)
			for i := range 2 {
				q.Push(later, radpool.ClassAccess, 0, expires, i)
			}
			if _, ok := q.Push(later, radpool.ClassAccess, 0, expires, 2); ok {
				t.Error("an old one gave way for a new one, though the class is not late")
			}
			if out, _ := q.Pop(later.Add(150 * ms)); out.Value != 0 {
				t.Errorf("job %d came first, want 0, the oldest: nothing had waited for long before", out.Value)
			}
		})
	}
}

// Twice as much comes as is taken. Oldest first, everything that is taken has waited for
// nearly as long as it is wanted, at best; so it is FreeRADIUS's collapse. By the
// default order it is fresh from the moment that the delay is a lasting one, and when
// less comes again what is old holds nobody up.
func TestOrdersUnderOverload(t *testing.T) {
	const patience, step = 3 * time.Second, time.Millisecond
	for order, want := range map[radpool.Order]struct {
		worst time.Duration
		fresh int
	}{
		radpool.FreshestInDelay: {5 * step, 500},
		radpool.NewestFirst:     {5 * step, 500},
		radpool.OldestFirst:     {patience, 0},
	} {
		t.Run(order.String(), func(t *testing.T) {
			q, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: 1 << 20, Order: order})
			if err != nil {
				t.Fatal(err)
			}
			now := queueEpoch
			run := func(d time.Duration, each int) (worst time.Duration) {
				for range int(d / step) {
					now = now.Add(step)
					for i := range each {
						q.Push(now, radpool.ClassAccess, 0, now.Add(patience), i)
					}
					for {
						if _, ok := q.Expire(now); !ok {
							break
						}
					}
					if it, ok := q.Pop(now); ok {
						worst = max(worst, it.Waited)
					}
				}
				return worst
			}
			run(4*time.Second, 2)
			if worst := run(10*time.Second, 2); worst > want.worst || order == radpool.OldestFirst && worst < patience*9/10 {
				t.Errorf("overload: a job had waited for %v, want %v", worst, want.worst)
			}
			// Half as much as can be taken: every other one is a new one, and the rest
			// of the turns go to what is left.
			fresh := 0
			for range 1000 {
				now = now.Add(step)
				if now.UnixMilli()%2 == 0 {
					q.Push(now, radpool.ClassAccess, 0, now.Add(patience), 0)
				}
				if it, _ := q.Pop(now); it.Waited <= 5*step && it.Why == radpool.DropNone {
					fresh++
				}
			}
			if fresh < want.fresh || order == radpool.OldestFirst && fresh > 0 {
				t.Errorf("after it: of 500 new jobs %d were taken at once, want %d", fresh, want.fresh)
			}
			for q.Len() > 0 {
				q.Pop(now)
			}
			q.Push(now, radpool.ClassAccess, 0, time.Time{}, 1)
			q.Push(now, radpool.ClassAccess, 0, time.Time{}, 2)
			first, _ := q.Pop(now)
			if second, _ := q.Pop(now); (first.Value == 2) != (order == radpool.NewestFirst) || first.Value+second.Value != 3 {
				t.Errorf("when the delay is gone: %d before %d", first.Value, second.Value)
			}
		})
	}
}

func TestOrderNames(t *testing.T) {
	var got []string
	for o := range radpool.NewestFirst + 2 {
		got = append(got, o.String())
	}
	if s := strings.Join(got, " "); s != "freshest-in-delay oldest-first newest-first Order(3)" {
		t.Error(s)
	}
	if _, err := radpool.NewQueue(radpool.QueueConfig[int]{Order: 3}); err == nil || !strings.Contains(err.Error(), "QueueConfig.Order is Order(3)") {
		t.Error(err)
	}
	if q, err := radpool.NewQueue(radpool.QueueConfig[int]{}); err != nil || q.Max() != 65536 {
		t.Error(err)
	}
}

// Whatever the more urgent classes have to do, each that has anything gets its
// turn; and it gets no more than that while they have.
func TestQueueAgeing(t *testing.T) {
	q, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const turns = 4 * 64 * radpool.AgeingTurns
	for i := range turns {
		for c := range radpool.Class(radpool.NumClasses) {
			q.Push(queueEpoch, c, 0, time.Time{}, i)
		}
	}
	every := func(class int) int { return radpool.AgeingTurns << (2 * (class - 1)) }
	var got [radpool.NumClasses]int
	since := [radpool.NumClasses]int{}
	for i := range turns {
		it, _ := q.Pop(queueEpoch)
		got[it.Class]++
		since[it.Class] = i
		for c, last := range since {
			if c > 0 && i-last > every(c)+radpool.NumClasses {
				t.Fatalf("turn %d: class %v had its last turn at %d", i, radpool.Class(c), last)
			}
		}
	}
	for c, n := range got[1:] {
		if most := turns / every(c+1); n > most || n < most*9/10-1 {
			t.Errorf("turns by class: %v, want %d for %v", got, most, radpool.Class(c+1))
		}
	}
	if got[0] < turns*97/100 {
		t.Errorf("turns by class: %v, want nearly all for the most urgent", got)
	}

	// A class that was empty meanwhile has not waited.
	for q.Len() > 0 {
		q.Pop(queueEpoch)
	}
	for i := range 2 * radpool.AgeingTurns {
		q.Push(queueEpoch, radpool.ClassAccess, 0, time.Time{}, i)
	}
	q.Push(queueEpoch, radpool.ClassInterim, 0, time.Time{}, -1)
	for range radpool.AgeingTurns - 1 {
		if it, _ := q.Pop(queueEpoch); it.Class != radpool.ClassAccess {
			t.Fatal("the interim came before its turn")
		}
	}
	if it, _ := q.Pop(queueEpoch); it.Class != radpool.ClassInterim {
		t.Error("the interim did not get its turn")
	}
}

// What proves to be wanted when its time has come stays, at its place, and is
// asked about again when that time has come too.
func TestQueueRenew(t *testing.T) {
	until := map[string]time.Time{}
	asked := 0
	q, err := radpool.NewQueue(radpool.QueueConfig[string]{MaxQueueSize: 3, Renew: func(v string) time.Time {
		asked++
		return until[v]
	}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(s int) time.Time { return queueEpoch.Add(time.Duration(s) * time.Second) }
	for _, v := range []string{"asks again", "gave up", "asks once more"} {
		q.Push(at(0), radpool.ClassAccess, 0, at(3), v)
	}
	until["asks again"] = at(6)
	until["asks once more"] = at(6)
	if _, ok := q.Expire(at(2)); ok || asked != 0 {
		t.Errorf("before its time: %v, asked %d times", ok, asked)
	}
	if out, ok := q.Push(at(3), radpool.ClassAccess, 0, at(9), "new"); !ok || out.Value != "gave up" || out.Why != radpool.DropExpired {
		t.Errorf("full: %+v, %v", out, ok)
	}
	if _, ok := q.Expire(at(5)); ok {
		t.Error("something expired that had been renewed")
	}
	until["asks once more"] = at(9)
	if it, ok := q.Expire(at(6)); !ok || it.Value != "asks again" || it.Why != radpool.DropExpired {
		t.Errorf("%+v, %v", it, ok)
	}
	until["new"] = at(10)
	if got := drainQueue(q, at(9)); got != "asks once more!expired new" {
		t.Error(got)
	}
}

// One call does not renew without bound: the pool's lock is held meanwhile.
func TestQueueRenewsAFewAtATime(t *testing.T) {
	asked := 0
	q, err := radpool.NewQueue(radpool.QueueConfig[int]{MaxQueueSize: 10_000, Renew: func(int) time.Time {
		asked++
		return queueEpoch.Add(time.Hour)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		q.Push(queueEpoch, radpool.ClassAccess, 0, queueEpoch.Add(time.Second), i)
	}
	for calls := 1; calls < 100; calls++ {
		before := asked
		if _, ok := q.Expire(queueEpoch.Add(time.Minute)); ok {
			t.Fatal("something expired")
		}
		if n := asked - before; n > 100 {
			t.Fatalf("%d were asked in one call", n)
		}
	}
	if asked < 5000 {
		t.Errorf("%d were asked in 99 calls", asked)
	}
	out, ok := q.Push(queueEpoch.Add(time.Minute), radpool.ClassAccess, 0, time.Time{}, -1)
	if ok || out.Why != radpool.DropRefused {
		t.Errorf("full of what is wanted: %+v, %v", out, ok)
	}
}
