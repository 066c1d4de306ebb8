package cache_test

import (
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// A storm's memory is given back when it is over, and an idle cache holds none.
func TestMemoryFollowsUse(t *testing.T) {
	const storm = 50_000
	s := newScene(t, cache.Config{})
	if bytes := s.c.Stats().Bytes; bytes != 0 {
		t.Fatalf("%d octets before the first request", bytes)
	}
	live := func(first, n int) {
		for i := range n {
			answer(t, s.c, s.now, first+i, make([]byte, 64))
		}
	}
	live(0, storm)
	peak := s.c.Stats().Bytes
	if each := peak / storm; each > 220 {
		t.Errorf("%d octets an entry at the peak", each)
	}
	// A hundredth of the load goes on: the old entries go, and what is new
	// gathers in few segments.
	for i := range 100 {
		s.wait(200 * time.Millisecond)
		live(storm+i*10, 10)
		s.c.Expire(s.now)
	}
	if after := s.c.Stats().Bytes; after > peak/20 {
		t.Errorf("%d octets after the storm, %d at its peak", after, peak)
	}
	s.wait(time.Minute)
	if next := s.c.Expire(s.now); !next.IsZero() {
		t.Errorf("Expire of an empty cache returns %v", next)
	}
	if stats := s.c.Stats(); stats.Bytes != 0 || stats.Retained != 0 || stats.ReplyBytes != 0 {
		t.Errorf("idle: %+v", stats)
	}
}

// A server under load never calls Expire: Begin alone keeps up.
func TestBeginFreesWhatExpires(t *testing.T) {
	s := newScene(t, cache.Config{})
	const perSecond, seconds = 1000, 60
	for n := range perSecond * seconds {
		s.wait(time.Second / perSecond)
		answer(t, s.c, s.now, n, []byte("reply"))
	}
	stats := s.c.Stats()
	if least := 10 * perSecond; stats.Retained < least || stats.Retained > least+least/10 {
		t.Errorf("%d retained, want about %d", stats.Retained, least)
	}
	if stats.Evicted != 0 {
		t.Errorf("%d evicted", stats.Evicted)
	}
}

// Expire says when to come again, and then there is something to do.
func TestExpireTellsWhen(t *testing.T) {
	s := newScene(t, cache.Config{Shards: 4})
	for n := range 100 {
		answer(t, s.c, s.now, n, []byte("reply"))
		s.wait(time.Second / 100)
	}
	for rounds := 0; ; rounds++ {
		before := s.c.Stats().Expired
		next := s.c.Expire(s.now)
		if next.IsZero() {
			break
		}
		if !next.After(s.now) {
			t.Fatalf("Expire at %v returns %v", s.now, next)
		}
		if rounds > 0 && s.c.Stats().Expired == before {
			t.Fatalf("nothing expired at %v", s.now)
		}
		s.now = next
	}
	if got := s.c.Stats().Expired; got != 100 {
		t.Fatalf("%d expired, want 100", got)
	}
}

// A request in flight alone needs no timer.
func TestExpireWithNothingRetained(t *testing.T) {
	s := newScene(t, cache.Config{})
	s.begin(access, cache.Fresh)
	if next := s.c.Expire(s.now); !next.IsZero() {
		t.Fatalf("Expire returns %v", next)
	}
}

// However many are due at once, one call sees to all.
func TestExpireIsComplete(t *testing.T) {
	const n = 2000
	s := newScene(t, cache.Config{Shards: 1})
	for i := range n {
		answer(t, s.c, s.now, i, []byte("reply"))
		s.begin(million(n+2*i), cache.Fresh)
		s.begin(million(n+2*i+1), cache.Fresh)
	}
	s.wait(time.Minute)
	s.c.Expire(s.now)
	if stats := s.c.Stats(); stats.Expired != n || stats.Retained != 0 || stats.Tombstones != 2*n {
		t.Fatalf("%+v", stats)
	}
}
