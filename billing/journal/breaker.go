package journal

import (
	"fmt"
	"time"
)

const (
	// opensAfter is how many calls in a row must fail before a back end is taken
	// for away: a connection that was lost is one.
	opensAfter = 3

	// maxProbes is how many calls may ask at once whether an absent back end is
	// back. One that hangs must not keep the next from being the first to know.
	maxProbes = 8
)

// An outcome is what a call says of the back end.
type outcome uint8

const (
	unknown outcome = iota // whoever asked went away
	passed                 // it is there
	failed                 // it could not answer
)

// A breaker knows whether the back end is away. While it is, most calls need not be
// made: they would wait for a timeout and then fail. It is a state machine without a
// clock and without a lock.
type breaker struct {
	what     string        // what the back end does not do while it is away, for the error
	interval time.Duration // between probes

	failures int       // in a row, while the back end is there
	away     bool      // whether it is taken for away
	since    time.Time // when it was taken for away
	next     time.Time // of the next probe
	probes   int       // that are under way
	times    uint64    // it was taken for away
	err      error     // what to tell those who are not let through
}

// allow reports whether a call may be made. If probe is true the call is one that
// asks whether the back end is back, and end must be told so.
func (b *breaker) allow(now time.Time) (probe, ok bool) {
	switch {
	case !b.away:
		return false, true
	case now.Before(b.next) || b.probes >= maxProbes:
		return false, false
	}
	b.probes++
	b.next = now.Add(b.interval)
	return true, true
}

// end says how a call that was allowed ended. It reports whether the back end has
// come or gone with it.
func (b *breaker) end(now time.Time, probe bool, o outcome, err error) (changed bool) {
	if probe {
		b.probes--
	}
	switch {
	case o == passed:
		b.failures = 0
		changed = b.away
		b.away, b.err = false, nil
	case o == failed && !b.away:
		if b.failures++; b.failures < opensAfter {
			return false
		}
		b.open(now, err)
		return true
	}
	return changed
}

// open takes the back end for away, whatever it did before.
func (b *breaker) open(now time.Time, err error) {
	b.away, b.since, b.next, b.failures = true, now, now.Add(b.interval), 0
	b.times++
	b.err = &AwayError{What: b.what, Since: now, Err: err}
}

// An AwayError is what is returned without asking the back end, since it has not
// answered lately.
type AwayError struct {
	What  string    // "Access-Requests" or "accounting"
	Since time.Time // when it was first found to be away
	Err   error     // what it said then
}

// Error says what is not answered, since when and why.
func (e *AwayError) Error() string {
	return fmt.Sprintf("journal: the back end does not answer %s since %s: %v", e.What, e.Since.Format(time.RFC3339), e.Err)
}

// Unwrap returns Err.
func (e *AwayError) Unwrap() error { return e.Err }
