package radpool

import (
	"math"
	"sync"
	"time"
)

// rateMemory is how far back a mean of late goes: what is this old counts for a
// third of what is new.
const rateMemory = time.Minute

// rates turns counters that are looked at now and then into means of late and a
// peak. Nothing is measured for it when a request comes.
type rates struct {
	mu   sync.Mutex
	at   time.Time // of the last look, and the counters of then
	last rateCounts

	// Of late, what is older weighing less.
	seconds, arrived float64
	runs, runTime    float64 // requests run, and seconds of workers
	peak             float64 // arrivals a second, between two looks
}

// rateCounts are counters that only grow.
type rateCounts struct {
	arrived uint64        // requests
	done    uint64        // of these, those that a worker has run
	took    time.Duration // of workers, for those
}

// look takes the counters as they are now.
func (r *rates) look(now time.Time, c rateCounts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, last := r.at, r.last
	passed := now.Sub(at).Seconds()
	if !at.IsZero() && passed <= 0 {
		return
	}
	r.at, r.last = now, c
	if at.IsZero() {
		return // nothing to compare with
	}
	keep := math.Exp(-passed / rateMemory.Seconds())
	arrived := float64(c.arrived - last.arrived)
	r.seconds = r.seconds*keep + passed
	r.arrived = r.arrived*keep + arrived
	r.runs = r.runs*keep + float64(c.done-last.done)
	r.runTime = r.runTime*keep + (c.took - last.took).Seconds()
	r.peak = max(r.peak, arrived/passed)
}

// rateCounts are the counters of now; st has those of the requests.
func (e *engine) rateCounts(st *Stats) rateCounts {
	p := e.pool.Stats()
	return rateCounts{arrived: st.AccessRequests + st.AccountingRequests, done: p.Completed + p.Failed, took: p.DoneTime}
}

// report writes the means and the peak into st. Where nothing was run of late, what a
// request takes is the mean of all.
func (r *rates) report(st *Stats) {
	if done := st.Pool.Completed + st.Pool.Failed; done > 0 {
		st.ServiceTime = st.Pool.DoneTime / time.Duration(done)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	st.PeakArrivalRate = r.peak
	if r.seconds > 0 {
		st.ArrivalRate = r.arrived / r.seconds
		st.CompletionRate = r.runs / r.seconds
	}
	if r.runs > 1e-3 { // less is not a single one of the last minutes
		st.ServiceTime = time.Duration(r.runTime / r.runs * float64(time.Second))
	}
}
