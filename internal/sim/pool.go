package sim

import (
	"time"

	"github.com/radpool/radpool/radpool"
)

// jobs is what a pool takes its work from.
type jobs interface {
	// len is how many wait.
	len() int
	// pop takes out the next one. It returns nil where that one is not to be run.
	pop(now time.Time) *Job
}

// minNext is how soon a policy is asked again at the earliest, as by a real
// [radpool.Pool].
const minNext = time.Millisecond

// pool is the workers of a simulated server: a model of [radpool.Pool] that has no goroutines.
type pool struct {
	*loop
	policy      radpool.Policy
	queue       jobs
	backend     *backend
	workerStart time.Duration // how long a worker takes to start
	done        func(*Job)    // is told of each request that was run

	workers, starting, busy int
	limit, low, high        int
	state                   any
	asking                  bool // the policy is about to be asked
	asks                    int  // how often it was
	lastSpawn, lastRetire   time.Time
	ran                     uint64
	doneTime, begun         time.Duration
}

// idle is how many workers have nothing to do, or will have when they have started.
func (p *pool) idle() int {
	return p.workers - p.busy - min(p.starting, p.queue.len())
}

// work gives the workers what waits, as far as they are free and permitted.
func (p *pool) work() {
	for p.busy+p.starting < p.workers && (p.limit == 0 || p.busy < p.limit) && p.queue.len() > 0 {
		if j := p.queue.pop(p.time()); j != nil {
			p.busy++
			began := p.now
			p.begun += began
			p.backend.ask(func() {
				p.begun -= began
				p.doneTime += p.now - began
				p.finish(j)
			})
		}
	}
	if idle := p.idle(); (idle < p.low || p.high > 0 && idle > p.high) && !p.asking {
		p.asking = true
		p.after(0, p.ask)
	}
}

// finish ends a job that was run.
func (p *pool) finish(j *Job) {
	p.busy--
	p.ran++
	p.done(j)
	p.work()
}

// ask asks the policy and does what it says.
func (p *pool) ask() {
	p.asking = false
	p.asks++
	now := p.time()
	idle := p.idle()
	d := p.policy.Decide(now, radpool.Snapshot{
		Workers: p.workers, Idle: idle, Busy: p.workers - idle, Queued: p.queue.len(),
		LastSpawn: p.lastSpawn, LastRetire: p.lastRetire,
		Done: p.ran, Runs: p.ran, DoneTime: p.doneTime, BusyTime: p.doneTime + time.Duration(p.busy)*p.now - p.begun, State: p.state,
	})
	p.limit, p.low, p.high, p.state = d.Limit, d.IdleLow, d.IdleHigh, d.State
	if n := min(d.Spawn, radpool.MaxWorkers-p.workers); n > 0 {
		p.lastSpawn = now
		p.workers += n
		p.starting += n
		p.after(p.workerStart, func() {
			p.starting -= n
			p.work()
		})
	}
	if n := min(d.Retire, p.workers-p.busy-p.starting); n > 0 {
		p.lastRetire = now
		p.workers -= n
	}
	if !d.Next.IsZero() {
		turn := p.asks
		p.after(max(d.Next.Sub(now), minNext), func() {
			if turn == p.asks { // else it was asked in between, and said something else
				p.ask()
			}
		})
	}
	p.work()
}
