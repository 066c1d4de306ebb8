package radpool

import (
	"errors"
	"log"
	"runtime/debug"
	"sync"
	"time"
)

// errGoexit is what the Panic hook is told of a function that ended its
// goroutine: neither a return nor a panic.
var errGoexit = errors.New("radpool: runtime.Goexit called")

// run runs the worker's jobs. Should Run not return, the worker is broken.
func (p *Pool[T]) run(w *worker[T]) {
	w.broken = true
	defer p.rescue(w)
	p.cfg.Run(&w.Worker, w.jobs)
	w.broken = false
}

// rescue is deferred by run itself, as recover wants it.
func (p *Pool[T]) rescue(w *worker[T]) {
	if !w.broken {
		return
	}
	v := recover()
	if v == nil {
		v = errGoexit
	}
	p.report(&w.Worker, w.jobs, v)
}

func (p *Pool[T]) startHook(w *worker[T]) {
	if p.cfg.WorkerStart == nil {
		return
	}
	defer p.recovered(&w.Worker)
	p.cfg.WorkerStart(&w.Worker)
}

func (p *Pool[T]) stopHook(w *worker[T]) {
	if p.cfg.WorkerStop == nil {
		return
	}
	defer p.recovered(&w.Worker)
	p.cfg.WorkerStop(&w.Worker)
}

// drop tells the user of a dropped job, which has been counted.
func (p *Pool[T]) drop(it Item[T]) {
	if p.cfg.Drop == nil {
		return
	}
	defer p.recovered(nil)
	p.cfg.Drop(it.Value, it.Class, it.Why)
}

// dropAll is how callers from outside drop: the pool does not end while they
// are at it. They have added one to p.dropping.
func (p *Pool[T]) dropAll(items []Item[T]) {
	defer func() {
		p.mu.Lock()
		p.dropping--
		p.finish()
		p.mu.Unlock()
	}()
	for i := range items {
		p.drop(items[i])
	}
}

// decide asks the policy.
func (p *Pool[T]) decide(policy Policy, now time.Time, s Snapshot) (d Decision, ok bool) {
	defer p.recovered(nil)
	return policy.Decide(now, s), true
}

// recovered is deferred around the user's functions other than Run.
func (p *Pool[T]) recovered(w *Worker) {
	if v := recover(); v != nil {
		p.report(w, nil, v)
	}
}

// report counts a panic and passes it on. A panic of the hook itself is only
// counted: there is nobody left to tell.
func (p *Pool[T]) report(w *Worker, jobs []T, v any) {
	p.countPanic()
	if p.cfg.Panic == nil {
		if p.panicLog.allow(time.Now()) {
			log.Printf("radpool: panic in a pool: %v\n%s", v, debug.Stack())
		}
		return
	}
	defer func() {
		if recover() != nil {
			p.countPanic()
		}
	}()
	p.cfg.Panic(w, jobs, v, debug.Stack())
}

func (p *Pool[T]) countPanic() {
	p.mu.Lock()
	p.panics++
	p.mu.Unlock()
}

// throttle lets one event a second pass. The zero value lets the first.
type throttle struct {
	mu   sync.Mutex
	last time.Time
}

func (t *throttle) allow(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.last.IsZero() && now.Sub(t.last) < time.Second {
		return false
	}
	t.last = now
	return true
}
