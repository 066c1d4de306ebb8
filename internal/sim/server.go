package sim

import (
	"time"

	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/radpool"
)

// Server is the server of a scenario: the duplicate table, the queue and the workers.
type Server struct {
	// NewQueue makes the queue, of at most MaxQueueSize. nil: [Radpool].
	NewQueue     func(size int) (Queue, error)
	MaxQueueSize int // Zero: 65,536.
	// Policy decides how many workers there are, and WorkerStart is how long one
	// takes to start.
	Policy      radpool.Policy
	WorkerStart time.Duration
	// MaxRequestTime is the age at which a request is not answered any more, and
	// CleanupDelay how long a reply is kept. Zero: 9 s and 10 s.
	MaxRequestTime, CleanupDelay time.Duration
	// Patience is how long after it was last sent a request is taken to be still wanted.
	// Zero: until MaxRequestTime.
	Patience time.Duration
	// Cost is what each datagram costs before it is judged: while the server is
	// at it, the next ones wait. Zero: nothing.
	Cost time.Duration
}

// Queue is the order in which requests run: a [radpool.Queue] is one.
type Queue interface {
	Push(now time.Time, class radpool.Class, flow uint64, expires time.Time, j *Job) (out radpool.Item[*Job], ok bool)
	Pop(now time.Time) (out radpool.Item[*Job], ok bool)
	Expire(now time.Time) (out radpool.Item[*Job], ok bool)
	Len() int
}

// Radpool makes the queue of radpool.
func Radpool(size int) (Queue, error) {
	return radpool.NewQueue(radpool.QueueConfig[*Job]{MaxQueueSize: size, Renew: (*Job).wanted})
}

// FIFO makes the queue that collapses, the control: first in, first out, whatever
// anybody still waits for, and what comes when it is full is refused.
func FIFO(size int) (Queue, error) { return &fifo{size: size}, nil }

type fifo struct {
	size  int
	items []radpool.Item[*Job]
	since []time.Time
}

func (q *fifo) Push(now time.Time, class radpool.Class, _ uint64, _ time.Time, j *Job) (radpool.Item[*Job], bool) {
	it := radpool.Item[*Job]{Value: j, Class: class}
	if len(q.items) == q.size {
		it.Why = radpool.DropRefused
		return it, false
	}
	q.items, q.since = append(q.items, it), append(q.since, now)
	return radpool.Item[*Job]{}, true
}

func (q *fifo) Pop(now time.Time) (radpool.Item[*Job], bool) {
	if len(q.items) == 0 {
		return radpool.Item[*Job]{}, false
	}
	it := q.items[0]
	it.Waited = now.Sub(q.since[0])
	q.items[0] = radpool.Item[*Job]{}
	q.items, q.since = q.items[1:], q.since[1:]
	return it, true
}

func (q *fifo) Expire(time.Time) (radpool.Item[*Job], bool) { return radpool.Item[*Job]{}, false }

func (q *fifo) Len() int { return len(q.items) }

// Job is a request that the server has accepted.
type Job struct {
	request *request
	server  *server
	ticket  cache.Ticket
	came    time.Time
	seen    time.Time // when it, or its last retransmission, arrived
}

// wanted is until when somebody waits for the answer, as far as the server knows.
func (j *Job) wanted() time.Time {
	until := j.came.Add(j.server.MaxRequestTime)
	if p := j.server.Patience; p > 0 && j.seen.Add(p).Before(until) {
		return j.seen.Add(p)
	}
	return until
}

// server is a Server that runs.
type server struct {
	*world
	Server
	cache *cache.Cache
	queue Queue
	pool  *pool
	count *ServerCount
	free  time.Duration // when it has read all that has come
}

func (s *server) len() int { return s.queue.Len() }

// receive takes a datagram when the server comes to read it.
func (s *server) receive(r *request) {
	s.free = max(s.free, s.now) + s.Cost
	s.at(s.free, func() { s.take(r) })
}

// take judges a datagram.
func (s *server) take(r *request) {
	s.count.Received++
	now := s.time()
	ticket, verdict, _ := s.cache.Begin(now, &r.key, nil)
	switch verdict {
	case cache.Fresh, cache.Superseded:
		r.job = &Job{request: r, server: s, ticket: ticket, came: now, seen: now}
		s.push(r.job)
	case cache.Replay:
		s.count.Replayed++
		s.reply(r)
	case cache.Full:
		s.count.TableFull++
	default:
		s.count.Duplicate++
		r.job.seen = now
	}
}

func (s *server) push(j *Job) {
	r := j.request
	out, ok := s.queue.Push(j.came, r.class, uint64(r.nas.index), j.wanted(), j)
	if !ok {
		out.Value = j
	}
	if out.Why != radpool.DropNone {
		s.drop(out)
	}
	s.count.MaxQueued = max(s.count.MaxQueued, s.queue.Len())
	s.pool.work()
}

// drop ends a job that is not run.
func (s *server) drop(it radpool.Item[*Job]) {
	switch it.Why {
	case radpool.DropExpired:
		s.count.Expired++
	case radpool.DropEvicted:
		s.count.Evicted[it.Class]++
	default:
		s.count.Refused[it.Class]++
	}
	it.Value.ticket.Abandon()
}

// pop takes out the next job that is still to be run.
func (s *server) pop(now time.Time) *Job {
	for {
		it, ok := s.queue.Expire(now)
		if !ok {
			break
		}
		s.drop(it)
	}
	it, ok := s.queue.Pop(now)
	switch {
	case !ok:
		return nil
	case it.Why != radpool.DropNone:
		s.drop(it)
		return nil
	case !it.Value.ticket.Current():
		s.count.Superseded++
		it.Value.ticket.Abandon()
		return nil
	}
	return it.Value
}

// done ends a job that was run.
func (s *server) done(j *Job) {
	s.count.Run++
	now := s.time()
	switch {
	case !j.ticket.Finish(now, answer[:]):
		s.count.Superseded++
	case now.Sub(j.came) >= s.MaxRequestTime:
		s.count.Expired++
	default:
		s.count.Replied++
		s.reply(j.request)
	}
}

// answer is a reply, since one without octets would be silence.
var answer [20]byte

func (s *server) reply(r *request) { s.carry(func() { r.nas.answered(r) }) }
