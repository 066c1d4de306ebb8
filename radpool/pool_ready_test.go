package radpool_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

// While nothing but leftovers of a storm waits, a new job finds a worker ready. What
// waits is worked off all the same, by the others; and a pool that has nobody to spare, or
// jobs that never expire, leaves nobody idle.
func TestPoolIsReadyWhileItClearsUp(t *testing.T) {
	const service, storm = 50 * time.Millisecond, 4000
	for name, c := range map[string]struct {
		workers int
		expires time.Duration
		ready   int
	}{
		"many":          {64, time.Hour, 2},
		"just enough":   {32, time.Hour, 1},
		"few":           {31, time.Hour, 0},
		"never expires": {64, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := make(map[int]time.Time)
				var mu sync.Mutex
				p := newTestPool(t, radpool.PoolConfig[int]{
					Policy: radpool.Fixed(c.workers),
					Run: func(_ *radpool.Worker, jobs []int) {
						mu.Lock()
						began[jobs[0]] = time.Now()
						mu.Unlock()
						time.Sleep(service)
					},
				})
				submit := func(v int) {
					expires := time.Time{}
					if c.expires > 0 {
						expires = time.Now().Add(c.expires)
					}
					if err := p.Submit(radpool.ClassAccess, expires, v); err != nil {
						t.Fatal(err)
					}
				}
				for i := range storm {
					submit(i)
				}
				time.Sleep(time.Second + service/2)
				if s := p.Stats(); s.Idle != c.ready || s.Queued == 0 || s.Running != c.workers-c.ready {
					t.Errorf("%d idle, %d running, %d wait", s.Idle, s.Running, s.Queued)
				}
				submit(-1)
				synctest.Wait()
				mu.Lock()
				at, ok := began[-1]
				mu.Unlock()
				if ok != (c.ready > 0) || ok && !at.Equal(time.Now()) {
					t.Errorf("the new job began: %v", ok)
				}
				time.Sleep(storm * service / time.Duration(c.workers-c.ready))
				if s := p.Stats(); s.Completed != storm+1 || s.Queued != 0 || s.Idle != c.workers {
					t.Errorf("%d of %d are done, %d wait", s.Completed, storm+1, s.Queued)
				}
				closePool(t, p)
			})
		})
	}
}
