package radpool

import (
	"errors"
	"time"
)

// leadTurn is how long a reader runs handlers before it reads again, other than
// for the last one that it began: what waits in the socket's buffer is not
// deduplicated, nor classed.
const leadTurn = 2 * time.Millisecond

// helpFrom is how much work a batch must be by the last one's measure for a
// second worker to be woken beside the reader.
const helpFrom = 400 * time.Microsecond

// submit puts the new requests of a batch into the queue, and then works the queue
// where that is quicker than waking others. One that was taken belongs to the pool
// from then on.
func (r *reader) submit(now time.Time) {
	pool := r.engine.pool
	r.counters.admitted.Add(uint64(len(r.jobs)))
	var w *worker[*waiting]
	var accepted int
	if r.engine.config.RunInReader != No && r.mode.runs(now) && !r.stopped() {
		w, accepted = pool.submitLent(r.jobs)
	} else {
		accepted = pool.SubmitBatch(r.jobs)
	}
	if w != nil {
		defer pool.giveBack(w) // also when a handler or a hook ends the goroutine
	}
	if accepted < len(r.jobs) {
		r.refused(now)
	}
	if w != nil && time.Duration(len(r.jobs))*r.perJob >= helpFrom {
		pool.rouse()
	}
	clear(r.jobs)
	if w != nil {
		r.lead(now, w)
	}
}

// refused ends the jobs that the queue did not take.
func (r *reader) refused(now time.Time) {
	for i := range r.jobs {
		var o Outcome
		switch err := r.jobs[i].Err; {
		case err == nil:
			continue
		case errors.Is(err, ErrQueueFull):
			o = QueueFull
		case errors.Is(err, ErrExpired):
			o = Expired
		default:
			o = Aborted
		}
		r.engine.finishWaiting(r.jobs[i].Value, o, r.counters, now)
	}
}

// lead works the queue as the worker that it was lent, until the queue is empty,
// its turn is over, or another reader has taken over because a handler did not
// come back. Replies wait in r.out until then.
func (r *reader) lead(now time.Time, w *worker[*waiting]) {
	e := r.engine
	ws := w.State.(*workerState)
	ws.out = &r.out
	defer func() { // also when a handler ends the goroutine
		r.back()
		ws.out = &ws.own
	}()
	r.led.Store(true)
	e.watchdog.wake()
	for now, began := now, now; e.pool.nextLent(now, w); {
		jobs := len(w.jobs)
		r.counters.inReader.Add(uint64(jobs))
		r.since.Store(int64(now.Sub(e.epoch)) + 1) // 0 is none
		// To read the clock again for each job costs more than the rest of open.
		ws.opens = now
		e.pool.run(w)
		back := r.back()
		took := ws.closed.Sub(now)
		now = ws.closed
		r.perJob += (took/time.Duration(jobs) - r.perJob) / 8
		if !back || !r.mode.ran(now, took) || now.Sub(began) >= leadTurn {
			return
		}
	}
}

// back tells the watchdog that the handler has come back. false: too late, another
// reader has taken over, and this one is to end.
func (r *reader) back() bool {
	since := r.since.Load()
	return since != deposed && r.since.CompareAndSwap(since, 0)
}

// replaced reports whether another reader has taken over.
func (r *reader) replaced() bool { return r.since.Load() == deposed }
