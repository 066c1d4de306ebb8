// Package breaker knows whether a back end is away: a circuit breaker without a clock,
// without a lock and without goroutines.
//
//	            OpensAfter failures in a row
//	closed --------------------------------------> open
//	  ^                                             | Interval
//	  |  a probe passed                             v
//	  '--------------------------------------- half-open: one probe each Interval
//
// While it is open most calls need not be made: they would wait for a timeout and then
// fail.
package breaker

import "time"

const (
	// OpensAfter is how many calls in a row must fail before a back end is taken for
	// away: a connection that was lost is one.
	OpensAfter = 3

	// MaxProbes is how many calls may ask at once whether an absent back end is back.
	// One that hangs must not keep the next from being the first to know.
	MaxProbes = 8
)

// An Outcome is what a call says of the back end.
type Outcome uint8

// Outcomes.
const (
	Unknown Outcome = iota // whoever asked went away
	Passed                 // it is there
	Failed                 // it could not answer
)

// A Breaker is the state machine. The zero Breaker but for Interval takes the back end
// for there.
type Breaker struct {
	Interval   time.Duration // between probes
	OpensAfter int           // failures in a row; 0: the constant

	failures int       // in a row, while the back end is there
	away     bool      // whether it is taken for away
	since    time.Time // when it was taken for away
	next     time.Time // of the next probe
	probes   int       // that are under way
	times    uint64    // it was taken for away
	err      error     // of the call that made it so
}

// Allow reports whether a call may be made. If probe is true the call is one that asks
// whether the back end is back, and End must be told so.
func (b *Breaker) Allow(now time.Time) (probe, ok bool) {
	switch {
	case !b.away:
		return false, true
	case now.Before(b.next) || b.probes >= MaxProbes:
		return false, false
	}
	b.probes++
	b.next = now.Add(b.Interval)
	return true, true
}

// End says how a call that was allowed ended. It reports whether the back end has come
// or gone with it.
func (b *Breaker) End(now time.Time, probe bool, o Outcome, err error) (changed bool) {
	if probe {
		b.probes--
	}
	switch {
	case o == Passed:
		b.failures = 0
		changed = b.away
		b.away, b.err = false, nil
	case o == Failed && !b.away:
		if b.failures++; b.failures < b.opensAfter() {
			return false
		}
		b.Open(now, err)
		return true
	}
	return changed
}

func (b *Breaker) opensAfter() int {
	if b.OpensAfter == 0 {
		return OpensAfter
	}
	return b.OpensAfter
}

// Open takes the back end for away, whatever it did before.
func (b *Breaker) Open(now time.Time, err error) {
	b.away, b.since, b.next, b.failures = true, now, now.Add(b.Interval), 0
	b.times++
	b.err = err
}

// Away reports whether the back end is taken for away.
func (b *Breaker) Away() bool { return b.away }

// Since is when it was last taken for away.
func (b *Breaker) Since() time.Time { return b.since }

// Next is when the next probe may be made, while it is away.
func (b *Breaker) Next() time.Time { return b.next }

// Times is how often it was taken for away.
func (b *Breaker) Times() uint64 { return b.times }

// Err is what the call failed with by which it was taken for away; nil while it is there.
func (b *Breaker) Err() error { return b.err }
