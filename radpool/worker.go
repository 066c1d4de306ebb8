package radpool

import "time"

// Worker is one worker of a [Pool], as its hooks see it. Only the goroutine of
// the worker may use it, and only until WorkerStop returns.
type Worker struct {
	// ID is the number of the worker, from 1 in the order in which they were
	// started. It is not used again: a worker that is replaced has a new one.
	ID int
	// State is the user's own, such as a database connection: set it in
	// WorkerStart, use it in Run, release it in WorkerStop.
	State any
}

// phase is what a worker is doing, in the eyes of the pool's lock.
type phase uint8

const (
	phaseStarting  phase = iota // from its creation until it first asks for jobs
	phaseParked                 // on the stack of idle workers
	phaseSearching              // woken for a job, has not looked yet
	phaseReleased               // woken because the pool is closing
	phaseRetired                // told by the policy to end
	phaseRunning                // has jobs
	phaseLent                   // parked, while somebody else is this worker
	phaseReplaced               // has ended; another one takes its place
)

// worker is a Worker with what the pool keeps of it.
type worker[T any] struct {
	Worker
	wake chan struct{} // holds one token: waking never blocks

	// phase changes under the pool's lock.
	phase phase
	// The rest is the worker goroutine's own.
	jobs    []T           // what it runs now
	began   time.Duration // when it began with them, of the pool's epoch
	dropped []Item[T]     // what had expired when it looked
	served  int           // jobs run since it started
	broken  bool          // a panic or Goexit in Run: its State cannot be trusted
	ended   bool          // it left its loop as it should, and not by Goexit
}

// expiredBatch bounds how many expired jobs a worker takes out of the queue
// under one hold of the lock.
const expiredBatch = 32

// work is the life of a worker. The deferred calls run even if a hook ends the
// goroutine with runtime.Goexit (as t.FailNow does).
func (p *Pool[T]) work(w *worker[T]) {
	defer p.leave(w)
	defer p.stopHook(w)
	p.startHook(w)
	for p.next(w) {
		p.run(w)
	}
	w.ended = true
}

// next accounts for what the worker has run and gives it its next jobs, for
// which it waits as long as it takes. false: the worker is to end.
func (p *Pool[T]) next(w *worker[T]) bool {
	now := time.Now()
	told := p.cfg.alone == nil // that it is alone, since it has run something or was woken
	p.mu.Lock()
	p.settle(now, w)
	for {
		if p.due(w) {
			p.recycled++
			w.phase = phaseReplaced
			p.starting++        // its place is never vacant in the eyes of the policy
			wake := p.wakeOne() // but one that the limit kept idle may be busy in it
			p.mu.Unlock()
			wake.signal()
			return false
		}
		p.take(now, w)
		if len(w.jobs)+len(w.dropped) == 0 {
			if p.closing {
				p.mu.Unlock()
				return false
			}
			if !told && !p.searching {
				told = true
				p.mu.Unlock()
				p.cfg.alone(&w.Worker)
				p.mu.Lock()
				continue // what has come meanwhile need not be waited for
			}
			if !p.park(now, w) {
				return false
			}
			now = time.Now()
			p.mu.Lock()
			p.arrive(w)
			told = p.cfg.alone == nil
			continue
		}
		w.phase = phaseRunning
		wake := p.wakeOne()
		p.watch(now)
		alone := !p.searching
		p.mu.Unlock()
		wake.signal()

		p.dropTaken(w)
		if len(w.jobs) > 0 {
			if alone && p.cfg.alone != nil {
				p.cfg.alone(&w.Worker)
			}
			return true
		}
		now = time.Now()
		p.mu.Lock()
	}
}

// dropTaken tells the user of the expired jobs that the worker took.
func (p *Pool[T]) dropTaken(w *worker[T]) {
	for i := range w.dropped {
		p.drop(w.dropped[i])
	}
	clear(w.dropped)
	w.dropped = w.dropped[:0]
}

// due reports whether the worker is to be replaced. Called with the lock held.
func (p *Pool[T]) due(w *worker[T]) bool {
	if p.drained() {
		return false
	}
	return w.broken || p.cfg.MaxRequestsPerServer > 0 && w.served >= p.cfg.MaxRequestsPerServer
}

// take moves what waits to the worker: up to MaxBatch jobs of one class, and what
// has expired. Called with the lock held.
func (p *Pool[T]) take(now time.Time, w *worker[T]) {
	if p.abandoned {
		return // Close drops what is left
	}
	if p.limited() {
		return // those that run are as many as may, and will come for it
	}
	// Expired jobs leave from every class, not only from the one whose turn it
	// is: those who retained something for them can let go of it.
	at, renewals := p.queue.since(now), renewBatch
	for len(w.dropped) < expiredBatch {
		it, ok := p.queue.expire(at, &renewals)
		if !ok {
			break
		}
		p.countDrop(it.Class, it.Why)
		w.dropped = append(w.dropped, it)
	}
	if p.spared(at) {
		return
	}
	most := p.cfg.MaxBatch
	if limit := p.cfg.MaxRequestsPerServer; limit > 0 {
		most = min(most, limit-w.served)
	}
	// The rest is of one class, as a batch is one turn: the urgent must not wait
	// until the less urgent are done.
	for len(w.jobs) == 0 && len(w.dropped) < expiredBatch {
		class, ok := p.queue.turn()
		if !ok {
			break
		}
		for p.queue.LenClass(class) > 0 && len(w.jobs) < most && len(w.dropped) < expiredBatch {
			it := p.queue.popFrom(class, at)
			if it.Why != DropNone {
				p.countDrop(it.Class, it.Why)
				w.dropped = append(w.dropped, it)
				continue
			}
			w.jobs = append(w.jobs, it.Value)
		}
	}
	if n := len(w.jobs); n > 0 {
		p.running += n
		p.active++
		w.began = now.Sub(p.epoch)
		p.begun += w.began
	}
}

// park puts the worker on the stack of the idle ones and waits to be woken.
// Called with the lock held, returns without it. false: the policy ended it.
func (p *Pool[T]) park(now time.Time, w *worker[T]) bool {
	w.phase = phaseParked
	p.idle = append(p.idle, w)
	p.watch(now)
	p.mu.Unlock()
	<-w.wake
	return w.phase != phaseRetired // written before the token was sent
}

// arrive tells the pool that a worker which it started or woke has come to
// look for jobs. Called with the lock held.
func (p *Pool[T]) arrive(w *worker[T]) {
	switch w.phase {
	case phaseStarting:
		p.starting--
	case phaseSearching:
		p.searching = false
	}
	w.phase = phaseRunning
}

// settle accounts for what the worker has just run, if anything. Called with
// the lock held.
func (p *Pool[T]) settle(now time.Time, w *worker[T]) {
	p.arrive(w)
	n := len(w.jobs)
	if n == 0 {
		return
	}
	p.running -= n
	p.active--
	p.runs++
	p.begun -= w.began
	p.doneTime += now.Sub(p.epoch) - w.began
	w.served += n
	if w.broken {
		p.failed += uint64(n)
	} else {
		p.completed += uint64(n)
	}
	clear(w.jobs) // the pool holds on to no job that is done
	w.jobs = w.jobs[:0]
}

// leave ends a worker and puts another one in its place if it was replaced.
func (p *Pool[T]) leave(w *worker[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live--
	if !w.ended && w.phase == phaseRunning { // Goexit in Run, or in Drop
		w.broken = true
		p.settle(time.Now(), w)
		if p.due(w) {
			p.recycled++
			w.phase = phaseReplaced
			p.starting++
		}
		p.wakeOne().signal()
	}
	switch w.phase {
	case phaseRetired:
		// The policy no longer counts it.
	case phaseReplaced:
		if !p.drained() {
			p.launch()
			return
		}
		p.starting--
		p.workers--
	case phaseStarting: // Goexit in WorkerStart: replacing it could go on for ever
		p.starting--
		p.workers--
	default:
		p.workers--
	}
	p.finish()
}

// launch starts the goroutine of a new worker, which the caller has counted
// among those that are starting. Called with the lock held.
func (p *Pool[T]) launch() {
	p.lastID++
	p.live++
	p.lastLaunch = time.Now()
	w := &worker[T]{Worker: Worker{ID: p.lastID}, wake: make(chan struct{}, 1)}
	p.wg.Go(func() { p.work(w) })
}

// wakeOne takes an idle worker off the stack if there is something to do and
// nobody is on the way to it already: one that finds more than it takes wakes
// the next. The last that parked comes first, its caches being warm. Called
// with the lock held; the caller sends the signal once it has released it.
func (p *Pool[T]) wakeOne() *worker[T] {
	last := len(p.idle) - 1
	if p.searching || last < 0 || p.queue.Len() == 0 || p.limited() || p.leftovers && last < p.readiness() {
		return nil
	}
	w := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	p.searching = true
	w.phase = phaseSearching
	return w
}

// signal wakes the worker, if there is one.
func (w *worker[T]) signal() {
	if w != nil {
		w.wake <- struct{}{}
	}
}
