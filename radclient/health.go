package radclient

import "time"

// State is what a client believes of a server.
type State uint8

// States of a server.
const (
	Alive State = iota // it answers, or there is no reason to think that it does not
	Dead               // it did not answer; others are asked while there are any
)

// String returns "alive" or "dead".
func (s State) String() string {
	if s == Dead {
		return "dead"
	}
	return "alive"
}

// Failover says when a server is given up for others and when it is tried again. The names in brackets are those of
// FreeRADIUS's home_server. A zero field means its default.
type Failover struct {
	// Tries is how many copies of a request one server gets before another is asked, where one is alive. From 1 to
	// 100; zero means 2.
	Tries int

	// DeadAfter is how many waits of requests in a row make a server dead that ended without one reply of it to
	// anything since the copy was sent. From 1 to 1,000; zero means 3.
	DeadAfter int

	// ProbeInterval is the time between two Status-Servers to a dead server, varied by a tenth (check_interval). From
	// 1 s to 1 h; zero means 30 s.
	ProbeInterval time.Duration

	// ProbeTimeout is how long the reply to one is waited for (check_timeout). From 10 ms to ProbeInterval; zero
	// means 4 s, or ProbeInterval where that is shorter.
	ProbeTimeout time.Duration

	// Answers is how many of them in a row must be answered until the server is alive again (num_answers_to_alive).
	// From 1 to 100; zero means 3.
	Answers int

	// Revive is after what time a dead server is alive again by itself (revive_interval), where it is not known to
	// answer Status-Server. From 1 s to 24 h; zero means 120 s.
	Revive time.Duration
}

// health is what is known of one server. Times are since the client's epoch.
type health struct {
	state      State
	heard      time.Duration // when the last verified reply came; -1 before the first
	unanswered int           // waits in a row that ended without a reply since their copy was sent
	died       time.Duration
	probeAt    time.Duration // when the next probe is due; while dead
	answers    int           // to probes, in a row
	probed     bool          // it has answered a probe once, so probes tell
	noProbes   bool          // by configuration
}

// replied notes a verified reply to a request: whatever was thought, the server works.
func (h *health) replied(now time.Duration) {
	h.heard, h.unanswered = now, 0
	h.state = Alive
}

// unansweredSince notes that a copy sent at that time was waited for in vain, and reports whether the server is dead by it.
func (h *health) unansweredSince(f *Failover, now, sent time.Duration) bool {
	if h.state == Dead || h.heard >= sent {
		return false
	}
	h.unanswered++
	if h.unanswered < f.DeadAfter {
		return false
	}
	h.state, h.died, h.answers, h.unanswered = Dead, now, 0, 0
	h.probeAt = now // at once, to know soon
	if h.noProbes {
		h.probeAt = never
	}
	return true
}

// probe reports whether a probe is due now, and plans the next.
func (h *health) probe(f *Failover, now time.Duration, draw float64) bool {
	if h.state != Dead || now < h.probeAt {
		return false
	}
	h.probeAt = now + vary(f.ProbeInterval, f.ProbeInterval, draw)
	return true
}

// probeEnded notes how a probe ended, and reports whether the server is alive again by it.
func (h *health) probeEnded(f *Failover, now time.Duration, answered bool) bool {
	if h.state != Dead {
		return false
	}
	if !answered {
		h.answers = 0
		return false
	}
	h.probed = true
	h.answers++
	if h.answers < f.Answers {
		// One that answers is worth asking again soon.
		h.probeAt = min(h.probeAt, now+f.ProbeTimeout)
		return false
	}
	h.replied(now)
	return true
}

// revive makes a server alive whose time has come, and reports whether it did.
func (h *health) revive(f *Failover, now time.Duration) bool {
	if h.state != Dead || h.probed || now < h.died+f.Revive {
		return false
	}
	h.state, h.unanswered = Alive, 0
	return true
}

// next is when probe or revive has something to do.
func (h *health) next(f *Failover) time.Duration {
	switch {
	case h.state != Dead:
		return never
	case h.probed:
		return h.probeAt
	}
	return min(h.probeAt, h.died+f.Revive)
}
