package radpool_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

// A pool of 64 busy workers is made one of 4 and one of 100 again, while jobs wait: no
// more of them run than the policy of the time allows, and each runs once.
func TestSetPolicyUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jobs = 20_000
		var running, ran, most atomic.Int64
		p := newTestPool(t, radpool.PoolConfig[int]{
			MaxQueueSize: jobs,
			Policy:       radpool.Spare{MaxServers: 64},
			Run: func(*radpool.Worker, []int) {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(50 * time.Millisecond)
				running.Add(-1)
				ran.Add(1)
			},
			Drop: func(int, radpool.Class, radpool.Drop) { t.Error("a job was dropped") },
		})
		for i := range jobs {
			if err := p.Submit(radpool.ClassAccess, time.Time{}, i); err != nil {
				t.Fatal(err)
			}
		}
		for _, servers := range []int{64, 4, 100} {
			if err := p.SetPolicy(radpool.Spare{MaxServers: servers}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // what was running has ended
			most.Store(0)
			time.Sleep(time.Second)
			if got := most.Load(); got != int64(servers) {
				t.Errorf("MaxServers %d: %d jobs ran at once", servers, got)
			}
			wantWorkers(t, p, "of this policy", servers)
		}
		if err := p.SetPolicy(radpool.Spare{MaxServers: -1}); err == nil || !strings.Contains(err.Error(), "MaxServers is -1") {
			t.Errorf("got %v", err)
		}
		wantWorkers(t, p, "after a wrong policy", 100)
		time.Sleep(time.Minute)
		if got := ran.Load(); got != jobs {
			t.Errorf("%d jobs ran of %d", got, jobs)
		}
		if err := p.SetPolicy(nil); err != nil {
			t.Error(err)
		}
		closePool(t, p)
		if err := p.SetPolicy(radpool.Fixed(3)); err != nil { // it does nothing any more
			t.Error(err)
		}
	})
}

// A policy that is replaced while it decides has nothing to say any more.
func TestSetPolicyWhileTheOldOneDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowPolicy{inside: make(chan struct{}), out: make(chan struct{})}
		p := newTestPool(t, radpool.PoolConfig[int]{Policy: slow, Run: func(*radpool.Worker, []int) {}})
		slow.wait.Store(true)
		time.Sleep(2 * time.Second) // it is asked again
		<-slow.inside
		if err := p.SetPolicy(radpool.Fixed(3)); err != nil {
			t.Fatal(err)
		}
		close(slow.out)
		wantWorkers(t, p, "of the new policy", 3)
		closePool(t, p)
	})
}

// The limit of the policy before is forgotten at once, whenever the new one answers.
func TestSetPolicyLiftsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: policyFunc(func(_ time.Time, s radpool.Snapshot) radpool.Decision {
				return radpool.Decision{Spawn: 3 - s.Workers, Limit: 1}
			}),
			Run: func(*radpool.Worker, []int) {
				ran.Add(1)
				time.Sleep(time.Hour)
			},
		})
		synctest.Wait()
		for i := range 3 {
			if err := p.Submit(radpool.ClassAccess, time.Time{}, i); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if got := ran.Load(); got != 1 {
			t.Fatalf("%d jobs run, the limit is 1", got)
		}
		answer := make(chan struct{})
		if err := p.SetPolicy(policyFunc(func(time.Time, radpool.Snapshot) radpool.Decision {
			<-answer
			return radpool.Decision{}
		})); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := ran.Load(); got != 3 {
			t.Errorf("%d jobs run of 3, on 3 workers without a limit", got)
		}
		close(answer)
		closePool(t, p)
	})
}

type slowPolicy struct {
	wait        atomic.Bool
	inside, out chan struct{}
}

func (p *slowPolicy) Decide(now time.Time, s radpool.Snapshot) radpool.Decision {
	if p.wait.Load() {
		close(p.inside)
		<-p.out
		return radpool.Decision{Spawn: 50, State: "of another"}
	}
	return radpool.Decision{Spawn: 1 - s.Workers, Next: now.Add(time.Second)}
}
