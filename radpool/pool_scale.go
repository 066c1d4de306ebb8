package radpool

import "time"

// minNext keeps a policy that always asks for "now" from occupying a thread.
const minNext = time.Millisecond

// startGrace is how long a worker takes to start at most if starting is quick.
const startGrace = time.Millisecond

// policyRetry is when a policy that panicked is asked again.
const policyRetry = time.Second

// keepScale asks the policy when it wants to be asked, until the pool ends. It
// sleeps without a timer while nothing is to be done.
func (p *Pool[T]) keepScale(next time.Time) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		var due <-chan time.Time
		if !next.IsZero() {
			timer.Reset(max(time.Until(next), minNext))
			due = timer.C
		} else {
			timer.Stop()
		}
		select {
		case <-p.kick:
		case <-due:
		case <-p.done:
			return
		}
		next = p.scale()
	}
}

// scale asks the policy, does what it says, and returns when to ask again.
func (p *Pool[T]) scale() time.Time {
	now := time.Now()
	p.mu.Lock()
	p.kicked = false
	s := p.snapshot(now)
	policy, policies := p.policy, p.policies
	p.mu.Unlock()

	d, ok := p.decide(policy, now, s)
	if !ok {
		return now.Add(policyRetry)
	}

	p.mu.Lock()
	if p.policies != policies { // what the one before has to say counts no more
		p.mu.Unlock()
		return now
	}
	p.low, p.high, p.limit, p.state = d.IdleLow, d.IdleHigh, max(d.Limit, 0), d.State
	if n := p.spawn(d.Spawn); n > 0 {
		s.Idle += n
		p.lastSpawn = now
	}
	end := p.retire(d.Retire)
	if n := len(end); n > 0 {
		s.Idle -= n
		p.lastRetire = now
	}
	// Something may have happened while the policy was deciding, of which its
	// answer knows nothing. If nothing did, it is not asked the same again.
	if p.spare(now) != s.Idle {
		p.watch(now)
	}
	next := d.Next
	if p.starting > 0 && p.queue.Len() > 0 && p.low > 0 {
		if again := now.Add(startGrace); next.IsZero() || again.Before(next) {
			next = again
		}
	}
	wake := p.wakeOne() // the limit may have been all that kept it
	p.mu.Unlock()
	wake.signal()
	for _, w := range end {
		w.signal()
	}
	return next
}

// snapshot is what the policy sees. Called with the lock held.
func (p *Pool[T]) snapshot(now time.Time) Snapshot {
	idle := p.spare(now)
	return Snapshot{
		Workers:    p.workers,
		Idle:       idle,
		Busy:       p.workers - idle,
		Queued:     p.queue.Len(),
		LastSpawn:  p.lastSpawn,
		LastRetire: p.lastRetire,
		Done:       p.completed + p.failed,
		Runs:       p.runs,
		DoneTime:   p.doneTime,
		BusyTime:   p.busyTime(now),
		State:      p.state,
	}
}

// spare is the number of workers that have nothing to do or are about to have
// nothing to do. One that was woken is among them if another took the job
// first. One that is being started is, too, for startGrace: where starting is
// quick, fast jobs must not make the pool grow by the length of the queue. One
// that takes longer is not if a job waits for it: else a backlog would have to
// wait for one round of slow WorkerStarts after the other. Called with the lock held.
func (p *Pool[T]) spare(now time.Time) int {
	parked, woken := len(p.idle), 0
	if p.searching {
		woken = 1
	}
	waiting := (p.queue.Len() + p.cfg.MaxBatch - 1) / p.cfg.MaxBatch
	claimed := 0
	if now.Sub(p.lastLaunch) >= startGrace {
		claimed = max(waiting-woken-parked, 0)
	}
	return parked + max(woken-waiting, 0) + max(p.starting-claimed, 0)
}

// limited reports whether as many workers run jobs as may. Called with the lock held.
func (p *Pool[T]) limited() bool { return p.limit > 0 && p.active >= p.limit }

// busyTime is how long workers have run jobs, all added up. Called with the lock held.
func (p *Pool[T]) busyTime(now time.Time) time.Duration {
	return p.doneTime + time.Duration(p.active)*now.Sub(p.epoch) - p.begun
}

// spawn starts up to n workers and returns how many. Called with the lock held.
func (p *Pool[T]) spawn(n int) int {
	if p.drained() {
		return 0
	}
	n = max(min(n, MaxWorkers-p.workers), 0)
	for range n {
		p.workers++
		p.starting++
		p.launch()
	}
	p.spawned += uint64(n)
	p.workersHigh = max(p.workersHigh, p.workers)
	return n
}

// retire takes up to n workers off the bottom of the idle stack, where those
// are that had nothing to do for longest. The caller wakes them once it has
// released the lock, with which this is called.
func (p *Pool[T]) retire(n int) []*worker[T] {
	n = max(min(n, len(p.idle)), 0)
	if n == 0 || p.closing {
		return nil
	}
	end := append([]*worker[T](nil), p.idle[:n]...)
	kept := copy(p.idle, p.idle[n:])
	clear(p.idle[kept:])
	p.idle = p.idle[:kept]
	for _, w := range end {
		w.phase = phaseRetired
	}
	p.workers -= n
	p.retired += uint64(n)
	return end
}

// watch has the policy asked if the idle workers are fewer or more than it
// wanted to be told of. Called with the lock held, whenever their number or
// the queue may have changed.
func (p *Pool[T]) watch(now time.Time) {
	p.busyHigh = max(p.busyHigh, p.workers-len(p.idle)-p.starting)
	idle := p.spare(now)
	if idle >= p.low && (p.high == 0 || idle <= p.high) || p.drained() {
		return
	}
	p.ask()
}

// ask makes the scaler ask the policy soon. p.mu is held.
func (p *Pool[T]) ask() {
	if p.kicked {
		return
	}
	p.kicked = true
	select {
	case p.kick <- struct{}{}:
	default:
	}
}
