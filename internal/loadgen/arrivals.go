package loadgen

import (
	"math"
	"math/rand/v2"
	"time"
)

// never is later than any run.
const never = time.Duration(math.MaxInt64)

// arrivals says when a lane begins its conversations. Each has a number of its own in the run: the lanes of an open loop
// take turns, those of a closed loop take the next as they come to it.
type arrivals struct {
	plan    *plan
	workers int // of a closed loop
	random  *rand.Rand

	x      float64 // how many conversations of the whole run the Profile must have reached for the next one
	at     time.Duration
	done   bool
	number uint64 // of the next
	held   bool   // it is drawn, in a closed loop
}

func newArrivals(p *plan, index int) arrivals {
	a := arrivals{plan: p, workers: share(p.Workers, p.lanes, index), number: uint64(index)}
	if p.open() {
		seed := p.seed(index + p.lanes)
		a.random = rand.New(rand.NewChaCha8(seed))
		a.x = float64(index)
		if p.Poisson {
			a.x = a.random.ExpFloat64() * float64(p.lanes)
		}
		a.look()
	}
	return a
}

// share is the i-th of n parts of total.
func share(total, n, i int) int {
	part := total / n
	if i < total%n {
		part++
	}
	return part
}

// next returns the number of the conversation that is due and the time at which it was; or, if ok is false, when the next
// one is to be looked for.
func (a *arrivals) next(now time.Duration, active int) (number uint64, at time.Duration, ok bool) {
	if a.over() {
		return 0, never, false
	}
	if a.plan.open() {
		if a.at > now {
			return 0, a.at, false
		}
		if active >= MaxActive/a.plan.lanes {
			return 0, never, false
		}
		return a.number, a.at, true
	}
	if active >= a.workers || !a.draw() {
		return 0, never, false
	}
	return a.number, now, true
}

// draw takes a number out of those that all lanes of a closed loop share.
func (a *arrivals) draw() bool {
	if a.held {
		return true
	}
	a.number = a.plan.drawn.Add(1) - 1
	if a.plan.Requests > 0 && a.number >= uint64(a.plan.Requests) {
		a.done = true
		return false
	}
	a.held = true
	return true
}

// take is that the conversation which next returned has begun.
func (a *arrivals) take() {
	if !a.plan.open() {
		a.held = false
		return
	}
	a.number += uint64(a.plan.lanes)
	if a.plan.Poisson {
		a.x += a.random.ExpFloat64() * float64(a.plan.lanes)
	} else {
		a.x += float64(a.plan.lanes)
	}
	a.look()
}

// look finds the time of the next conversation of an open loop.
func (a *arrivals) look() {
	if a.plan.Requests > 0 && a.number >= uint64(a.plan.Requests) {
		a.done = true
		return
	}
	if a.plan.Storm {
		a.at = 0
		return
	}
	at, ok := a.plan.Profile.when(a.x)
	a.at, a.done = at, !ok
}

// over reports whether there is no further conversation.
func (a *arrivals) over() bool { return a.done }

// missed is how many conversations of an open loop were due by now and have not begun.
func (a *arrivals) missed(now time.Duration) (n uint64) {
	for a.plan.open() && !a.over() && a.at <= now {
		n++
		a.take()
	}
	return n
}
