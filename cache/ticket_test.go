package cache_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

func TestZeroTicketIsNotLive(t *testing.T) {
	var ticket cache.Ticket
	last, copies := ticket.Seen()
	if ticket.Current() || ticket.Finish(start, []byte("x")) || ticket.NoReply(start) || ticket.Abandon() ||
		!last.IsZero() || copies != 0 {
		t.Fatal("the zero Ticket claims to be live")
	}
}

func TestTicketEndsOnce(t *testing.T) {
	ends := map[string]func(cache.Ticket) bool{
		"Finish":  func(t cache.Ticket) bool { return t.Finish(start, []byte("reply")) },
		"NoReply": func(t cache.Ticket) bool { return t.NoReply(start) },
		"Abandon": cache.Ticket.Abandon,
	}
	for firstName, first := range ends {
		for secondName, second := range ends {
			s := newScene(t, cache.Config{})
			ticket, _ := s.begin(access, cache.Fresh)
			s.is(firstName, first(ticket), true)
			before := s.c.Stats()
			s.is(secondName+" after "+firstName, second(ticket), false)
			s.is("Current after "+firstName, ticket.Current(), false)
			after := s.c.Stats()
			before.Void++
			if after != before {
				t.Fatalf("%s after %s changed\n%+v to\n%+v", secondName, firstName, before, after)
			}
		}
	}
}

// A Ticket kept for too long never ends a request that came to its slot later.
func TestStaleTicket(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 1})
	stale, _ := s.begin(access, cache.Fresh)
	s.is("Abandon", stale.Abandon(), true)
	s.c.Expire(s.now) // the memory of its slot is given back
	s.is("Current without memory", stale.Current(), false)
	ticket, _ := s.begin(access, cache.Fresh) // the very same request in the very same slot
	s.is("Current", stale.Current(), false)
	s.is("Finish", stale.Finish(s.now, []byte("stale")), false)
	s.is("Abandon", stale.Abandon(), false)
	s.is("Current of the new", ticket.Current(), true)
}

// The same where the memory of some slots is gone and others are in use.
func TestStaleTicketsBesideLiveOnes(t *testing.T) {
	s := newScene(t, cache.Config{Shards: 1})
	var tickets []cache.Ticket
	for n := range 1000 {
		ticket, _ := s.begin(million(n), cache.Fresh)
		tickets = append(tickets, ticket)
	}
	held := s.c.Stats().Bytes
	for _, ticket := range tickets[:900] {
		s.is("Abandon", ticket.Abandon(), true)
	}
	if now := s.c.Stats().Bytes; now > held/2 {
		t.Fatalf("%d octets of %d are held for a tenth of the entries", now, held)
	}
	for n, ticket := range tickets {
		s.is("Current", ticket.Current(), n >= 900)
		s.is("Finish", ticket.Finish(s.now, []byte("reply")), n >= 900)
	}
}

func TestGenerationWraps(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 1})
	cache.SetGeneration(s.c, math.MaxUint64-2)
	var tickets []cache.Ticket
	for i := range 6 {
		ticket, _ := s.begin(withAuthenticator(access, byte(i)), map[bool]cache.Verdict{
			true: cache.Fresh, false: cache.Superseded,
		}[i == 0])
		tickets = append(tickets, ticket)
		for j, old := range tickets {
			s.is("Current", old.Current(), j == i)
		}
	}
}

func TestEmptyReplyIsSilence(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	s.is("Finish", ticket.Finish(s.now, []byte{}), true)
	s.begin(access, cache.Silent)
}

func TestReplyTooLongPanics(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	func() {
		defer func() {
			if text, _ := recover().(string); !strings.HasPrefix(text, "cache: ") || !strings.Contains(text, "4097") {
				t.Errorf("panic with %q", text)
			}
		}()
		ticket.Finish(s.now, make([]byte, cache.MaxReply+1))
	}()
	s.is("Abandon", ticket.Abandon(), true)
}

// Goroutines bring times that are a little out of order.
func TestTimeGoesBack(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 2})
	ticket, _ := s.begin(access, cache.Fresh)
	s.wait(-time.Second)
	s.begin(access, cache.InFlight)
	if last, _ := ticket.Seen(); !last.Equal(start) {
		t.Fatalf("Seen() is %v, which is before %v", last, start)
	}
	s.is("Finish", ticket.Finish(s.now, []byte("reply")), true)
	s.wait(10 * time.Second) // 9 s after start, from which the reply counts
	s.replays(access, "reply")
	s.wait(10 * time.Second)
	s.begin(access, cache.Fresh)
}

// Times that no clock gives do no harm.
func TestTimesFarApart(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	for _, now := range []time.Time{{}, time.Unix(1<<40, 0), time.Unix(-1<<40, 0)} {
		s.now = now
		s.begin(access, cache.InFlight)
	}
	s.is("Finish", ticket.Finish(s.now, []byte("reply")), true)
	s.replays(access, "reply")
	if next := s.c.Expire(s.now); next.Before(start) {
		t.Fatalf("Expire returns %v", next)
	}
}
