package sim

import (
	"slices"
	"time"

	"github.com/radpool/radpool/radpool"
)

// Result is what happened in a [Scenario].
type Result struct {
	// Requests are all that were made, in the order in which they were.
	Requests []Request
	Server   ServerCount
	Until    time.Duration
}

// Request is what became of one request of a NAS.
type Request struct {
	NAS   int // its index in Scenario.NAS
	Class radpool.Class
	At    time.Duration // when it was made
	Sends int           // how often it was sent; 0: there was no free Identifier
	// Answered is whether the answer came before the NAS gave up, and After how
	// long after At that was.
	Answered bool
	After    time.Duration
}

// ServerCount is what became of the datagrams that came to the server. Each is one of:
// Duplicate, Replayed, TableFull, Refused, Evicted, Expired, Superseded, Replied.
type ServerCount struct {
	Received, Duplicate, Replayed, TableFull uint64
	Refused, Evicted                         [radpool.NumClasses]uint64
	Expired, Superseded, Replied             uint64
	// Run is how many requests were run, and Late how many answers came to a NAS
	// that had given up or had an answer.
	Run, Late uint64
	MaxQueued int
}

// Window is some of the requests of a [Result].
type Window struct {
	// From and To are when they were made: from From on, and before To. A To of zero: to the end.
	From, To time.Duration
	// NAS is of which NAS they are, by its index and 1 more; 0: of all.
	NAS int
	// Class is of which class they are, if ByClass; else of all.
	Class   radpool.Class
	ByClass bool
}

// Summary is what became of the requests of a [Window].
type Summary struct {
	Made, Answered int
	// Median and P99 are of the times until the answers.
	Median, P99 time.Duration
}

// Share is the part that was answered, 1 if nothing was asked.
func (s Summary) Share() float64 {
	if s.Made == 0 {
		return 1
	}
	return float64(s.Answered) / float64(s.Made)
}

// Summary is what became of the requests of a window.
func (r *Result) Summary(w Window) Summary {
	var s Summary
	var took []time.Duration
	for _, q := range r.Requests {
		if q.At < w.From || w.To > 0 && q.At >= w.To || w.NAS > 0 && q.NAS != w.NAS-1 || w.ByClass && q.Class != w.Class {
			continue
		}
		s.Made++
		if q.Answered {
			took = append(took, q.After)
		}
	}
	s.Answered = len(took)
	if len(took) > 0 {
		slices.Sort(took)
		s.Median, s.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	return s
}

// Answers is how many answers came to who still waited, from one time to another.
func (r *Result) Answers(from, to time.Duration) int {
	n := 0
	for _, q := range r.Requests {
		if at := q.At + q.After; q.Answered && at >= from && at < to {
			n++
		}
	}
	return n
}
