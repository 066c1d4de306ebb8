//go:build !race

package cache_test

import (
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

func TestAllocations(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 2000})
	n := 0
	reply, dst := make([]byte, 64), make([]byte, 0, cache.MaxReply)
	life := func() {
		n++
		r := million(n)
		ticket, v, _ := s.c.Begin(s.now, &r, dst)
		if v != cache.Fresh || !ticket.Current() {
			t.Fatal(v)
		}
		s.c.Begin(s.now, &r, dst)
		ticket.Seen()
		ticket.Finish(s.now, reply)
		if _, v, _ = s.c.Begin(s.now, &r, dst); v != cache.Replay {
			t.Fatal(v)
		}
		r.Authenticator[0]++
		s.c.Begin(s.now, &r, dst)
		r.Authenticator[0]++
		ticket, _, _ = s.c.Begin(s.now, &r, dst)
		ticket.NoReply(s.now)
		s.wait(time.Millisecond)
	}
	for range 10_000 { // fills the table: from here on there are evictions
		life()
	}
	if got := testing.AllocsPerRun(1000, life); got != 0 {
		t.Errorf("%v allocations a request", got)
	}
}
