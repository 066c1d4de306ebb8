package eap_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/radpool/radpool/eap"
)

var (
	now  = time.Unix(1_700_000_000, 0)
	nas1 = netip.MustParseAddr("192.0.2.1")
	nas2 = netip.MustParseAddr("2001:db8::2")
)

// A naive is a Table written down without thought of speed.
type naive struct {
	timeout time.Duration
	most    int
	list    []waiting // oldest first
	dropped []int
	stats   eap.TableStats
}

type waiting struct {
	state  eap.State
	client netip.Addr
	until  time.Time
	value  int
}

func (n *naive) expire(now time.Time) {
	for len(n.list) > 0 && !now.Before(n.list[0].until) {
		n.dropped, n.list = append(n.dropped, n.list[0].value), n.list[1:]
		n.stats.TimedOut++
	}
}

func (n *naive) put(now time.Time, client netip.Addr, s eap.State, value int) {
	n.expire(now)
	if len(n.list) == n.most {
		n.dropped, n.list = append(n.dropped, n.list[0].value), n.list[1:]
		n.stats.Pushed++
	}
	n.list = append(n.list, waiting{s, client, now.Add(n.timeout), value})
}

func (n *naive) take(now time.Time, client netip.Addr, s []byte) (int, bool) {
	n.expire(now)
	for i, w := range n.list {
		if string(w.state[:]) == string(s) && w.client == client {
			n.list = slices.Delete(slices.Clone(n.list), i, i+1)
			return w.value, true
		}
	}
	n.stats.Unknown++
	return 0, false
}

func TestTableAgainstNaive(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for round := range 50 {
		ref := &naive{timeout: time.Duration(1+rnd.IntN(20)) * time.Second, most: 1 + rnd.IntN(10)}
		var dropped []int
		table := eap.NewTable(ref.timeout, ref.most, func(v int) { dropped = append(dropped, v) })
		at := now
		states := make([]eap.State, 0, 400)
		for i := range 400 {
			at = at.Add(time.Duration(rnd.IntN(3)) * time.Second)
			client := nas1
			if rnd.IntN(4) == 0 {
				client = nas2
			}
			if rnd.IntN(2) == 0 {
				s := table.Put(at, client, i)
				ref.put(at, client, s, i)
				states = append(states, s)
			} else {
				state := []byte("short")
				if len(states) > 0 && rnd.IntN(10) > 0 {
					state = slices.Clone(states[max(0, len(states)-1-rnd.IntN(12))][:])
				}
				got, s, ok := table.Take(at, client, state)
				want, wantOK := ref.take(at, client, state)
				if got != want || ok != wantOK {
					t.Fatalf("seed %d, round %d, step %d: took %d, %t, want %d, %t", seed, round, i, got, ok, want, wantOK)
				}
				if ok && rnd.IntN(3) == 0 {
					table.PutBack(at, client, s, got)
					ref.put(at, client, s, got)
				}
			}
			ref.stats.Waiting = len(ref.list)
			if got := table.Stats(at); got != ref.stats {
				t.Fatalf("seed %d, round %d, step %d: %+v, want %+v", seed, round, i, got, ref.stats)
			}
		}
		if fmt.Sprint(dropped) != fmt.Sprint(ref.dropped) {
			t.Fatalf("seed %d, round %d: dropped %v, want %v", seed, round, dropped, ref.dropped)
		}
	}
}

// TestHalfOpen begins a million conversations that nobody goes on with: the table
// stays as large as it may be, and lets go of the others.
func TestHalfOpen(t *testing.T) {
	const begun, most = 1_000_000, 1000
	closed := 0
	table := eap.NewTable(0, most, func(c *eap.Conversation) { c.Close(); closed++ })
	config := &eap.Config{Methods: []eap.Method{eap.MD5{}}}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	for range begun {
		c, _ := eap.Begin(config, identity("mallory"), 0)
		table.Put(now, nas1, c)
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	if grown := int64(m.HeapAlloc) - int64(before); grown > most*2000 {
		t.Errorf("the heap has grown by %d octets for %d conversations", grown, most)
	}
	if s := table.Stats(now); s.Waiting != most || s.Pushed != begun-most || closed != begun-most {
		t.Errorf("%+v, %d closed", s, closed)
	}
	if s := table.Stats(now.Add(eap.DefaultTimeout)); s.Waiting != 0 || s.TimedOut != most {
		t.Errorf("%+v", s)
	}
}

func TestStatesDiffer(t *testing.T) {
	table := eap.NewTable[int](0, 0, nil)
	seen := make(map[eap.State]bool)
	for i := range 10_000 {
		seen[table.Put(now, nas1, i)] = true
	}
	if len(seen) != 10_000 {
		t.Errorf("%d different States of 10000", len(seen))
	}
}
