package cache_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// ledger is what the goroutines of TestConcurrent know together: which Tickets
// they hold.
type ledger struct {
	t    *testing.T
	keys [keysInPlay]struct {
		sync.Mutex
		held []cache.Ticket
	}
}

const (
	keysInPlay           = 40
	authenticatorsInPlay = 3
	maxInPlay            = 24
)

// Any number of goroutines: at most one Ticket of a key is live at any time,
// MaxRequests holds, a replay has the octets of its own request, and in the
// end the numbers add up.
func TestConcurrent(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, err := cache.New(cache.Config{MaxRequests: maxInPlay, Shards: 4})
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{t: t}
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() { l.play(c, rand.New(rand.NewPCG(seed, g)), 4000) })
	}
	wg.Wait()

	stats := c.Stats()
	if stats.InFlight != 0 || stats.Entries != stats.Retained {
		t.Errorf("in the end: %+v", stats)
	}
	checkIdentities(t, stats)
	c.Expire(start.Add(time.Hour))
	if stats = c.Stats(); stats.Retained != 0 || stats.Bytes != 0 {
		t.Errorf("after all expired: %+v", stats)
	}
	checkIdentities(t, stats)
	if v := fill(c); v != maxInPlay {
		t.Errorf("%d requests fit in the end, want %d", v, maxInPlay)
	}
}

func checkIdentities(t *testing.T, s cache.Stats) {
	t.Helper()
	if began, ended := s.Begun+s.Superseded, s.Finished+s.Unanswered+s.Abandoned+s.Superseded; began != ended+uint64(s.InFlight) {
		t.Errorf("%d began, %d ended, %d are in flight", began, ended, s.InFlight)
	}
	if ended, gone := s.Finished+s.Unanswered, s.Expired+s.Evicted+s.Replaced; ended != gone+uint64(s.Retained) {
		t.Errorf("%d were retained, %d are gone, %d are left", ended, gone, s.Retained)
	}
}

// fill puts requests in flight until the table is full: a place that was lost on the
// way would show.
func fill(c *cache.Cache) (n int) {
	for {
		r := million(n)
		if _, v, _ := c.Begin(start.Add(time.Hour), &r, nil); v != cache.Fresh {
			return n
		}
		n++
	}
}

func (l *ledger) play(c *cache.Cache, random *rand.Rand, n int) {
	now := start
	for range n {
		now = now.Add(time.Duration(random.IntN(20)-2) * time.Millisecond)
		key, auth := random.IntN(keysInPlay), random.IntN(authenticatorsInPlay)
		r := request(key, 2*auth)
		ticket, v, reply := c.Begin(now, &r, nil)
		switch v {
		case cache.Replay:
			if want := replyOf(key, auth, len(reply)); !bytes.Equal(reply, want) {
				l.t.Errorf("key %d: a replay of another request", key)
			}
		case cache.Fresh, cache.Superseded:
			l.run(ticket, key, auth, now, random)
		case cache.Full:
			c.Expire(now)
		}
		if random.IntN(50) == 0 {
			if s := c.Stats(); s.Entries > maxInPlay {
				l.t.Errorf("%d entries of %d", s.Entries, maxInPlay)
			}
		}
	}
}

// run is what a worker does with a live Ticket.
func (l *ledger) run(ticket cache.Ticket, key, auth int, now time.Time, random *rand.Rand) {
	l.hold(key, ticket)
	defer l.drop(key, ticket)
	if random.IntN(2) == 0 {
		runtime.Gosched()
	}
	ticket.Seen()
	switch random.IntN(4) {
	case 0:
		ticket.Abandon()
	case 1:
		ticket.NoReply(now)
	default:
		ticket.Finish(now, replyOf(key, auth, 1+random.IntN(200)))
	}
	if ticket.Current() {
		l.t.Errorf("key %d: a Ticket is live after its end", key)
	}
}

// hold notes a Ticket and looks at all of its key. Each was live from before
// the first look until it was last seen current, so two that are
// current were live together.
func (l *ledger) hold(key int, ticket cache.Ticket) {
	k := &l.keys[key]
	k.Lock()
	defer k.Unlock()
	k.held = append(k.held, ticket)
	live := 0
	for _, t := range k.held {
		if t.Current() {
			live++
		}
	}
	if live > 1 {
		l.t.Errorf("key %d: %d Tickets are live", key, live)
	}
}

func (l *ledger) drop(key int, ticket cache.Ticket) {
	k := &l.keys[key]
	k.Lock()
	defer k.Unlock()
	k.held = slices.DeleteFunc(k.held, func(t cache.Ticket) bool { return t == ticket })
}

// replyOf makes a reply of a length that only this request has.
func replyOf(key, auth, length int) []byte {
	seed := binary.BigEndian.AppendUint16(nil, uint16(key*authenticatorsInPlay+auth))
	return bytes.Repeat(seed, length/2+1)[:length]
}
