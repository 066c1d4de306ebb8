package radclient

import "time"

// Retransmission says when a request is sent again, and when it is given up: the algorithm and the names of RFC 5080
// section 2.2.1. A zero field means its default. Each wait varies at random by a tenth, so that the requests of many
// clients that began together do not stay together.
type Retransmission struct {
	// IRT is the initial retransmission time: the wait after the first copy. Each later wait is about twice the one
	// before it. From 1 ms to 10 min; zero means 2 s.
	IRT time.Duration

	// MRT is the maximum retransmission time, about which a wait stays once it has come there. From IRT to 1 h;
	// zero means 16 s, or IRT where that is longer.
	MRT time.Duration

	// MRC is the maximum retransmission count: how many copies are sent in all, to all servers. Zero means 5, Unlimited
	// no bound.
	MRC int

	// MRD is the maximum retransmission duration: a request is given up so long after its beginning, whatever the count
	// says. At most 24 h; zero means 30 s, Unlimited no bound.
	MRD time.Duration
}

// Unlimited is a bound of [Retransmission] that never ends a request. Where it stands in both MRC and MRD, only the
// context of a request ends it.
const Unlimited = -1

// Defaults of Retransmission (RFC 5080 section 2.2.1).
const (
	defaultIRT = 2 * time.Second
	defaultMRT = 16 * time.Second
	defaultMRC = 5
	defaultMRD = 30 * time.Second
)

// schedule is where one request stands in its retransmissions. Times are since the client's epoch.
type schedule struct {
	began time.Duration
	rt    time.Duration // the wait after the last copy; 0 before the first
	sent  int
}

// next counts a copy that is sent now and returns when the next step is due: the next copy, or the end. draw is
// RAND of RFC 5080, even between -0.1 and 0.1.
func (s *schedule) next(r *Retransmission, now time.Duration, draw float64) time.Duration {
	s.sent++
	if s.rt == 0 {
		s.rt = vary(r.IRT, r.IRT, draw)
	} else {
		s.rt = vary(2*s.rt, s.rt, draw)
	}
	if s.rt > r.MRT {
		s.rt = vary(r.MRT, r.MRT, draw)
	}
	return min(now+s.rt, s.end(r))
}

// restart has the waits begin anew, for another server. What was sent and how long it took goes on counting.
func (s *schedule) restart() { s.rt = 0 }

// over reports whether the request is to be given up, when a step is due.
func (s *schedule) over(r *Retransmission, now time.Duration) bool {
	return r.MRC != Unlimited && s.sent >= r.MRC || now >= s.end(r)
}

// end is when MRD is over.
func (s *schedule) end(r *Retransmission) time.Duration {
	if r.MRD == Unlimited {
		return never
	}
	return s.began + r.MRD
}

// vary is d with draw times by added to it.
func vary(d, by time.Duration, draw float64) time.Duration {
	return d + time.Duration(draw*float64(by))
}

// never is a time that does not come.
const never = time.Duration(1<<63 - 1)
