package breaker_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/radpool/radpool/billing/internal/breaker"
)

var errDown = errors.New("down")

// A machine is a Breaker with a method for each outcome.
type machine struct{ breaker.Breaker }

func (m *machine) Passed(now time.Time, probe bool) bool {
	return m.End(now, probe, breaker.Passed, nil)
}

func (m *machine) Unknown(now time.Time, probe bool) bool {
	return m.End(now, probe, breaker.Unknown, nil)
}

func (m *machine) Failed(now time.Time, probe bool, err error) bool {
	return m.End(now, probe, breaker.Failed, err)
}

func TestBreaker(t *testing.T) {
	const interval = 250 * time.Millisecond
	b := &machine{breaker.Breaker{Interval: interval}}
	now := time.Unix(1_700_000_000, 0)
	expect := func(what string, probe, ok bool) {
		t.Helper()
		if p, o := b.Allow(now); p != probe || o != ok {
			t.Fatalf("%s: probe %v, ok %v; want %v, %v", what, p, o, probe, ok)
		}
	}
	for range 10 { // failures with a success between them
		b.Failed(now, false, errDown)
		b.Failed(now, false, errDown)
		b.Unknown(now, false)
		b.Passed(now, false)
	}
	for i := range breaker.OpensAfter {
		expect("while it is there", false, true)
		if changed := b.Failed(now, false, errDown); changed != (i == breaker.OpensAfter-1) {
			t.Fatalf("failure %d: changed %v", i+1, changed)
		}
	}
	if !b.Away() || !errors.Is(b.Err(), errDown) || !b.Since().Equal(now) || b.Times() != 1 {
		t.Errorf("away %v since %v with %v", b.Away(), b.Since(), b.Err())
	}
	expect("at once", false, false)
	now = now.Add(interval)
	for i := range breaker.MaxProbes { // all of them hang
		expect(fmt.Sprint("probe ", i), true, true)
		expect("beside the probe", false, false)
		now = now.Add(interval)
	}
	expect("too many probes", false, false)
	if b.Failed(now, false, errDown) { // of a call that began before
		t.Error("a late failure changed something")
	}
	b.Failed(now, true, errDown)
	b.Unknown(now, true)
	expect("after a probe has ended", true, true)
	if !b.Passed(now, true) || b.Away() {
		t.Error("a probe passed, and it is away")
	}
	expect("back", false, true)
	for range breaker.MaxProbes - 2 {
		b.Failed(now, true, errDown) // the others, late
	}
	if !b.Away() {
		t.Error("as many failures are not taken for an absence")
	}
}

// A reference says the same from the whole history of calls: whether it is away is a
// question about the last calls that said anything.
type reference struct {
	interval time.Duration
	away     bool
	ends     []breaker.Outcome // since it came or went
	probes   []time.Time       // when each was allowed
	open     int               // probes that are under way
	from     time.Time         // when it went
}

func (r *reference) allow(now time.Time) (probe, ok bool) {
	if !r.away {
		return false, true
	}
	last := r.from
	if n := len(r.probes); n > 0 && r.probes[n-1].After(last) {
		last = r.probes[n-1]
	}
	if now.Sub(last) < r.interval || r.open >= breaker.MaxProbes {
		return false, false
	}
	r.probes = append(r.probes, now)
	r.open++
	return true, true
}

func (r *reference) end(now time.Time, probe bool, o breaker.Outcome) {
	if probe {
		r.open--
	}
	r.ends = append(r.ends, o)
	if r.away {
		if o == breaker.Passed {
			r.away, r.ends = false, nil
		}
		return
	}
	failures := 0
	for _, o := range r.ends {
		switch o {
		case breaker.Passed:
			failures = 0
		case breaker.Failed:
			failures++
		}
	}
	if failures >= breaker.OpensAfter {
		r.away, r.from, r.ends = true, now, nil
	}
}

// Each octet is what happens next: a call begins, one ends somehow, time passes.
func FuzzBreaker(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 2, 2, 3, 0, 1, 3, 0})
	f.Fuzz(func(t *testing.T, events []byte) {
		if len(events) > 4096 {
			return
		}
		b, r := &breaker.Breaker{Interval: time.Second}, &reference{interval: time.Second}
		now := time.Unix(1_700_000_000, 0)
		var calls []bool // whether it is a probe
		for i, e := range events {
			switch kind, rest := e%5, int(e/5); {
			case kind == 0:
				probe, ok := b.Allow(now)
				if p, o := r.allow(now); p != probe || o != ok {
					t.Fatalf("event %d: probe %v, ok %v; want %v, %v", i, probe, ok, p, o)
				}
				if ok {
					calls = append(calls, probe)
				}
			case kind == 4:
				now = now.Add(time.Duration(rest) * 50 * time.Millisecond)
			case len(calls) > 0:
				at := rest % len(calls)
				probe, o, was := calls[at], breaker.Outcome(kind-1), r.away
				calls = append(calls[:at], calls[at+1:]...)
				r.end(now, probe, o)
				if changed := b.End(now, probe, o, errDown); changed != (was != r.away) {
					t.Fatalf("event %d: changed %v", i, changed)
				}
			}
			if b.Away() != r.away || (b.Err() != nil) != r.away {
				t.Fatalf("event %d: away %v with %v, want %v", i, b.Away(), b.Err(), r.away)
			}
		}
	})
}
