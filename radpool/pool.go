package radpool

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors of [Pool.Submit] and [Pool.SubmitBatch].
var (
	// ErrQueueFull: MaxQueueSize jobs wait, none of which has to give way.
	ErrQueueFull = errors.New("radpool: queue is full")
	// ErrPoolClosed: Shutdown or Close has been called.
	ErrPoolClosed = errors.New("radpool: pool is closed")
	// ErrExpired: the job had expired before it was submitted.
	ErrExpired = errors.New("radpool: job has expired")
)

const (
	defaultPoolQueue = 65536
	maxPoolBatch     = 65536
)

// PoolConfig configures a [Pool]. Zero fields mean the defaults; only Run is
// required. The functions are called without any lock held, and several of
// them may be called at once.
type PoolConfig[T any] struct {
	// MaxQueueSize is the most jobs that may wait, from 1 to [MaxQueueLen]
	// (max_queue_size of FreeRADIUS). Zero: 65,536, which is FreeRADIUS's.
	MaxQueueSize int

	// Order is which job of a flow runs first. Zero: [FreshestInDelay].
	Order Order

	// renew is QueueConfig.Renew. It is called with the lock held, so it is not for
	// users.
	renew func(v T) time.Time

	// Policy decides how many workers there are. nil: [Spare] with its defaults.
	Policy Policy

	// Run runs jobs on a worker: one, or up to MaxBatch of them. The slice is
	// valid until Run returns. A panic in it is recovered and the worker
	// replaced, since its State may be half changed.
	Run func(w *Worker, jobs []T)

	// MaxBatch is the most jobs that Run takes at once, from 1 to 65,536. A
	// worker takes what waits, all of one class, and never waits for more. Above 1, Run is to
	// treat them as one, such as a single statement to a database: jobs that
	// it does one after the other only wait longer, while other workers are
	// idle. Zero: 1.
	MaxBatch int

	// MaxRequestsPerServer is the number of jobs after which a worker is
	// replaced by a new one (max_requests_per_server). The old one's
	// WorkerStop returns before the new one's WorkerStart is called. Zero: no
	// limit.
	MaxRequestsPerServer int

	// WorkerStart and WorkerStop are called on the goroutine of each worker,
	// before its first jobs and after its last. nil: nothing to do.
	WorkerStart, WorkerStop func(w *Worker)

	// Drop is called once for each job that Submit accepted and that will not
	// be run: evicted, expired or closed. (A refused job is an error of Submit
	// and not a call of Drop.) It is called by whoever found out: a worker, a
	// caller of Submit, Shutdown or Close. It should be quick. nil: they are
	// only counted.
	Drop func(v T, class Class, why Drop)

	// Panic is called after a panic in one of these functions or in the Policy
	// was recovered and counted. jobs is nil unless it was in Run, and w is nil
	// unless it was in Run, WorkerStart or WorkerStop. v is what was passed to
	// panic, or an error if Run ended the goroutine with runtime.Goexit (as
	// t.FailNow does; the other functions must not). nil: at most one panic a
	// second is written with the log package.
	Panic func(w *Worker, jobs []T, v any, stack []byte)

	// alone is called by a worker that is about to run jobs or to wait for some,
	// where no other has been woken that has not looked yet. It must neither block
	// nor panic.
	alone func(w *Worker)
}

// Job is a job for [Pool.SubmitBatch].
type Job[T any] struct {
	Value   T
	Class   Class
	Flow    uint64    // whose it is: each flow of a class gets its turn, see Queue
	Expires time.Time // zero: never
	// Err is set by SubmitBatch: nil if the job was accepted, and otherwise
	// what Submit would have returned.
	Err error
}

// Pool runs jobs from a bounded [Queue] on workers whose number a [Policy]
// decides. Nothing in it is about RADIUS: it serves any job that wants spare
// workers, urgency and deadlines.
//
// Each job given to Submit ends in exactly one of: an error of Submit, a call
// of Run, a call of Drop. [Pool.Stats] counts each.
//
// Idle workers are a stack: the one that was busy last is woken first, while
// its caches are warm. A burst wakes one of them, which wakes the next if more
// waits than it takes: fast jobs stay on few threads, and slow ones spread
// over all.
//
// A Pool is safe for use by several goroutines. [NewPool] makes one; it must
// be ended with [Pool.Shutdown] or [Pool.Close], after which no goroutine of it
// is left.
type Pool[T any] struct {
	cfg  PoolConfig[T]
	kick chan struct{} // wakes the scaler; holds one token
	done chan struct{} // closed when the last worker has ended
	wg   sync.WaitGroup

	epoch time.Time // of times kept as nanoseconds

	panicLog throttle

	// mu is held for a few hundred nanoseconds at a time: no function of the
	// user's is called with it held, and nothing blocks.
	mu        sync.Mutex
	queue     *Queue[T]
	idle      []*worker[T] // parked, the last one parked at the end
	searching bool         // one that was woken for a job has not looked yet
	workers   int          // that count: starting, idle, busy and being replaced
	starting  int          // of them, those that are not ready yet
	active    int          // of them, those that run jobs
	live      int          // goroutines of workers, with those that are ending
	dropping  int          // callers of Submit, Shutdown and Close that are calling Drop
	lastID    int

	policy   Policy
	policies int // how many there were before it

	// What the policy asked for last; see Decision.
	low, high  int
	limit      int
	state      any
	kicked     bool // a token is in kick, or the scaler is about to look
	lastSpawn  time.Time
	lastRetire time.Time
	lastLaunch time.Time // when a worker was last started, for growth or as a replacement

	leftovers bool // when a worker last looked, nothing but leftovers waited, and nothing came since
	closing   bool // no more jobs are accepted
	abandoned bool // nor are the waiting ones run
	finished  bool // done is closed

	tally
}

// NewPool starts a pool with as many workers as the policy wants at first. An
// error names the field that is wrong.
func NewPool[T any](cfg PoolConfig[T]) (*Pool[T], error) {
	if cfg.MaxQueueSize == 0 {
		cfg.MaxQueueSize = defaultPoolQueue
	}
	if cfg.MaxBatch == 0 {
		cfg.MaxBatch = 1
	}
	if cfg.Policy == nil {
		cfg.Policy = Spare{}
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	q, err := NewQueue(QueueConfig[T]{MaxQueueSize: cfg.MaxQueueSize, Order: cfg.Order, Renew: cfg.renew})
	if err != nil {
		return nil, err
	}
	p := &Pool[T]{
		cfg:    cfg,
		policy: cfg.Policy,
		queue:  q,
		kick:   make(chan struct{}, 1),
		done:   make(chan struct{}),
		epoch:  time.Now(),
	}
	next := p.scale()
	p.wg.Go(func() { p.keepScale(next) })
	return p, nil
}

func (cfg *PoolConfig[T]) validate() error {
	if cfg.Run == nil {
		return errors.New("radpool: PoolConfig.Run is nil")
	}
	if cfg.MaxQueueSize < 1 || cfg.MaxQueueSize > MaxQueueLen {
		return fmt.Errorf("radpool: PoolConfig.MaxQueueSize is %d: must be from 1 to %d", cfg.MaxQueueSize, MaxQueueLen)
	}
	if !cfg.Order.valid() {
		return fmt.Errorf("radpool: PoolConfig.Order is %v: there is no such order", cfg.Order)
	}
	if cfg.MaxBatch < 1 || cfg.MaxBatch > maxPoolBatch {
		return fmt.Errorf("radpool: PoolConfig.MaxBatch is %d: must be from 1 to %d", cfg.MaxBatch, maxPoolBatch)
	}
	if cfg.MaxRequestsPerServer < 0 {
		return fmt.Errorf("radpool: PoolConfig.MaxRequestsPerServer is %d: must be 0 (no limit) or more", cfg.MaxRequestsPerServer)
	}
	return validPolicy(cfg.Policy)
}

// Submit queues a job that expires at the given instant, by the monotonic
// clock if it came from time.Now (the zero time: never), of flow 0. It does not block.
//
// With an error (ErrQueueFull, ErrPoolClosed, ErrExpired) the job is the caller's again;
// without one it will end in Run or in Drop. Submit calls Drop if the job made
// room for itself by the loss of another. A class of NumClasses or more panics.
func (p *Pool[T]) Submit(class Class, expires time.Time, v T) error {
	checkClass(class)
	now := time.Now()
	p.mu.Lock()
	out, err := p.admit(now, class, 0, expires, v)
	if err == nil && out.Why != DropNone {
		p.dropping++
	}
	wake := p.wakeOne()
	p.watch(now)
	p.mu.Unlock()
	wake.signal()
	if err == nil && out.Why != DropNone {
		p.dropAll([]Item[T]{out})
	}
	return err
}

// SubmitBatch submits jobs as one call of Submit for each would, in their
// order, but for the price of one lock and one wake: what a reader wants that
// receives many datagrams at once. It sets Err of each job and returns how
// many were accepted. One of them may make an earlier one of them give way:
// that one, having been accepted, goes to Drop. The slice is the caller's.
func (p *Pool[T]) SubmitBatch(jobs []Job[T]) (accepted int) {
	for i := range jobs {
		checkClass(jobs[i].Class)
	}
	for len(jobs) > 0 {
		n := min(len(jobs), submitBatch)
		_, some := p.submitSome(jobs[:n], false)
		accepted += some
		jobs = jobs[n:]
	}
	return accepted
}

// submitBatch bounds how many jobs are queued under one hold of the lock.
const submitBatch = 32

// submitSome queues up to submitBatch jobs, and wakes a worker for them or, if
// asked to and there is an idle one, lends it.
func (p *Pool[T]) submitSome(jobs []Job[T], lend bool) (lent *worker[T], accepted int) {
	var dropped [submitBatch]Item[T]
	n := 0
	now := time.Now()
	p.mu.Lock()
	for i := range jobs {
		j := &jobs[i]
		var out Item[T]
		out, j.Err = p.admit(now, j.Class, j.Flow, j.Expires, j.Value)
		if j.Err != nil {
			continue
		}
		accepted++
		if out.Why != DropNone {
			dropped[n] = out
			n++
		}
	}
	if n > 0 {
		p.dropping++
	}
	var wake *worker[T]
	if lend && n == 0 { // a Drop that ends the goroutine would keep the worker
		lent = p.lend()
	}
	if lent == nil {
		wake = p.wakeOne()
	}
	p.watch(now)
	p.mu.Unlock()
	wake.signal()
	if n > 0 {
		p.dropAll(dropped[:n])
	}
	return lent, accepted
}

// admit queues one job and counts what becomes of it. Called with the lock held.
func (p *Pool[T]) admit(now time.Time, class Class, flow uint64, expires time.Time, v T) (Item[T], error) {
	p.classes[class].Submitted++
	if p.closing {
		p.classes[class].Closed++
		return Item[T]{}, ErrPoolClosed
	}
	out, ok := p.queue.Push(now, class, flow, expires, v)
	if out.Why != DropNone {
		p.countDrop(out.Class, out.Why)
	}
	if ok {
		p.leftovers = false
		p.queueHigh = max(p.queueHigh, p.queue.Len())
		return out, nil
	}
	if out.Why == DropExpired {
		return out, ErrExpired
	}
	return out, ErrQueueFull
}

func checkClass(c Class) {
	if c >= NumClasses {
		panic(fmt.Sprintf("radpool: class %d: there are %d", c, NumClasses))
	}
}
