package radpool

import "time"

// A reader that has just taken a batch of requests off its socket can run them
// itself, and save the hand-off to another goroutine: it borrows an idle worker
// for that. To the pool and its policy the worker is busy as any other: there are
// never more jobs running than workers, none is run by two, its State has one
// user at a time, and it is replaced when it has run as many jobs as it may. Only
// its own goroutine stays parked meanwhile.
//
// These are the invariants:
//
//   - A lent worker is on no stack, and in phaseLent or phaseRunning; its jobs and
//     counts are the borrower's, who gives it back exactly once, whatever ends his
//     goroutine.
//   - What is not yet running is in the queue, never with the borrower. So a
//     borrower that is held up holds up one Run, and rouse has the rest run by
//     others.

// submitLent is SubmitBatch of up to submitBatch jobs for who would rather run
// them: it lends an idle worker where it can, and else wakes one as usual and
// returns nil.
func (p *Pool[T]) submitLent(jobs []Job[T]) (w *worker[T], accepted int) {
	if len(jobs) > submitBatch {
		panic("radpool: submitLent of too many jobs")
	}
	return p.submitSome(jobs, true)
}

// lend takes an idle worker off the stack. Called with the lock held.
func (p *Pool[T]) lend() *worker[T] {
	last := len(p.idle) - 1
	if last < 0 || p.queue.Len() == 0 || p.closing || p.limited() {
		return nil
	}
	w := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	w.phase = phaseLent
	return w
}

// nextLent accounts for what the borrower has run on w, and gives it the next
// jobs. false: there are none, or w is to be replaced first; give it back. now is
// a time not long ago: what expires in between runs.
func (p *Pool[T]) nextLent(now time.Time, w *worker[T]) bool {
	for {
		p.mu.Lock()
		p.settle(now, w)
		if p.due(w) {
			p.mu.Unlock()
			return false
		}
		p.take(now, w)
		p.mu.Unlock()
		if len(w.jobs)+len(w.dropped) == 0 {
			return false
		}
		w.broken = true // should a Drop not return
		p.dropTaken(w)
		w.broken = false
		if len(w.jobs) > 0 {
			return true
		}
	}
}

// giveBack ends a loan. The worker parks again, or goes on by itself where there
// is more to do than parking. What still waits is for another then: to be replaced
// can take as long as WorkerStop and WorkerStart like.
func (p *Pool[T]) giveBack(w *worker[T]) {
	now := time.Now()
	p.mu.Lock()
	p.settle(now, w)
	if w.broken {
		clear(w.dropped) // each was told at most once, and so it stays
		w.dropped = w.dropped[:0]
	}
	var released *worker[T]
	if p.due(w) || p.closing {
		w.phase = phaseReleased
		released = w
	} else {
		w.phase = phaseParked
		p.idle = append(p.idle, w)
	}
	wake := p.wakeOne()
	p.watch(now)
	p.mu.Unlock()
	released.signal()
	wake.signal()
}

// rouse wakes a worker for what waits, if nobody is on the way to it.
func (p *Pool[T]) rouse() {
	p.mu.Lock()
	wake := p.wakeOne()
	p.mu.Unlock()
	wake.signal()
}
