package benchmarks

import (
	"math"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

const (
	leastSpare  = 8
	mostSpare   = 32
	mostWorkers = 128
)

// naivePolicy wants so many idle workers, neither more nor less, at once.
type naivePolicy struct{ spare int }

func (p naivePolicy) Decide(_ time.Time, s radpool.Snapshot) radpool.Decision {
	missing := min(s.Busy+p.spare, mostWorkers) - s.Workers
	return radpool.Decision{Spawn: max(missing, 0), Retire: max(-missing, 0)}
}

// demand is how many workers a day could use, in 1,024 steps: by night none, at
// noon more than there may be.
func demand() (busy [1024]int) {
	for i := range busy {
		busy[i] = int(80 * (1 - math.Cos(2*math.Pi*float64(i)/float64(len(busy)))))
	}
	return busy
}

// A crew does what a policy decides.
type crew struct {
	radpool.Snapshot
	now time.Time
}

func (c *crew) step(p radpool.Policy, demand int) {
	c.now = c.now.Add(100 * time.Millisecond)
	c.Busy = min(demand, c.Workers)
	c.Idle = c.Workers - c.Busy
	c.Queued = demand - c.Busy
	d := p.Decide(c.now, c.Snapshot)
	if d.Spawn > 0 {
		c.LastSpawn = c.now
	}
	if d.Retire > 0 {
		c.LastRetire = c.now
	}
	c.Workers += d.Spawn - min(d.Retire, c.Idle)
}

// BenchmarkPolicy is one decision of a policy, over days on which the demand rises
// and falls, and what is done about it. fixed has nothing to decide; naive, without
// memory of when it last grew, starts and ends workers for every request that
// comes and goes.
func BenchmarkPolicy(b *testing.B) {
	busy := demand()
	for _, impl := range []struct {
		name   string
		policy radpool.Policy
	}{
		{"radpool", radpool.Spare{MinSpareServers: leastSpare, MaxSpareServers: mostSpare, MaxServers: mostWorkers}},
		{"fixed", radpool.Fixed(mostWorkers)},
		{"naive", naivePolicy{leastSpare}},
	} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			c := crew{now: time.Unix(1_700_000_000, 0)}
			i := 0
			b.ReportAllocs()
			report := measure(b)
			for b.Loop() {
				c.step(impl.policy, busy[i%len(busy)])
				i++
				if c.Workers < leastSpare || c.Workers > mostWorkers {
					b.Fatalf("%d workers after step %d", c.Workers, i)
				}
			}
			report()
		})
	}
}
