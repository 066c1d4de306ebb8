package radpool

import "time"

// Policy decides how many workers there should be. Decide is a pure function:
// the same arguments give the same answer, it keeps nothing, and neither
// blocks nor calls the [Pool]. What it has to remember, the pool keeps for it
// (Decision.State). So a policy is tested as a table. See [Spare], [Adaptive]
// and [Fixed].
//
// A policy that also has a method Validate() error is asked by [NewPool].
type Policy interface {
	Decide(now time.Time, s Snapshot) Decision
}

// Snapshot is what a [Policy] decides from: the pool as it is now.
type Snapshot struct {
	// Workers is the number of workers: the idle and the busy ones.
	Workers int
	// Idle is the number that have nothing to do. One that is just being
	// started is among them, unless that takes long and a job waits for it.
	Idle int
	// Busy is the number of the others.
	Busy int
	// Queued is the number of jobs that wait in the queue.
	Queued int
	// LastSpawn is when the policy last made the pool grow, and LastRetire
	// when it last made it shrink. They are zero until then. A worker that is
	// replaced (see PoolConfig.MaxRequestsPerServer) counts as neither.
	LastSpawn, LastRetire time.Time
	// Done is the number of jobs that have been run since the pool was made,
	// whatever their end, Runs the number of batches in which they were (the same
	// where MaxBatch is 1), and DoneTime the time that workers have spent on
	// them. Between two snapshots, the growth of DoneTime over that of Done is
	// what one job took of a worker.
	Done, Runs uint64
	DoneTime   time.Duration
	// BusyTime is DoneTime, and the time that workers have spent by now on what
	// they still run. Its growth over the time between two snapshots is how many
	// workers were busy on average.
	BusyTime time.Duration
	// State is Decision.State of the policy's last answer, nil before the first.
	State any
}

// Decision is what a [Policy] answers. The zero value means: all is well, do
// not ask again before something new is decided.
type Decision struct {
	// Spawn is the number of workers to start now, and Retire the number of
	// idle ones to end now. A busy worker is never ended: if fewer are idle,
	// fewer end.
	Spawn, Retire int
	// Limit is the most workers that may run jobs at once, until the next
	// answer. Those beyond it stay idle though jobs wait: what they do now they
	// finish. Unlike Retire it takes nothing away that a hook would have to set
	// up again, and it takes effect while all workers are busy. Zero: no limit.
	Limit int
	// State is kept for the policy until it is asked again; see Snapshot.State.
	// It is not to be changed once it is here. nil: nothing to remember.
	State any
	// Next is when to ask again, whatever happens until then. Zero: no need.
	Next time.Time
	// IdleLow and IdleHigh are why to ask again at once, before Next: fewer
	// than IdleLow workers are idle, or more than IdleHigh. Zero: no need.
	// They make it unnecessary to ask at every job, and to ask by the clock.
	IdleLow, IdleHigh int
}
