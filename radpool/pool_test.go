package radpool_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/radpool"
)

// newTestPool makes a pool that the test must end itself.
func newTestPool[T any](t testing.TB, cfg radpool.PoolConfig[T]) *radpool.Pool[T] {
	t.Helper()
	p, err := radpool.NewPool(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closePool[T any](t testing.TB, p *radpool.Pool[T]) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	checkPoolBalance(t, p.Stats())
}

// checkPoolBalance verifies the identity that PoolStats documents.
func checkPoolBalance(t testing.TB, s radpool.PoolStats) {
	t.Helper()
	sum := s.Refused + s.Evicted + s.Expired + s.Closed + s.Completed + s.Failed + uint64(s.Queued) + uint64(s.Running)
	if s.Submitted != sum {
		t.Errorf("%d jobs submitted, %d accounted for: %+v", s.Submitted, sum, s)
	}
	if s.Workers != s.Idle+s.Busy+s.Starting {
		t.Errorf("workers do not add up: %+v", s)
	}
}

// poolLog collects what happens, one word an event.
type poolLog struct {
	mu    sync.Mutex
	words []string
}

func (l *poolLog) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words = append(l.words, fmt.Sprintf(format, args...))
}

// take returns the words since the last call.
func (l *poolLog) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := strings.Join(l.words, " ")
	l.words = nil
	return s
}

func TestNewPoolRejects(t *testing.T) {
	defer goleak.VerifyNone(t)
	run := func(*radpool.Worker, []int) {}
	for _, tc := range []struct {
		cfg  radpool.PoolConfig[int]
		want string
	}{
		{radpool.PoolConfig[int]{}, "PoolConfig.Run is nil"},
		{radpool.PoolConfig[int]{Run: run, MaxQueueSize: -1}, "PoolConfig.MaxQueueSize is -1: must be from 1 to 16777216"},
		{radpool.PoolConfig[int]{Run: run, MaxBatch: 65537}, "PoolConfig.MaxBatch is 65537: must be from 1 to 65536"},
		{radpool.PoolConfig[int]{Run: run, MaxRequestsPerServer: -1}, "PoolConfig.MaxRequestsPerServer is -1"},
		{radpool.PoolConfig[int]{Run: run, Policy: radpool.Fixed(0)}, "PoolConfig.Policy: radpool: Fixed(0)"},
		{radpool.PoolConfig[int]{Run: run, Policy: radpool.Spare{MaxServers: -1}}, "MaxServers is -1"},
	} {
		if _, err := radpool.NewPool(tc.cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v; want %q", err, tc.want)
		}
	}
}

func TestPoolRunsByUrgency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[string]{
			Policy: radpool.Fixed(1),
			Run: func(_ *radpool.Worker, jobs []string) {
				log.add("%s", strings.Join(jobs, "+"))
				<-hold
			},
		})
		for _, j := range []struct {
			c radpool.Class
			v string
		}{{radpool.ClassInterim, "first"}, {radpool.ClassInterim, "i"}, {radpool.ClassAccounting, "s"}, {radpool.ClassAccess, "a"}, {radpool.ClassStatus, "p"}} {
			if err := p.Submit(j.c, time.Time{}, j.v); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		if n := p.Queued(); n != 4 {
			t.Errorf("%d queued", n)
		}
		if s := p.Stats(); s.Running != 1 || s.Queued != 4 || s.Busy != 1 || s.QueueHighWater != 4 || s.Classes[radpool.ClassInterim].Queued != 1 {
			t.Errorf("%+v", s)
		}
		close(hold)
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if got := log.take(); got != "first p a s i" {
			t.Error(got)
		}
		closePool(t, p)
	})
}

func TestPoolFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[string]{
			MaxQueueSize: 2,
			Policy:       radpool.Fixed(1),
			Run:          func(_ *radpool.Worker, jobs []string) { log.add("run:%s", jobs[0]); <-hold },
			Drop:         func(v string, c radpool.Class, why radpool.Drop) { log.add("%v:%v:%s", why, c, v) },
		})
		submit := func(c radpool.Class, life time.Duration, v string, want error) {
			t.Helper()
			var expires time.Time
			if life != 0 {
				expires = time.Now().Add(life)
			}
			if err := p.Submit(c, expires, v); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", v, err, want)
			}
			synctest.Wait()
		}
		submit(radpool.ClassAccess, 0, "running", nil)
		submit(radpool.ClassAccess, -1, "late", radpool.ErrExpired)
		submit(radpool.ClassInterim, 0, "i1", nil)
		submit(radpool.ClassInterim, time.Second, "i2", nil)
		submit(radpool.ClassInterim, 0, "i3", radpool.ErrQueueFull)
		submit(radpool.ClassAccess, 0, "a1", nil) // i2 is the newest of the lowest
		submit(radpool.ClassAccess, time.Second, "a2", nil)
		submit(radpool.ClassAccess, 0, "a3", radpool.ErrQueueFull)
		time.Sleep(time.Second)
		submit(radpool.ClassInterim, time.Second, "i4", nil) // a2 has expired
		time.Sleep(time.Second)
		close(hold)
		synctest.Wait()
		want := "run:running evicted:interim:i2 evicted:interim:i1 expired:access:a2 expired:interim:i4 run:a1"
		if got := log.take(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		s := p.Stats()
		if s.Refused != 2 || s.Evicted != 2 || s.Expired != 3 || s.Completed != 2 || s.Classes[radpool.ClassInterim].Evicted != 2 {
			t.Errorf("%+v", s)
		}
		closePool(t, p)
		submit(radpool.ClassAccess, 0, "after", radpool.ErrPoolClosed)
	})
}

// A worker that was held up finds many that have expired: they leave without
// a run, more than it takes at once, and then the live one runs.
func TestPoolDropsExpiredUnrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		var log poolLog
		dropped := 0
		p := newTestPool(t, radpool.PoolConfig[string]{
			Policy: radpool.Fixed(1),
			Run:    func(_ *radpool.Worker, jobs []string) { log.add("%s", jobs[0]); <-hold },
			Drop:   func(string, radpool.Class, radpool.Drop) { dropped++ },
		})
		_ = p.Submit(radpool.ClassAccess, time.Time{}, "slow")
		synctest.Wait()
		for range 1000 {
			_ = p.Submit(radpool.ClassAccess, time.Now().Add(3*time.Second), "dead")
		}
		_ = p.Submit(radpool.ClassInterim, time.Time{}, "live")
		time.Sleep(9 * time.Second)
		if s := p.Stats(); s.Classes[radpool.ClassAccess].Oldest != 9*time.Second {
			t.Errorf("oldest: %v", s.Classes[radpool.ClassAccess].Oldest)
		}
		close(hold)
		synctest.Wait()
		if got := log.take(); got != "slow live" || dropped != 1000 {
			t.Errorf("%q, %d dropped", got, dropped)
		}
		closePool(t, p)
	})
}

// 32 slow jobs that come at once are on 32 workers at once.
func TestPoolSpreadsABurstOfSlowJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Fixed(32),
			Run:    func(*radpool.Worker, []int) { time.Sleep(time.Second) },
		})
		synctest.Wait()
		begin := time.Now()
		jobs := make([]radpool.Job[int], 32)
		if n := p.SubmitBatch(jobs); n != 32 {
			t.Errorf("%d accepted", n)
		}
		synctest.Wait()
		if s := p.Stats(); s.Busy != 32 || s.Queued != 0 {
			t.Errorf("%+v", s)
		}
		if err := p.Shutdown(t.Context()); err != nil || time.Since(begin) != time.Second {
			t.Errorf("%v, after %v", err, time.Since(begin))
		}
		closePool(t, p)
	})
}

func TestPoolMaxBatchTakesAllThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy:   radpool.Fixed(1),
			MaxBatch: 8,
			Run:      func(_ *radpool.Worker, jobs []int) { log.add("%v", jobs); <-hold },
		})
		for i := range 12 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, i)
			if i == 0 {
				synctest.Wait() // the first runs alone: nobody waits for company
			}
		}
		close(hold)
		closed := p.Shutdown(t.Context())
		if got := log.take(); got != "[0] [1 2 3 4 5 6 7 8] [9 10 11]" || closed != nil {
			t.Error(got, closed)
		}
		closePool(t, p)
	})
}

// The urgent in a batch would have to wait until the less urgent are done.
func TestPoolBatchIsOfOneClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy:   radpool.Fixed(1),
			MaxBatch: 8,
			Run:      func(_ *radpool.Worker, jobs []int) { log.add("%v", jobs); <-hold },
		})
		_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
		synctest.Wait()
		for i, class := range []radpool.Class{radpool.ClassInterim, radpool.ClassAccess, radpool.ClassAccounting, radpool.ClassAccess, radpool.ClassInterim} {
			_ = p.Submit(class, time.Time{}, i+1)
		}
		close(hold)
		closed := p.Shutdown(t.Context())
		if got := log.take(); got != "[0] [2 4] [3] [1 5]" || closed != nil {
			t.Error(got, closed)
		}
		closePool(t, p)
	})
}

func TestPoolSubmitBatchTellsEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log poolLog
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[string]{
			MaxQueueSize: 2,
			Policy:       radpool.Fixed(1),
			Run:          func(*radpool.Worker, []string) { <-hold },
			Drop:         func(v string, _ radpool.Class, why radpool.Drop) { log.add("%v:%s", why, v) },
		})
		_ = p.Submit(radpool.ClassAccess, time.Time{}, "running")
		synctest.Wait()
		jobs := []radpool.Job[string]{
			{Value: "i1", Class: radpool.ClassInterim},
			{Value: "late", Class: radpool.ClassAccess, Expires: time.Now()},
			{Value: "i2", Class: radpool.ClassInterim},
			{Value: "i3", Class: radpool.ClassInterim, Err: errors.New("left from before")},
			{Value: "a1", Class: radpool.ClassAccess},
		}
		if n := p.SubmitBatch(jobs); n != 3 {
			t.Errorf("%d accepted", n)
		}
		for i, want := range []error{nil, radpool.ErrExpired, nil, radpool.ErrQueueFull, nil} {
			if !errors.Is(jobs[i].Err, want) {
				t.Errorf("%s: %v, want %v", jobs[i].Value, jobs[i].Err, want)
			}
		}
		if got := log.take(); got != "evicted:i2" {
			t.Error(got)
		}
		close(hold)
		closePool(t, p)
	})
}

func TestPoolUnknownClassPanics(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newTestPool(t, radpool.PoolConfig[int]{Policy: radpool.Fixed(1), Run: func(*radpool.Worker, []int) {}})
	for _, call := range []func(){
		func() { _ = p.Submit(9, time.Time{}, 0) },
		func() { p.SubmitBatch([]radpool.Job[int]{{Class: 9}}) },
	} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.HasPrefix(v, "radpool: class 9") {
					t.Errorf("panic %q", v)
				}
			}()
			call()
		}()
	}
	closePool(t, p) // would hang if the lock were still held
}

// Jobs that come one after the other are all run by the same worker, while its
// caches are warm; and those that the policy ends are the ones that had nothing
// to do for longest.
func TestPoolKeepsToTheWarmestWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		ran, stopped := make(map[int]int), make(map[int]bool)
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Spare{StartServers: 20, MinSpareServers: 1, MaxSpareServers: 2},
			Run: func(w *radpool.Worker, _ []int) {
				mu.Lock()
				ran[w.ID]++
				mu.Unlock()
				time.Sleep(time.Millisecond)
			},
			WorkerStop: func(w *radpool.Worker) {
				mu.Lock()
				stopped[w.ID] = true
				mu.Unlock()
			},
		})
		for range 1000 { // far longer than it takes to end 18 workers
			_ = p.Submit(radpool.ClassAccess, time.Time{}, 0)
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if len(ran) != 1 || len(stopped) != 18 {
			t.Errorf("workers that ran: %v, that ended: %v", ran, stopped)
		}
		for id := range ran {
			if stopped[id] {
				t.Errorf("worker %d was the warmest, and was ended", id)
			}
		}
		closePool(t, p)
	})
}
