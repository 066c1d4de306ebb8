package benchmarks

import (
	"bytes"
	"container/heap"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/radpool/radpool/cache"
)

// mapTable is the reference: a map and a heap of expiries under a mutex.
type mapTable struct {
	mu      sync.Mutex
	entries map[cache.Key]*mapEntry
	expires expiries
}

type mapEntry struct {
	request  cache.Request
	answered bool
	reply    []byte
	expires  time.Time
}

func newMapTable(*testing.B, int) table { return &mapTable{entries: map[cache.Key]*mapEntry{}} }

func (t *mapTable) begin(now time.Time, r *cache.Request, dst []byte) (cache.Verdict, []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.expires) > 0 && !t.expires[0].expires.After(now) {
		e := heap.Pop(&t.expires).(*mapEntry)
		if t.entries[e.request.Key] == e {
			delete(t.entries, e.request.Key)
		}
	}
	switch e := t.entries[r.Key]; {
	case e == nil || e.request != *r:
		t.entries[r.Key] = &mapEntry{request: *r}
		return cache.Fresh, dst
	case !e.answered:
		return cache.InFlight, dst
	default:
		return cache.Replay, append(dst, e.reply...)
	}
}

func (t *mapTable) finish(now time.Time, r *cache.Request, reply []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[r.Key]
	if e == nil || e.request != *r || e.answered {
		return false
	}
	e.answered, e.reply, e.expires = true, bytes.Clone(reply), now.Add(retained)
	heap.Push(&t.expires, e)
	return true
}

func (t *mapTable) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

// expiries is a heap.Interface, the soonest first.
type expiries []*mapEntry

func (h expiries) Len() int           { return len(h) }
func (h expiries) Less(i, j int) bool { return h[i].expires.Before(h[j].expires) }
func (h expiries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiries) Push(x any)        { *h = append(*h, x.(*mapEntry)) }
func (h *expiries) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}

// otterTable is a general cache with expiry. It has no limit in entries: its
// policy when full, to drop what is used least, would forget requests in flight.
type otterTable struct {
	c     *otter.Cache[cache.Key, *otterEntry]
	clock *otterClock
}

// An otterEntry is never changed: who answers puts a new one in its place.
type otterEntry struct {
	request  cache.Request
	answered bool
	reply    []byte
}

// otterClock is the time that the benchmark says it is.
type otterClock struct{ now atomic.Int64 }

func (c *otterClock) NowNano() int64                      { return c.now.Load() }
func (c *otterClock) Tick(time.Duration) <-chan time.Time { return nil }

func newOtterTable(b *testing.B, _ int) table {
	clock := new(otterClock)
	c, err := otter.New(&otter.Options[cache.Key, *otterEntry]{
		ExpiryCalculator: otter.ExpiryWriting[cache.Key, *otterEntry](retained),
		Clock:            clock,
	})
	if err != nil {
		b.Fatal(err)
	}
	return &otterTable{c: c, clock: clock}
}

func (t *otterTable) begin(now time.Time, r *cache.Request, dst []byte) (cache.Verdict, []byte) {
	t.clock.now.Store(now.UnixNano())
	e, ok := t.c.GetIfPresent(r.Key)
	if !ok {
		var fresh bool
		if e, fresh = t.c.SetIfAbsent(r.Key, &otterEntry{request: *r}); fresh {
			return cache.Fresh, dst
		}
	}
	switch {
	case e.request != *r:
		t.c.Set(r.Key, &otterEntry{request: *r})
		return cache.Fresh, dst
	case !e.answered:
		return cache.InFlight, dst
	default:
		return cache.Replay, append(dst, e.reply...)
	}
}

func (t *otterTable) finish(now time.Time, r *cache.Request, reply []byte) bool {
	t.clock.now.Store(now.UnixNano())
	e, ok := t.c.GetIfPresent(r.Key)
	if !ok || e.request != *r || e.answered {
		return false
	}
	t.c.Set(r.Key, &otterEntry{request: *r, answered: true, reply: bytes.Clone(reply)})
	return true
}

func (t *otterTable) len() int {
	t.c.CleanUp()
	return t.c.EstimatedSize()
}
