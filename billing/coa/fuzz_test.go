package coa_test

import (
	"testing"
	"time"

	"github.com/radpool/radpool/billing/coa"
)

// Whatever stands in the database: a valid State stays valid, a claim lies in the future and
// counts, and deciding allocates nothing.
func FuzzDecide(f *testing.F) {
	f.Add(byte(1), byte(3), byte(2), false, true, 3, int64(5), byte(4), false, true, byte(1))
	f.Fuzz(func(t *testing.T, applied, wanted, phase byte, instead, unsure bool, tries int, next int64, mode byte, relogin, fallback bool, outcome byte) {
		s := coa.State{Applied: coa.Mode(applied), Wanted: coa.Mode(wanted), Phase: coa.Phase(phase), Instead: instead, Unsure: unsure, Tries: tries, Next: time.Unix(next, 0)}
		want := coa.Want{Mode: coa.Mode(1 + mode%4), Relogin: relogin, Fallback: fallback}
		if !s.Valid() || tries > 1<<30 {
			return
		}
		ask, claimed, wait := s.Decide(start, start, want, timing)
		if !claimed.Valid() || wait < 0 {
			t.Fatalf("%+v becomes %+v, wait %v", s, claimed, wait)
		}
		if ask == coa.Nothing {
			return
		}
		if claimed.Phase != coa.Asking || claimed.Wanted != want.Mode || claimed.Tries < 1 || !claimed.Next.After(start) {
			t.Fatalf("%+v becomes the claim %+v", s, claimed)
		}
		if again, _, _ := claimed.Decide(start.Add(time.Second), start, want, timing); again != coa.Nothing {
			t.Fatalf("%+v is asked for by two", claimed)
		}
		if done := claimed.After(start, start, ask, coa.Outcome(outcome%5), fallback, timing); !done.Valid() {
			t.Fatalf("%+v becomes %+v", claimed, done)
		}
	})
}

func TestDecideAllocatesNothing(t *testing.T) {
	s, want := coa.State{Applied: coa.Full}, restricted
	if n := testing.AllocsPerRun(100, func() { _, s, _ = s.Decide(start, start, want, timing) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
