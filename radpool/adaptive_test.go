package radpool_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

func TestAdaptiveValidate(t *testing.T) {
	for _, tc := range []struct {
		name     string
		adaptive radpool.Adaptive
		want     string // "" is no error
	}{
		{"zero", radpool.Adaptive{}, ""},
		{"one", radpool.Adaptive{MaxServers: 1}, ""},
		{"fixed", radpool.Adaptive{MinServers: 7, MaxServers: 7}, ""},
		{"most", radpool.Adaptive{MaxServers: radpool.MaxWorkers, Interval: 10 * time.Second}, ""},
		{"negative", radpool.Adaptive{MaxServers: -1}, "MaxServers is -1: must be 1 to 65536"},
		{"too many", radpool.Adaptive{MaxServers: 65537}, "MaxServers is 65537: must be 1 to 65536"},
		{"min above max", radpool.Adaptive{MinServers: 129}, "MinServers is 129: must be 1 to 128 (MaxServers)"},
		{"min negative", radpool.Adaptive{MinServers: -2}, "MinServers is -2: must be 1 to 128"},
		{"start below min", radpool.Adaptive{MinServers: 8, StartServers: 7}, "StartServers is 7: must be 8 to 128 (MinServers to MaxServers)"},
		{"start above max", radpool.Adaptive{StartServers: 129}, "StartServers is 129: must be 1 to 128"},
		{"interval", radpool.Adaptive{Interval: time.Microsecond}, "Interval is 1µs: must be 1ms to 10s"},
		{"long", radpool.Adaptive{Interval: time.Minute}, "Interval is 1m0s: must be 1ms to 10s"},
	} {
		err := tc.adaptive.Validate()
		var field *radpool.ConfigError
		switch {
		case tc.want == "" && err != nil, tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		case err != nil && !errors.As(err, &field):
			t.Errorf("%s: %T", tc.name, err)
		}
		if tc.want == "" {
			continue
		}
		if _, err := radpool.NewPool(radpool.PoolConfig[int]{Run: func(*radpool.Worker, []int) {}, Policy: tc.adaptive}); err == nil {
			t.Errorf("%s: NewPool takes it", tc.name)
		}
	}
}

// What Adaptive does with workers, where nothing is to be found out: nothing has
// been measured, and so the limit is StartServers.
func TestAdaptiveDecide(t *testing.T) {
	now := policyEpoch
	ago := func(s float64) time.Time { return now.Add(-time.Duration(s * float64(time.Second))) }
	in := func(s float64) time.Time { return now.Add(time.Duration(s * float64(time.Second))) }
	for _, tc := range []struct {
		name   string
		policy radpool.Adaptive
		s      radpool.Snapshot
		want   radpool.Decision
	}{
		{"start", radpool.Adaptive{}, radpool.Snapshot{}, radpool.Decision{Spawn: 1, Limit: 1, IdleLow: 1, IdleHigh: 32}},
		{"start with many", radpool.Adaptive{StartServers: 20}, radpool.Snapshot{}, radpool.Decision{Spawn: 20, Limit: 20, IdleLow: 1, IdleHigh: 32}},
		{"eight are spare", radpool.Adaptive{StartServers: 20}, radpool.Snapshot{Workers: 9, Idle: 5, LastSpawn: ago(1)},
			radpool.Decision{Spawn: 3, Limit: 20, IdleLow: 8, IdleHigh: 32}},
		{"as far as the limit goes", radpool.Adaptive{StartServers: 10}, radpool.Snapshot{Workers: 9, Idle: 1, LastSpawn: ago(1)},
			radpool.Decision{Spawn: 1, Limit: 10, IdleLow: 1, IdleHigh: 32}},
		{"never below the least", radpool.Adaptive{StartServers: 10, MinServers: 10}, radpool.Snapshot{Workers: 8, Idle: 8, LastSpawn: ago(1)},
			radpool.Decision{Spawn: 2, Limit: 10, IdleLow: 1, IdleHigh: 32}},
		{"the limit is met: in a while it will be measured", radpool.Adaptive{StartServers: 4}, radpool.Snapshot{Workers: 4, Queued: 9, LastSpawn: ago(9)},
			radpool.Decision{Limit: 4, IdleHigh: 32, Next: in(0.025)}},
		{"workers above the limit do not hide that", radpool.Adaptive{StartServers: 4}, radpool.Snapshot{Workers: 5, Idle: 1, Queued: 9, LastSpawn: ago(9)},
			radpool.Decision{Limit: 4, IdleHigh: 32, Next: in(0.025)}},
		{"it is not met", radpool.Adaptive{StartServers: 4}, radpool.Snapshot{Workers: 6, Idle: 3, LastSpawn: ago(9)},
			radpool.Decision{Limit: 4, IdleLow: 3, IdleHigh: 32}},
		{"too many idle, too soon", radpool.Adaptive{StartServers: 100}, radpool.Snapshot{Workers: 90, Idle: 48, LastSpawn: ago(2)},
			radpool.Decision{Limit: 100, IdleLow: 8, Next: in(3)}},
		{"too many idle", radpool.Adaptive{StartServers: 100}, radpool.Snapshot{Workers: 90, Idle: 48, LastSpawn: ago(9)},
			radpool.Decision{Retire: 2, Limit: 100, IdleLow: 8, Next: in(1)}},
		{"too many of all", radpool.Adaptive{StartServers: 10}, radpool.Snapshot{Workers: 30, Idle: 25, LastSpawn: ago(9)},
			radpool.Decision{Retire: 2, Limit: 10, IdleLow: 19, Next: in(1)}},
		{"the last of them", radpool.Adaptive{StartServers: 10}, radpool.Snapshot{Workers: 15, Idle: 12, LastSpawn: ago(9)},
			radpool.Decision{Retire: 1, Limit: 10, IdleLow: 5, IdleHigh: 32}},
	} {
		tc.s.Busy = tc.s.Workers - tc.s.Idle
		got := tc.policy.Decide(now, tc.s)
		if again := tc.policy.Decide(now, tc.s); again != got || got.State == nil {
			t.Errorf("%s: %+v, and then %+v", tc.name, got, again)
		}
		got.State = nil
		if got != tc.want {
			t.Errorf("%s: %+v; want %+v", tc.name, got, tc.want)
		}
	}
}

// slots is a back end as an Adaptive sees it, with no randomness at all: so many
// serve at once, and each worker beyond makes all slower.
type slots struct {
	parallel   int
	service    time.Duration
	contention float64
}

// took is what a job takes of a worker while so many are busy.
func (b slots) took(busy int) time.Duration {
	beyond := max(busy-b.parallel, 0)
	return time.Duration(float64(b.service) * (1 + b.contention*float64(beyond)) * float64(busy) / float64(min(busy, b.parallel)))
}

// adaptiveRun asks the policy as a pool would whose workers are all busy, or as
// many as load says, and returns how many jobs were run.
func adaptiveRun(t *testing.T, policy radpool.Adaptive, s *radpool.Snapshot, b slots, lasting time.Duration, load int) (limit int, jobs float64) {
	t.Helper()
	const step = 10 * time.Millisecond
	now := s.LastSpawn
	begun := 0.0 // of a job that is not done yet
	for end := now.Add(lasting); now.Before(end); now = now.Add(step) {
		d := policy.Decide(now, *s)
		limit = d.Limit
		if limit < policy.MinServers || limit > policy.MaxServers {
			t.Fatalf("the limit is %d", limit)
		}
		s.State = d.State
		s.Workers += d.Spawn - d.Retire
		s.Busy = min(s.Workers, limit, load)
		s.Idle, s.Queued = s.Workers-s.Busy, load-s.Busy
		took := b.took(max(s.Busy, 1))
		begun += float64(s.Busy) * float64(step) / float64(took)
		runs := math.Floor(begun)
		begun -= runs
		jobs += runs
		s.Done, s.Runs = s.Done+uint64(runs), s.Runs+uint64(runs)
		s.DoneTime += time.Duration(runs) * took
		s.BusyTime += time.Duration(s.Busy) * step
	}
	s.LastSpawn = now
	return limit, jobs
}

// Without noise, as much is done within a minute as the best number of workers
// would do, wherever that is, from wherever it began, and so again when it changes.
func TestAdaptiveFindsTheKnee(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		policy := radpool.Adaptive{MinServers: 1, MaxServers: 256, StartServers: 1 + r.IntN(256)}
		var s radpool.Snapshot
		s.LastSpawn = policyEpoch
		for range 3 {
			b := slots{parallel: 4 + r.IntN(197), service: time.Duration(200+r.IntN(3000)) * time.Microsecond}
			b.contention = r.Float64() / 2 / float64(b.parallel)
			adaptiveRun(t, policy, &s, b, time.Minute, 1000)
			_, jobs := adaptiveRun(t, policy, &s, b, 20*time.Second, 1000)
			best := 20 * float64(time.Second) * float64(b.parallel) / float64(b.took(b.parallel))
			if jobs < 0.9*best {
				t.Errorf("seed %d: %+v: from %d it came to do %.3f of the best", seed, b, policy.StartServers, jobs/best)
			}
		}
	}
}

// While fewer jobs come than could be run, nothing is learned from that.
func TestAdaptiveKeepsWhatItKnows(t *testing.T) {
	policy := radpool.Adaptive{MinServers: 1, MaxServers: 128}
	b := slots{parallel: 40, service: 2 * time.Millisecond, contention: 0.02}
	s := radpool.Snapshot{LastSpawn: policyEpoch}
	before, _ := adaptiveRun(t, policy, &s, b, time.Minute, 1000)
	for _, load := range []int{20, 1, 0, 30} {
		if after, _ := adaptiveRun(t, policy, &s, b, time.Hour, load); after < 30 || after > 60 {
			t.Errorf("with %d busy, the limit goes from %d to %d", load, before, after)
		}
		if load == 0 && s.Workers > 32 {
			t.Errorf("an hour without work, and there are %d workers", s.Workers)
		}
	}
}

// A State of another policy is none of its business.
func TestAdaptiveBeginsAnewAfterAnother(t *testing.T) {
	s := radpool.Snapshot{Workers: 3, Idle: 3, LastSpawn: policyEpoch, State: "of another"}
	if d := (radpool.Adaptive{StartServers: 5}).Decide(policyEpoch, s); d.Limit != 5 || d.Spawn != 2 {
		t.Errorf("%+v", d)
	}
}

// In a pool, in front of a back end that serves eight at once and has a lock that
// each one beyond makes slower: it finds about eight, with jobs one by one and in
// batches, and ends the workers that it tried and does not need.
func TestAdaptiveInAPool(t *testing.T) {
	for _, batch := range []int{1, 16} {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			slots := make(chan struct{}, 8)
			p := newTestPool(t, radpool.PoolConfig[time.Duration]{
				MaxBatch: batch,
				Policy:   radpool.Adaptive{MaxServers: 64},
				Run: func(_ *radpool.Worker, jobs []time.Duration) {
					slots <- struct{}{}
					for _, d := range jobs {
						time.Sleep(d)
					}
					<-slots
				},
			})
			done := time.Now().Add(40 * time.Second)
			for time.Now().Before(done) {
				for p.Stats().Queued < 2000 {
					_ = p.Submit(radpool.ClassAccess, time.Time{}, time.Duration(5+r.IntN(11))*time.Millisecond)
				}
				time.Sleep(100 * time.Millisecond)
			}
			s := p.Stats()
			if s.Limit < 6 || s.Limit > 14 || s.Workers > 20 {
				t.Errorf("%d workers, limit %d", s.Workers, s.Limit)
			}
			// 800 a second is what eight do; the start is slower.
			if s.Completed < 40*800*8/10 {
				t.Errorf("%d jobs in 40 s", s.Completed)
			}
			closePool(t, p)
		})
	}
}
