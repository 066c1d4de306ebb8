package radpool

import (
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// houseInterval is how often the server looks after what no request looks
// after: what has expired while nothing comes, workers that do not come
// back, and what the system drops.
const houseInterval = time.Second

func (e *engine) keepHouse() {
	tick := time.NewTicker(houseInterval)
	defer tick.Stop()
	var arrived, answered uint64
	for {
		select {
		case <-e.houseStop:
			e.lookAtSockets() // for the last time
			return
		case now := <-tick.C:
			e.cache.Expire(now)
			e.warnOfStuck(now)
			e.lookAtSockets()
			var st Stats
			e.counters.sum(&st)
			e.rates.look(now, e.rateCounts(&st))
			if e.config.AutoLimitAcct {
				// What was dropped has arrived but was not answered: otherwise a
				// queue that is full all the time would look like one that keeps up.
				a, b := arrived, answered
				arrived = st.AccessRequests + st.AccountingRequests
				answered = st.Replied + st.Unanswered + st.Failed + st.Superseded
				e.outpaced.Store(arrived-a > answered-b)
			}
		}
	}
}

// warnOfStuck logs when workers are still running a request whose time is over:
// such a worker is lost to all others, and only the Handler can let it go.
func (e *engine) warnOfStuck(now time.Time) {
	n, oldest := e.runs.over(now.Sub(e.epoch), e.config.MaxRequestTime)
	if n > 0 {
		e.log.Warn("handlers do not return although max_request_time is over: is the back end answering?",
			zap.Int("workers", n), zap.Duration("oldest", oldest))
	}
}

// runSet knows since when each worker has been running what it runs.
type runSet struct {
	mu  sync.Mutex
	all map[*workerState]struct{}
}

// run is written by its worker and read by the housekeeper.
type run struct {
	arrived atomic.Int64 // when its first request arrived, in nanoseconds of the engine, plus 1; 0 while idle
}

func (r *run) begin(arrived int64) { r.arrived.Store(arrived + 1) }

func (r *run) end() { r.arrived.Store(0) }

func (s *runSet) add(w *workerState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[*workerState]struct{})
	}
	s.all[w] = struct{}{}
}

func (s *runSet) remove(w *workerState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, w)
}

// over returns how many have been running for longer than limit at now, a time of
// the engine, and the age of the oldest.
func (s *runSet) over(now, limit time.Duration) (n int, oldest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.all {
		arrived := w.run.arrived.Load()
		if arrived == 0 {
			continue
		}
		if age := now - time.Duration(arrived-1); age >= limit {
			n++
			oldest = max(oldest, age)
		}
	}
	return n, oldest
}
