package radpool_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// busyStats are the Stats of a server with the limits of a billing system in
// production and 32 workers, to which 1,200 requests a second came.
func busyStats() radpool.Stats {
	return radpool.Stats{
		ServiceTime: 50 * time.Millisecond, ArrivalRate: 300, PeakArrivalRate: 1200, MaxWorkers: 32,
		Config: radpool.Config{MaxRequestTime: 9 * time.Second, CleanupDelay: 10 * time.Second, MaxRequests: 2_097_152},
		Pool:   radpool.PoolStats{MaxQueueSize: 1_048_576, WorkersHighWater: 30},
	}
}

func ExampleStats_Advice() {
	stats := busyStats() // server.Stats()
	advice := stats.Advice()
	fmt.Printf("%d workers, %.0f requests/s each; %.0f workers for the most that came; a queue of %d is of use\n",
		advice.Plan.Workers, advice.Plan.WorkerRate, advice.Plan.ExactWorkers, advice.Plan.UsefulQueue)
	for _, reason := range advice.Reasons {
		fmt.Println(reason)
	}
	// Output:
	// 32 workers, 20 requests/s each; 60 workers for the most that came; a queue of 5728 is of use
	// MaxServers: 32 workers of 50ms each answer 640 a second; the most that came were 1,200, for which it takes 60, if the back end is not slower with so many
	// MaxQueueSize: queue is bounded by time, not memory: 1,048,576 entries is 27 minutes of work, and nobody waits longer than 9s, which is 5,728 entries
}

func TestAdvice(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*radpool.Stats)
		want   []string // the reasons, or how they begin
	}{
		{"nothing yet", func(s *radpool.Stats) { *s = radpool.Stats{Config: s.Config} }, []string{"ServiceTime: nothing has been run yet"}},
		{"a server that was never used", func(s *radpool.Stats) { *s = radpool.Stats{} }, []string{"ServiceTime: nothing has been run yet"}},
		{"enough workers", func(s *radpool.Stats) { s.PeakArrivalRate, s.Pool.MaxQueueSize = 250, 5000 },
			[]string{"MaxServers: 32 workers of 50ms each answer 640 a second; the most that came were 250, for which 13 are enough"}},
		{"of a policy that does not say, as many as there were", func(s *radpool.Stats) { s.MaxWorkers, s.Pool.MaxQueueSize = 0, 5000 },
			[]string{"MaxServers: 30 workers of 50ms each answer 600 a second"}},
		{"found by Adaptive", func(s *radpool.Stats) { s.Pool.Limit, s.MaxWorkers, s.Pool.MaxQueueSize = 16, 128, 100 },
			[]string{"MaxServers: 16 workers of 50ms each answer 320 a second, and the back end does no more with more of them"}},
		{"one worker, and no peak yet", func(s *radpool.Stats) { s.PeakArrivalRate, s.MaxWorkers, s.Pool.MaxQueueSize = 0, 1, 100 },
			[]string{"MaxServers: 1 worker of 50ms answers 20 a second"}},
		{"a queue that was too small", func(s *radpool.Stats) { s.Pool.MaxQueueSize, s.QueueFull, s.PeakArrivalRate = 100, 12345, 640 },
			[]string{"MaxServers", "MaxQueueSize: 12,345 requests met a full queue of 100 entries; with 5,728 they would have been answered in time"}},
		{"what waits", func(s *radpool.Stats) { s.Pool.Queued, s.Pool.MaxQueueSize = 3200, 5000 },
			[]string{"MaxServers", "MaxQueueSize: 3,200 wait now, which is 5s of work"}},
		{"a table that was too small", func(s *radpool.Stats) { s.TableFull, s.Config.MaxRequests, s.Pool.MaxQueueSize = 7, 1000, 100 },
			[]string{"MaxServers", "MaxRequests: 7 requests found the table of 1,000 full; what comes in CleanupDelay and MaxRequestTime, 19s, is 22,800 entries"}},
		{"a back end that is too slow", func(s *radpool.Stats) { s.ServiceTime = 12 * time.Second },
			[]string{"MaxRequestTime: a request takes 12 seconds of a worker, and nobody waits longer than 9s"}},
		{"hours", func(s *radpool.Stats) { s.ServiceTime, s.MaxWorkers, s.PeakArrivalRate = time.Second, 10, 1 },
			[]string{"MaxServers", "MaxQueueSize: queue is bounded by time, not memory: 1,048,576 entries is 29 hours of work"}},
		{"quick", func(s *radpool.Stats) { s.ServiceTime, s.Pool.MaxQueueSize = 1, 100 },
			[]string{"MaxServers: 32 workers of 1µs each answer 32,000,000 a second"}},
	} {
		s := busyStats()
		tc.change(&s)
		got := s.Advice()
		if !slices.EqualFunc(got.Reasons, tc.want, strings.HasPrefix) {
			t.Errorf("%s: %q; want %q", tc.name, got.Reasons, tc.want)
		}
		if plan, err := got.Sizing.Plan(); got.Plan != (radpool.Plan{}) && (err != nil || plan != got.Plan) {
			t.Errorf("%s: %+v comes to %+v, %v; not to %+v", tc.name, got.Sizing, plan, err, got.Plan)
		}
	}
}

// What a server measures, without a look at the clock more: 100 requests a second for
// 30 s, with one second of 400, each 50 ms; then twice as long each.
func TestStatsMeasure(t *testing.T) {
	var took atomic.Int64
	took.Store(int64(50 * time.Millisecond))
	s := &radpool.Server{
		Policy: radpool.Fixed(64),
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			time.Sleep(time.Duration(took.Load()))
			accept(ctx, req, resp)
		}),
	}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		auth := uint64(0)
		second := func(requests int) {
			for range requests {
				auth++
				n.send(access(byte(auth), auth, "ivan"))
				time.Sleep(time.Second / time.Duration(requests))
			}
		}
		for i := range 30 {
			if i == 10 {
				second(400)
			}
			second(100)
		}
		st := w.server.Stats()
		if math.Abs(st.ArrivalRate-109) > 5 || st.PeakArrivalRate < 380 || st.PeakArrivalRate > 410 || (st.ServiceTime-50*time.Millisecond).Abs() > time.Millisecond {
			t.Errorf("%v a second, %v at most, %v each", st.ArrivalRate, st.PeakArrivalRate, st.ServiceTime)
		}
		if st.MaxWorkers != 64 || st.Config.MaxRequestTime != 9*time.Second {
			t.Errorf("%d workers at most, %+v", st.MaxWorkers, st.Config)
		}
		advice := st.Advice()
		if p := advice.Plan; p.Workers != 64 || math.Abs(p.Rate-1280) > 15 || math.Abs(p.ExactWorkers-20) > 1 {
			t.Errorf("%+v", advice)
		}
		took.Store(int64(100 * time.Millisecond))
		for range 300 {
			second(100)
		}
		if st = w.server.Stats(); (st.ServiceTime-100*time.Millisecond).Abs() > 2*time.Millisecond || math.Abs(st.ArrivalRate-100) > 2 || st.PeakArrivalRate < 380 {
			t.Errorf("later %v a second, %v at most, %v each", st.ArrivalRate, st.PeakArrivalRate, st.ServiceTime)
		}
	})
}
