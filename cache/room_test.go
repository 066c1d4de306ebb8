package cache_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// Tests of making room over shards. They hold a shard's lock to stop a Begin
// half-way, where it holds none.

// inShard is a hash that files a request in one of n shards.
func inShard(i, n int) uint64 { return (uint64(i)<<32/uint64(n) + 1) << 32 }

// MaxRequests holds over all shards, and a shard that has nothing to evict
// takes from another.
func TestShardsShareMaxRequests(t *testing.T) {
	const most = 64
	s := newScene(t, cache.Config{MaxRequests: most, Shards: 16})
	for n := range most {
		answer(t, s.c, s.now, n, []byte("reply"))
	}
	for n := range most { // every retained entry makes room for one in flight
		if cache.Exhausted(s.c) {
			t.Fatalf("exhausted with %d requests in flight", n)
		}
		s.begin(million(1000+n), cache.Fresh)
		if stats := s.c.Stats(); stats.InFlight+stats.Retained != most || stats.Evicted != uint64(n+1) {
			t.Fatalf("after %d: %+v", n+1, stats)
		}
	}
	last, _ := s.begin(million(2000), cache.Full)
	s.is("exhausted", cache.Exhausted(s.c), true)
	s.is("Abandon", last.Abandon(), false)
}

// The promise when more arrive than fit: every request runs, the newest
// MaxRequests of them are answered again, the oldest made room, and those in
// flight stay, however old.
func TestMoreArriveThanFit(t *testing.T) {
	const most, arrive, inFlight = 1000, 5000, 10
	s := newScene(t, cache.Config{MaxRequests: most, Shards: 1})
	for n := range inFlight {
		s.begin(million(n), cache.Fresh)
	}
	reply := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	step := cache.DefaultCleanupDelay / (3 * most) // three times what it sustains
	for n := inFlight; n < arrive; n++ {
		s.wait(step)
		answer(t, s.c, s.now, n, reply(n))
	}
	stats := s.c.Stats()
	if stats.Full != 0 || stats.Entries != most || stats.Expired != 0 || stats.Evicted != arrive-most {
		t.Errorf("%+v", stats)
	}
	for n := range inFlight {
		s.begin(million(n), cache.InFlight)
	}
	for n := arrive - most + inFlight; n < arrive; n++ {
		if _, got := s.begin(million(n), cache.Replay); !bytes.Equal(got, reply(n)) {
			t.Fatalf("request %d: the reply is %x", n, got)
		}
	}
	s.begin(million(arrive-most+inFlight-1), cache.Fresh)
}

// An entry in flight that was given up leaves room too.
func TestExhaustedNeedsAllPlaces(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 2})
	s.begin(million(1), cache.Fresh)
	ticket, _ := s.begin(million(2), cache.Fresh)
	s.is("exhausted", cache.Exhausted(s.c), true)
	s.is("Abandon", ticket.Abandon(), true)
	s.is("exhausted", cache.Exhausted(s.c), false)
}

// Two copies of a request both fetch a place from another shard: one
// runs, and the place of the other is given back.
func TestCopiesAtAFullTable(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 2, Shards: 2})
	for n := range 2 {
		r := million(n)
		ticket, _, _ := cache.BeginHashed(s.c, s.now, &r, nil, inShard(0, 2))
		s.is("NoReply", ticket.NoReply(s.now), true)
	}
	unlock := cache.LockShard(s.c, 0)
	verdicts := make(chan cache.Verdict, 2)
	for range 2 {
		s.wait(time.Millisecond)
		go func(now time.Time) {
			r := million(100)
			_, v, _ := cache.BeginHashed(s.c, now, &r, nil, inShard(1, 2))
			verdicts <- v
		}(s.now)
		for !cache.Visited(s.c, 1, s.now) {
			runtime.Gosched()
		}
	}
	unlock()
	if a, b := <-verdicts, <-verdicts; a+b != cache.Fresh+cache.InFlight {
		t.Errorf("%v and %v, want Fresh and InFlight", a, b)
	}
	if stats := s.c.Stats(); stats.Entries != 1 || stats.InFlight != 1 || stats.Evicted != 2 {
		t.Errorf("%+v", stats)
	}
}

// A reply that is retained behind the back of the search for room is found.
func TestRoomMadeBehindTheSearch(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 3, Shards: 3})
	var ticket cache.Ticket // the one in shard 1
	for i := range 3 {
		r := million(i)
		if got, _, _ := cache.BeginHashed(s.c, s.now, &r, nil, inShard(i, 3)); i == 1 {
			ticket = got
		}
	}

	unlock := cache.LockShard(s.c, 2)
	s.wait(time.Second)
	verdict := make(chan cache.Verdict)
	go func(now time.Time) {
		r := million(100)
		_, v, _ := cache.BeginHashed(s.c, now, &r, nil, inShard(0, 3))
		verdict <- v
	}(s.now)
	for !cache.Visited(s.c, 1, s.now) { // where there was nothing to evict
		runtime.Gosched()
	}
	s.is("NoReply", ticket.NoReply(s.now), true)
	unlock()
	if v := <-verdict; v != cache.Fresh {
		t.Errorf("%v, want Fresh", v)
	}
}

// As many goroutines as places, each with one request at a time: there is
// always one to make room, in whatever shard, so the table is never full.
func TestNeverFullWhileAnyIsRetained(t *testing.T) {
	const goroutines, each = 4, 20_000
	c, err := cache.New(cache.Config{MaxRequests: goroutines, Shards: goroutines})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for n := range each {
				r := million(g*each + n)
				ticket, v, _ := c.Begin(start, &r, nil)
				if v != cache.Fresh {
					t.Errorf("%v, want Fresh", v)
					return
				}
				if n%3 == 0 {
					ticket.Abandon()
				} else {
					ticket.NoReply(start)
				}
			}
		})
	}
	wg.Wait()
}
