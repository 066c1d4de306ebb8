package cache_test

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// The situations of FreeRADIUS's duplicate detection, and what a Cache makes of each. The
// names say where FreeRADIUS falls short.

// scene is a Cache with its time.
type scene struct {
	t   *testing.T
	c   *cache.Cache
	now time.Time
}

func newScene(t *testing.T, config cache.Config) *scene {
	t.Helper()
	c, err := cache.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, c: c, now: start}
}

func (s *scene) wait(d time.Duration) { s.now = s.now.Add(d) }

// begin checks the verdict, and returns what came with it.
func (s *scene) begin(r cache.Request, want cache.Verdict) (cache.Ticket, []byte) {
	s.t.Helper()
	ticket, got, reply := s.c.Begin(s.now, &r, nil)
	if got != want {
		s.t.Fatalf("after %v Begin says %v, want %v", s.now.Sub(start), got, want)
	}
	if live := want == cache.Fresh || want == cache.Superseded; ticket.Current() != live {
		s.t.Fatalf("%v with a Ticket whose Current() is %v", got, !live)
	}
	return ticket, reply
}

func (s *scene) replays(r cache.Request, want string) {
	s.t.Helper()
	if _, reply := s.begin(r, cache.Replay); string(reply) != want {
		s.t.Fatalf("replays %q, want %q", reply, want)
	}
}

// is checks the result of ending a Ticket.
func (s *scene) is(what string, got, want bool) {
	s.t.Helper()
	if got != want {
		s.t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// access and accounting are a request and a later one under the same Key.
var access, accessNext = pair(1), withAuthenticator(pair(1), 2)
var accounting = pair(4)

func pair(code byte) cache.Request {
	return withAuthenticator(cache.Request{
		Key: cache.Key{
			Listener: 1, Client: netip.MustParseAddrPort("192.0.2.1:1645"), Code: code, Identifier: 7,
		},
		Length: 57,
	}, 1)
}

func withAuthenticator(r cache.Request, b byte) cache.Request {
	r.Authenticator = [16]byte(bytes.Repeat([]byte{b}, 16))
	return r
}

func TestDuplicateOfUnfinishedIsDropped(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	for n := 1; n <= 3; n++ {
		s.wait(time.Second)
		s.begin(access, cache.InFlight)
		if last, copies := ticket.Seen(); !last.Equal(s.now) || copies != n {
			t.Fatalf("Seen() is %v, %d, want %v, %d", last, copies, s.now, n)
		}
	}
	s.is("Finish", ticket.Finish(s.now, []byte("reply")), true)
}

func TestDuplicateOfAnsweredIsReplayedForEveryCode(t *testing.T) {
	for _, r := range []cache.Request{access, accounting, pair(12), pair(40), pair(43)} {
		s := newScene(t, cache.Config{})
		ticket, _ := s.begin(r, cache.Fresh)
		s.is("Finish", ticket.Finish(s.now, []byte("reply")), true)
		s.replays(r, "reply") // at once: there is no window in which accounting runs again
		s.wait(9 * time.Second)
		s.replays(r, "reply")
	}
}

func TestEntryLivesCleanupDelayFromItsReply(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	s.wait(8 * time.Second) // from the reply, not from the request
	ticket.Finish(s.now, []byte("reply"))
	s.wait(10*time.Second - 1)
	s.replays(access, "reply")

	s = newScene(t, cache.Config{})
	ticket, _ = s.begin(access, cache.Fresh)
	ticket.Finish(s.now, []byte("reply"))
	s.wait(10 * time.Second)
	s.begin(access, cache.Fresh)
}

func TestDuplicatesCannotPinAnEntry(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	ticket.Finish(s.now, []byte("reply"))
	for range 29 {
		s.wait(time.Second)
		s.replays(access, "reply")
	}
	s.wait(time.Second - 1)
	s.replays(access, "reply")
	s.wait(1)
	s.begin(access, cache.Fresh)
}

func TestSilenceIsRememberedAndEnds(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	s.is("NoReply", ticket.NoReply(s.now), true)
	for range 29 {
		s.wait(time.Second)
		s.begin(access, cache.Silent)
	}
	s.wait(time.Second)
	s.begin(access, cache.Fresh)
}

func TestFailedAccountingIsTriedAgain(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(accounting, cache.Fresh)
	s.is("Abandon", ticket.Abandon(), true)
	s.begin(accounting, cache.Fresh)
}

func TestNewAuthenticatorVoidsTheUnfinished(t *testing.T) {
	s := newScene(t, cache.Config{})
	old, _ := s.begin(access, cache.Fresh)
	next, _ := s.begin(accessNext, cache.Superseded)
	s.is("Current of the old", old.Current(), false)
	s.is("Finish of the old", old.Finish(s.now, []byte("old reply")), false)
	s.begin(accessNext, cache.InFlight) // the old one's end changed nothing
	s.is("Finish of the new", next.Finish(s.now, []byte("new reply")), true)
	s.replays(accessNext, "new reply")
	s.is("Abandon of the old", old.Abandon(), false)
	s.replays(accessNext, "new reply")
	if stats := s.c.Stats(); stats.InFlight != 0 || stats.Retained != 1 {
		t.Fatalf("%+v", stats)
	}
}

func TestNewAuthenticatorPurgesTheAnswered(t *testing.T) {
	for name, end := range map[string]func(cache.Ticket, time.Time) bool{
		"reply":   func(t cache.Ticket, now time.Time) bool { return t.Finish(now, []byte("old")) },
		"silence": cache.Ticket.NoReply,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, cache.Config{})
			old, _ := s.begin(access, cache.Fresh)
			s.is("end", end(old, s.now), true)
			next, _ := s.begin(accessNext, cache.Fresh)
			s.is("Finish", next.Finish(s.now, []byte("new")), true)
			s.replays(accessNext, "new")
			s.begin(access, cache.Fresh) // the first reply is gone
		})
	}
}

func TestAnotherLengthIsAnotherRequest(t *testing.T) {
	s := newScene(t, cache.Config{})
	s.begin(access, cache.Fresh)
	longer := access
	longer.Length++
	s.begin(longer, cache.Superseded)
}

func TestStatusServerDoesNotCollideWithAccess(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(access, cache.Fresh)
	s.begin(withAuthenticator(pair(12), 9), cache.Fresh)
	s.is("Current", ticket.Current(), true)
}

func TestTableFullOfRequestsInFlight(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 3})
	var first cache.Ticket
	for i := range 3 {
		r := access
		r.Identifier = byte(i)
		ticket, _ := s.begin(r, cache.Fresh)
		if i == 0 {
			first = ticket
		}
	}
	extra := access
	extra.Identifier = 3
	s.begin(extra, cache.Full) // exactly MaxRequests, not one more
	s.wait(time.Hour)
	s.begin(extra, cache.Full) // a tombstone makes no room either
	again := access
	again.Identifier = 1
	s.begin(again, cache.InFlight) // duplicates are still told
	again.Authenticator[0]++
	s.begin(again, cache.Superseded) // and one may take the place of another
	s.is("Abandon", first.Abandon(), true)
	s.begin(extra, cache.Fresh)
}

func TestAnsweredMakeRoomOldestFirst(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 4})
	requests := make([]cache.Request, 4)
	for i := range requests {
		requests[i] = access
		requests[i].Identifier = byte(i)
		ticket, _ := s.begin(requests[i], cache.Fresh)
		if i > 0 { // the first stays in flight, the oldest of all
			ticket.Finish(s.now, []byte{byte(i)})
		}
		s.wait(time.Second)
	}
	s.replays(requests[1], "\x01") // sent again: now the newest
	extra := access
	extra.Identifier = 100
	s.begin(extra, cache.Fresh)
	s.begin(requests[0], cache.InFlight)
	s.replays(requests[1], "\x01")
	s.replays(requests[3], "\x03")
	s.begin(requests[2], cache.Fresh) // the one that made room
	if stats := s.c.Stats(); stats.Evicted != 2 || stats.Full != 0 {
		t.Fatalf("%+v", stats)
	}
}

func TestUnresponsiveHandlerRunsOnce(t *testing.T) {
	s := newScene(t, cache.Config{MaxRequests: 2})
	ticket, _ := s.begin(accounting, cache.Fresh)
	for range 100 { // FreeRADIUS forgets it at max_request_time and runs it again
		s.wait(9 * time.Second)
		s.begin(accounting, cache.InFlight)
		other, _ := s.begin(access, cache.Fresh) // pressure: there is room for one
		other.Finish(s.now, []byte("reply"))
		s.begin(withAuthenticator(pair(12), 1), cache.Fresh)
		next, _ := s.begin(withAuthenticator(pair(12), 2), cache.Superseded)
		s.begin(access, cache.Full)
		s.is("Abandon", next.Abandon(), true)
	}
	s.begin(access, cache.Fresh)
	s.c.Expire(s.now)
	if stats := s.c.Stats(); stats.Tombstones != 1 || stats.InFlight != 2 {
		t.Fatalf("%+v", stats)
	}
	s.is("Finish", ticket.Finish(s.now, []byte("late")), true)
	s.replays(accounting, "late")
	if stats := s.c.Stats(); stats.Tombstones != 0 || stats.Late != 1 {
		t.Fatalf("%+v", stats)
	}
}

func TestUnresponsiveHandlerThatFails(t *testing.T) {
	s := newScene(t, cache.Config{})
	ticket, _ := s.begin(accounting, cache.Fresh)
	s.wait(time.Minute)
	s.begin(accounting, cache.InFlight)
	s.is("Abandon", ticket.Abandon(), true)
	s.begin(accounting, cache.Fresh)
}

func TestNewRequestSupersedesATombstone(t *testing.T) {
	s := newScene(t, cache.Config{})
	old, _ := s.begin(access, cache.Fresh)
	s.wait(time.Minute)
	s.c.Expire(s.now)
	s.begin(accessNext, cache.Superseded)
	s.is("Finish of the old", old.Finish(s.now, []byte("late")), false)
	if stats := s.c.Stats(); stats.InFlight != 1 || stats.Tombstones != 0 {
		t.Fatalf("%+v", stats)
	}
}

func TestReplyIsNeverTruncated(t *testing.T) {
	s := newScene(t, cache.Config{})
	reply := make([]byte, cache.MaxReply)
	for i := range reply {
		reply[i] = byte(i * 7)
	}
	ticket, _ := s.begin(access, cache.Fresh)
	s.is("Finish", ticket.Finish(s.now, reply), true)
	s.replays(access, string(reply))
}
