package radpool

import "time"

// ClassStats counts the jobs of one class. The counters only grow.
type ClassStats struct {
	// Queued is the number that wait now, and Oldest how long the first of
	// them has waited.
	Queued int
	Oldest time.Duration
	// NewestFirst says that the newest run first now: the class is lastingly late
	// (see Order).
	NewestFirst bool

	Submitted uint64 // given to Submit
	Refused   uint64 // ErrQueueFull
	Evicted   uint64 // gave way in a full queue; see Queue
	Expired   uint64 // ErrExpired, or dropped because it expired in the queue
	Closed    uint64 // ErrPoolClosed, or dropped because the pool was closed
}

// PoolStats is a consistent picture of a [Pool]. At every moment
//
//	Submitted = Refused + Evicted + Expired + Closed + Completed + Failed + Queued + Running
//
// The counters only grow.
type PoolStats struct {
	// Workers is the number of workers: Idle have nothing to do, Busy run
	// jobs or are on the way to them, Starting are in WorkerStart or about to be
	// (or in WorkerStop, if another takes their place).
	Workers, Idle, Busy, Starting int
	// WorkersHighWater is the most there have been, BusyHighWater the most
	// that were busy at once.
	WorkersHighWater, BusyHighWater int
	// Limit is the most workers that the policy lets run jobs at once; zero if
	// it sets no limit. See Decision.Limit.
	Limit int
	// DoneTime is how long workers have taken for what was run: divided by
	// Completed+Failed, what one job takes of a worker. BusyTime is that and
	// the time that they have spent by now on what they still run.
	DoneTime, BusyTime time.Duration
	// LastSpawn and LastRetire are when the policy last made the pool grow and
	// shrink; zero until then.
	LastSpawn, LastRetire time.Time

	// Queued is the number of jobs that wait, of at most MaxQueueSize, and
	// Running the number that are being run.
	Queued, MaxQueueSize, Running int
	// QueueHighWater is the most that have waited.
	QueueHighWater int
	// Classes is the picture by class.
	Classes [NumClasses]ClassStats

	// Spawned and Retired are the workers that the policy started and ended,
	// Recycled those that were replaced, after MaxRequestsPerServer or a panic.
	Spawned, Retired, Recycled uint64
	// Panics is the number of panics, in any of the pool's functions.
	Panics uint64

	// Submitted is the number of jobs given to Submit; Completed and Failed
	// were run, the latter by a Run that panicked; Refused, Evicted, Expired
	// and Closed were not, and are the sums of those of the classes.
	Submitted, Completed, Failed, Refused, Evicted, Expired, Closed uint64
}

// tally is what the pool counts under its lock.
type tally struct {
	classes                          [NumClasses]ClassStats
	running                          int
	completed, failed, runs          uint64
	doneTime                         time.Duration // that workers have taken for what was run
	begun                            time.Duration // the instants since the epoch at which those began that run now, added up
	spawned, retired                 uint64
	recycled, panics                 uint64
	queueHigh, workersHigh, busyHigh int
}

// countDrop counts one dropped job.
func (t *tally) countDrop(class Class, why Drop) {
	c := &t.classes[class]
	switch why {
	case DropRefused:
		c.Refused++
	case DropEvicted:
		c.Evicted++
	case DropExpired:
		c.Expired++
	case DropClosed:
		c.Closed++
	}
}

// Stats returns what the pool is doing and has done. It may be called at any
// time, also after the pool has ended.
func (p *Pool[T]) Stats() PoolStats {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := PoolStats{
		Workers:          p.workers,
		Idle:             len(p.idle),
		Busy:             p.workers - len(p.idle) - p.starting,
		Starting:         p.starting,
		WorkersHighWater: p.workersHigh,
		BusyHighWater:    p.busyHigh,
		Limit:            p.limit,
		DoneTime:         p.doneTime,
		BusyTime:         p.busyTime(now),
		LastSpawn:        p.lastSpawn,
		LastRetire:       p.lastRetire,
		Queued:           p.queue.Len(),
		MaxQueueSize:     p.queue.Max(),
		Running:          p.running,
		QueueHighWater:   p.queueHigh,
		Classes:          p.classes,
		Spawned:          p.spawned,
		Retired:          p.retired,
		Recycled:         p.recycled,
		Panics:           p.panics,
		Completed:        p.completed,
		Failed:           p.failed,
	}
	for i := range s.Classes {
		c := &s.Classes[i]
		c.Queued = p.queue.LenClass(Class(i))
		c.Oldest = p.queue.Oldest(now, Class(i))
		c.NewestFirst = p.queue.NewestFirst(Class(i))
		s.Submitted += c.Submitted
		s.Refused += c.Refused
		s.Evicted += c.Evicted
		s.Expired += c.Expired
		s.Closed += c.Closed
	}
	return s
}

// Queued is the number of jobs that wait now, for those who would not pay for
// all of Stats.
func (p *Pool[T]) Queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Len()
}

// Longest returns flows of which much waits. See [Queue.Longest].
func (p *Pool[T]) Longest(n int) []FlowStats {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Longest(now, n)
}

// eachLongest is Queue.eachLongest. visit is called with the lock held: the job is
// the queue's, and no worker's, until it returns.
func (p *Pool[T]) eachLongest(n int, visit func(FlowStats, T)) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.eachLongest(now, n, visit)
}
