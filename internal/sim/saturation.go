package sim

import (
	"math/rand/v2"
	"time"

	"github.com/radpool/radpool/radpool"
)

// Saturation is a pool in front of a back end, with more work than it can ever
// do: what it gets done shows how well its [radpool.Policy] chooses the number of workers.
type Saturation struct {
	// Seed makes the course: the same one for the same seed.
	Seed uint64
	// Policy decides how many workers there are.
	Policy radpool.Policy
	// Backend is what the workers wait for.
	Backend Backend
	// WorkerStart is how long it takes to start a worker.
	WorkerStart time.Duration
	// Until is when it ends.
	Until time.Duration
	// Step is the time between two points of the trace. Zero: 100 ms.
	Step time.Duration
	// Idle are the times in which there is no work, each from its first to its
	// second, in order.
	Idle [][2]time.Duration
}

// Point is what had happened at one moment of a [Saturation].
type Point struct {
	At   time.Duration
	Done uint64 // jobs that were run
	// Workers, and how many of them were busy and might be (0: all).
	Workers, Busy, Limit int
}

// Trace is the points of a Saturation, from its beginning to its end.
type Trace []Point

// Rate is how many jobs a second were run from one time to another, both of
// which must be in the trace.
func (t Trace) Rate(from, to time.Duration) float64 {
	var first, last uint64
	for _, p := range t {
		if p.At == from {
			first = p.Done
		}
		if p.At == to {
			last = p.Done
		}
	}
	return float64(last-first) / (to - from).Seconds()
}

// endless is work without end, but for the times at which there is none.
type endless struct {
	*loop
	off bool
}

// backlog is how many wait where there is no end of them.
const backlog = 1000

func (e *endless) len() int {
	if e.off {
		return 0
	}
	return backlog
}

func (e *endless) pop(time.Time) *Job { return new(Job) }

// Run simulates s. An error names the field that is wrong.
func (s Saturation) Run() (Trace, error) {
	if s.Step == 0 {
		s.Step = 100 * time.Millisecond
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	l := new(loop)
	q := &endless{loop: l}
	p := &pool{
		loop: l, policy: s.Policy, queue: q, workerStart: s.WorkerStart, done: func(*Job) {},
		backend: newBackend(l, s.Backend, rand.New(rand.NewPCG(s.Seed, 0))),
	}
	for _, times := range s.Idle {
		l.at(times[0], func() { q.off = true })
		l.at(times[1], func() {
			q.off = false
			p.work()
		})
	}
	l.at(0, p.ask)
	var t Trace
	for at := time.Duration(0); at <= s.Until; at += s.Step {
		l.run(at)
		t = append(t, Point{At: at, Done: p.ran, Workers: p.workers, Busy: p.busy, Limit: p.limit})
	}
	return t, nil
}
