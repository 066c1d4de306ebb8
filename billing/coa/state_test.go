package coa_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/radpool/radpool/billing/coa"
)

var timing = coa.Timing{Lease: time.Minute, Backoff: 10 * time.Second, MaxBackoff: 30 * time.Minute, StopWait: 5 * time.Minute}

var nasAddr = netip.MustParseAddrPort("192.0.2.9:3799")

var start = time.Date(2026, 6, 30, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func unsure(s coa.State) coa.State {
	s.Unsure = true
	return s
}

func TestDecide(t *testing.T) {
	const lease, backoff = time.Minute, 10 * time.Second
	asking := func(applied, wanted coa.Mode, tries int) coa.State {
		return coa.State{Applied: applied, Wanted: wanted, Phase: coa.Asking, Tries: tries, Next: after(60)}
	}
	in := func(s coa.State, p coa.Phase, next int) coa.State {
		s.Phase, s.Next = p, after(next)
		return s
	}
	instead := func(s coa.State) coa.State {
		s.Instead = true
		return s
	}
	for _, c := range []struct {
		name  string
		state coa.State
		seen  int
		want  coa.Want
		ask   coa.Request
		next  coa.State
		wait  time.Duration
	}{
		{"nothing known, all well", coa.State{}, 0, coa.Want{Mode: coa.Full}, coa.Nothing, coa.State{}, 0},
		{"as it was given", coa.State{Applied: coa.Restricted}, 0, coa.Want{Mode: coa.Restricted}, coa.Nothing, coa.State{Applied: coa.Restricted}, 0},
		{"money has ended", coa.State{Applied: coa.Full}, 0, coa.Want{Mode: coa.Restricted}, coa.Change, asking(coa.Full, coa.Restricted, 1), 0},
		{"money has ended, login unknown", coa.State{}, 0, coa.Want{Mode: coa.Restricted}, coa.Change, asking(coa.Unknown, coa.Restricted, 1), 0},
		{"money was paid", coa.State{Applied: coa.Restricted}, 0, coa.Want{Mode: coa.Full}, coa.Change, asking(coa.Restricted, coa.Full, 1), 0},
		{"money was paid, new login", coa.State{Applied: coa.Restricted}, 0, coa.Want{Mode: coa.Full, Relogin: true}, coa.Disconnect, asking(coa.Restricted, coa.Full, 1), 0},
		{"expired", coa.State{}, 0, coa.Want{Mode: coa.Ended}, coa.Disconnect, asking(coa.Unknown, coa.Ended, 1), 0},
		{"another server asks", asking(coa.Full, coa.Restricted, 1), 0, coa.Want{Mode: coa.Restricted}, coa.Nothing, asking(coa.Full, coa.Restricted, 1), lease},
		{"another server asks for something else", asking(coa.Full, coa.Restricted, 1), 0, coa.Want{Mode: coa.Ended}, coa.Nothing, asking(coa.Full, coa.Restricted, 1), lease},
		{"the other server died", in(asking(coa.Full, coa.Restricted, 1), coa.Asking, 0), 0, coa.Want{Mode: coa.Restricted}, coa.Change, unsure(asking(coa.Full, coa.Restricted, 2)), 0},
		{"silent a moment ago", unsure(in(asking(coa.Full, coa.Restricted, 1), coa.NoReply, 10)), 0, coa.Want{Mode: coa.Restricted}, coa.Nothing, unsure(in(asking(coa.Full, coa.Restricted, 1), coa.NoReply, 10)), backoff},
		{"silent, then blocked", unsure(in(asking(coa.Full, coa.Restricted, 3), coa.NoReply, 10)), 0, coa.Want{Mode: coa.Ended}, coa.Disconnect, unsure(asking(coa.Full, coa.Ended, 1)), 0},
		{"silent, then paid: it may be restricted", unsure(in(asking(coa.Full, coa.Restricted, 1), coa.NoReply, 10)), 0, coa.Want{Mode: coa.Full}, coa.Change, unsure(asking(coa.Full, coa.Full, 1)), 0},
		{"refused, then paid: it is not restricted", in(asking(coa.Full, coa.Restricted, 1), coa.Refused, 10), 0, coa.Want{Mode: coa.Full}, coa.Nothing, coa.State{Applied: coa.Full}, 0},
		{"refused: end it", instead(in(asking(coa.Full, coa.Restricted, 1), coa.Refused, 0)), 0, coa.Want{Mode: coa.Restricted, Fallback: true}, coa.Disconnect, instead(asking(coa.Full, coa.Restricted, 2)), 0},
		{"is being ended", in(asking(coa.Full, coa.Ended, 1), coa.Confirmed, 300), 0, coa.Want{Mode: coa.Ended}, coa.Nothing, in(asking(coa.Full, coa.Ended, 1), coa.Confirmed, 300), 5 * time.Minute},
		{"is being ended, and paid", in(asking(coa.Full, coa.Ended, 1), coa.Confirmed, 300), 0, coa.Want{Mode: coa.Full}, coa.Nothing, in(asking(coa.Full, coa.Ended, 1), coa.Confirmed, 300), 5 * time.Minute},
		{"no Stop came", in(asking(coa.Full, coa.Ended, 1), coa.Confirmed, 0), 0, coa.Want{Mode: coa.Ended}, coa.Disconnect, asking(coa.Full, coa.Ended, 2), 0},
		{"gone", in(asking(coa.Full, coa.Ended, 1), coa.Gone, -10), -20, coa.Want{Mode: coa.Ended}, coa.Nothing, in(asking(coa.Full, coa.Ended, 1), coa.Gone, -10), 0},
		{"gone, and back", in(asking(coa.Full, coa.Ended, 3), coa.Gone, -10), -5, coa.Want{Mode: coa.Ended}, coa.Disconnect, asking(coa.Full, coa.Ended, 1), 0},
	} {
		ask, next, wait := c.state.Decide(start, after(c.seen), c.want, timing)
		if ask != c.ask || next != c.next || wait != c.wait {
			t.Errorf("%s: got %v, %+v, %v; want %v, %+v, %v", c.name, ask, next, wait, c.ask, c.next, c.wait)
		}
	}
}

func TestAfter(t *testing.T) {
	s := coa.State{Applied: coa.Full, Wanted: coa.Restricted, Phase: coa.Asking, Tries: 1, Next: after(60), Version: 7}
	with := func(p coa.Phase, next int, instead bool, tries int) coa.State {
		r := s
		r.Phase, r.Next, r.Instead, r.Tries = p, after(next), instead, tries
		return r
	}
	for _, c := range []struct {
		name     string
		asked    coa.Request
		outcome  coa.Outcome
		fallback bool
		tries    int
		seen     int
		want     coa.State
	}{
		{"CoA-ACK", coa.Change, coa.ACK, true, 1, 0, coa.State{Applied: coa.Restricted, Version: 7}},
		{"Disconnect-ACK", coa.Disconnect, coa.ACK, true, 1, 0, with(coa.Confirmed, 300, false, 1)},
		{"CoA-NAK, no other way", coa.Change, coa.NAK, false, 1, 0, with(coa.Refused, 10, false, 1)},
		{"CoA-NAK", coa.Change, coa.NAK, true, 1, 0, with(coa.Refused, 0, true, 1)},
		{"Disconnect-NAK", coa.Disconnect, coa.NAK, true, 2, 0, with(coa.Refused, 20, false, 2)},
		{"silence", coa.Change, coa.Silence, true, 3, 0, unsure(with(coa.NoReply, 40, false, 3))},
		{"silence for long", coa.Change, coa.Silence, true, 1000, 0, unsure(with(coa.NoReply, 1800, false, 1000))},
		{"nobody knows where", coa.Change, coa.Unreachable, true, 1, 0, with(coa.Refused, 10, false, 1)},
		{"503", coa.Change, coa.NotFound, true, 1, -300, with(coa.Gone, 0, false, 1)},
		{"503, from a clock that is ahead", coa.Change, coa.NotFound, true, 1, 3600, with(coa.Gone, 3600, false, 1)},
	} {
		from := s
		from.Tries = c.tries
		if got := from.After(start, after(c.seen), c.asked, c.outcome, c.fallback, timing); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Whatever NASes answer and whoever asks: a NAS is never asked twice within a lease, asked
// no more often than the longest wait allows when it does not answer, and where it answers
// in the end the session has what was wanted last.
func TestStatesConverge(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		has := coa.Mode(1 + r.IntN(3)) // what the NAS does to the session
		s := coa.State{Applied: has}
		want := coa.Want{Mode: has}
		now := start
		free := start // when the claim ends
		open, asked := true, 0
		for step := range 200 {
			calm := step >= 60 // then NASes answer, and nothing else is wanted
			if !calm && r.IntN(4) == 0 {
				want = coa.Want{Mode: coa.Mode(1 + r.IntN(4)), Fallback: r.IntN(2) == 0}
			}
			ask, next, _ := s.Decide(now, start, want, timing)
			s = next
			if ask == coa.Nothing {
				now = now.Add(time.Duration(1+r.IntN(120)) * time.Second)
				continue
			}
			if asked++; now.Before(free) {
				t.Fatalf("seed %d: asked while another server has the session", seed)
			}
			if r.IntN(8) == 0 && !calm { // the server dies, before or after it has asked
				free = now.Add(timing.Lease)
				if r.IntN(2) == 0 && ask == coa.Change {
					has = s.Wanted
				}
				continue
			}
			o := coa.ACK
			if !calm {
				o = []coa.Outcome{coa.ACK, coa.NAK, coa.Silence, coa.Unreachable}[r.IntN(4)]
			}
			if ask == coa.Change && (o == coa.ACK || o == coa.Silence && r.IntN(2) == 0) {
				has = s.Wanted
			}
			s = s.After(now, start, ask, o, want.Fallback, timing)
			if open = ask != coa.Disconnect || o != coa.ACK; !open {
				break // its Stop comes
			}
		}
		if open && (has != want.Mode || !s.Valid()) {
			t.Fatalf("seed %d: the session has %v, and is to have %v: %+v after %d requests", seed, has, want.Mode, s, asked)
		}
	}
}
