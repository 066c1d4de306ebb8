package coa

import "time"

// A Mode is what a subscriber's session is allowed.
type Mode uint8

// Modes.
const (
	Unknown    Mode = iota // nobody has said
	Full                   // all that the subscription gives
	OverQuota              // what is left when the quota is used up: a lower speed
	Restricted             // what is left without money: the page for payments
	Ended                  // nothing: there is to be no session
	numModes
)

var modeNames = [numModes]string{"unknown", "full", "over quota", "restricted", "ended"}

// String returns the mode in words.
func (m Mode) String() string {
	if m >= numModes {
		return "invalid"
	}
	return modeNames[m]
}

// A Phase is how far a request to a NAS has come.
type Phase uint8

// Phases.
const (
	Idle      Phase = iota // nothing is wanted that the session has not
	Asking                 // a server is asking; until State.Next it has the session to itself
	NoReply                // the NAS was asked and was silent: what it did is not known
	Refused                // the NAS has done nothing (a NAK), or could not be asked
	Confirmed              // the NAS ends the session (Disconnect-ACK); its Stop is to come
	Gone                   // the NAS has no such session (Session-Context-Not-Found)
	numPhases
)

// A State is what is kept of a session that is to be changed, beside its accounting: in
// the database of the back end, so that it outlives the server and is seen by others.
// The zero State is that of a session of which nothing is known.
type State struct {
	Applied Mode      // what the session has: given at login, or confirmed by a CoA-ACK
	Wanted  Mode      // what the NAS is asked for; Unknown: nothing
	Phase   Phase     // how far that is
	Instead bool      // a CoA-Request was refused: a Disconnect-Request instead
	Unsure  bool      // a CoA-Request had no answer: the session may have something else than Applied
	Tries   int       // how often the NAS was asked for it
	Next    time.Time // when it may be asked again
	Version int       // how often the State was saved; the Store's
}

// Valid reports whether s can be one that was saved.
func (s State) Valid() bool {
	return s.Applied < numModes && s.Wanted < numModes && s.Phase < numPhases && s.Tries >= 0 && s.Version >= 0
}

// A Request is what to ask a NAS for.
type Request uint8

// Requests.
const (
	Nothing    Request = iota
	Change             // a CoA-Request
	Disconnect         // a Disconnect-Request
)

// A Timing says when a NAS is asked again. Zero fields mean their defaults.
type Timing struct {
	// Lease is how long a server has a session to itself while it asks: longer than
	// a request to a NAS takes. From 1 s to 1 h; zero means 1 min.
	Lease time.Duration

	// Backoff is how long to wait after a request without success; it doubles each
	// time, up to MaxBackoff. From 1 s to 24 h; zero means 10 s and 30 min.
	Backoff, MaxBackoff time.Duration

	// StopWait is how long after a Disconnect-ACK the session's Stop may take, before
	// the NAS is asked again. From 1 s to 24 h; zero means 5 min.
	StopWait time.Duration
}

// Decide says what to ask a NAS for, so that a session gets what is wanted, and the
// State to save before it is asked: after that has failed, since another server was
// faster, it must not be asked. seen is when the session last sent accounting. With
// Nothing, wait is how long nothing changes by itself; 0: for ever.
//
// A session whose Applied is Unknown is taken to have Full.
func (s State) Decide(now, seen time.Time, want Want, t Timing) (ask Request, next State, wait time.Duration) {
	until := func() time.Duration { return max(s.Next.Sub(now), 0) }
	if s.Phase == Asking && now.Before(s.Next) {
		return Nothing, s, until()
	}
	s.Unsure = s.Unsure || s.Phase == Asking // the server died, before or after it had asked
	has := s.Applied == want.Mode || s.Applied == Unknown && want.Mode == Full
	if has && !s.Unsure && s.Phase != Confirmed {
		return Nothing, State{Applied: s.Applied, Version: s.Version}, 0
	}
	// A session that is gone, and then sends accounting, is not.
	if s.Phase == Gone && !seen.After(s.Next) {
		return Nothing, s, 0
	}
	if s.Wanted == want.Mode && s.Phase != Gone && now.Before(s.Next) || s.Phase == Confirmed && now.Before(s.Next) {
		return Nothing, s, until()
	}
	next = s
	if s.Wanted != want.Mode || s.Phase == Gone {
		next.Wanted, next.Instead, next.Tries = want.Mode, false, 0
	}
	next.Phase, next.Next = Asking, now.Add(t.Lease)
	next.Tries++
	if want.Mode == Ended || want.Relogin || next.Instead {
		return Disconnect, next, 0
	}
	return Change, next, 0
}

// An Outcome is how a request to a NAS ended.
type Outcome uint8

// Outcomes.
const (
	ACK         Outcome = iota // the NAS does what it was asked for
	NAK                        // the NAS does not
	NotFound                   // a NAK with Session-Context-Not-Found
	Silence                    // no reply that was right
	Unreachable                // it could not be asked: nobody knows where it is
)

// After is the State to save when a request has ended that Decide began. seen is as for
// Decide, from before the request. fallback:
// what cannot be had by a CoA-Request is worth a Disconnect-Request.
func (s State) After(now, seen time.Time, asked Request, o Outcome, fallback bool, t Timing) State {
	switch o {
	case ACK:
		if asked == Change {
			return State{Applied: s.Wanted, Version: s.Version}
		}
		s.Phase, s.Next = Confirmed, now.Add(t.StopWait)
		return s
	case NotFound:
		if s.Phase, s.Next = Gone, now; seen.After(now) { // the NAS's clock is ahead
			s.Next = seen
		}
		return s
	case NAK:
		s.Phase = Refused
		if asked == Change && fallback {
			s.Instead, s.Next = true, now
			return s
		}
	case Unreachable:
		s.Phase = Refused
	default:
		s.Phase, s.Unsure = NoReply, true
	}
	wait := t.Backoff
	for n := 1; n < s.Tries && wait < t.MaxBackoff; n++ {
		wait *= 2
	}
	s.Next = now.Add(min(wait, t.MaxBackoff))
	return s
}
