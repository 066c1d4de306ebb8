package radpool_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// 4000 subscribers, 20 requests a second a worker, 9 s: the arithmetic of an
// ISP's billing server.
func ExampleSizing() {
	plan, err := radpool.Sizing{Online: 4000, ServiceTime: 50 * time.Millisecond, MaxRequestTime: 9 * time.Second}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f requests a second a worker\n", plan.WorkerRate)
	fmt.Printf("%.1f workers, so %d\n", plan.ExactWorkers, plan.Workers)
	fmt.Printf("%.0f requests a second, all answered in %v\n", plan.Rate, plan.ClearTime.Round(10*time.Millisecond))
	fmt.Printf("a queue of more than %d is of no use\n", plan.UsefulQueue)

	// What 22 almost do.
	almost, err := radpool.Sizing{Online: 22 * 20 * 9, ServiceTime: 50 * time.Millisecond, MaxRequestTime: 9 * time.Second}.Plan()
	fmt.Println(almost.Workers, "workers answer", 22*20*9, err)
	// Output:
	// 20 requests a second a worker
	// 22.2 workers, so 23
	// 460 requests a second, all answered in 8.7s
	// a queue of more than 4117 is of no use
	// 22 workers answer 3960 <nil>
}

// What the distance to the database costs: a request waits for the network once
// for each query.
func ExampleSizing_roundTrip() {
	for _, queries := range []int{0, 1, 3, 10, 15} {
		s := radpool.Sizing{Online: 4000, ServiceTime: 50 * time.Millisecond, Queries: queries}
		if queries > 0 {
			s.RoundTrip = 20 * time.Millisecond
		}
		plan, err := s.Plan()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%2d queries: %5v, %4.1f a second a worker, %3d workers\n", queries, plan.RequestTime, plan.WorkerRate, plan.Workers)
	}
	// Output:
	//  0 queries:  50ms, 20.0 a second a worker,  23 workers
	//  1 queries:  70ms, 14.3 a second a worker,  32 workers
	//  3 queries: 110ms,  9.1 a second a worker,  49 workers
	// 10 queries: 250ms,  4.0 a second a worker, 112 workers
	// 15 queries: 350ms,  2.9 a second a worker, 156 workers
}

// Five workers, fifteen queries of 2 ms: most of FreeRADIUS's default queue is of
// no use to a NAS that asks three times within 3.3 s; the same in one query.
func ExampleSizing_usefulQueue() {
	for _, queries := range []int{15, 1} {
		plan, err := radpool.Sizing{
			Online: 10_000, Workers: 5, GiveUpTime: 3300 * time.Millisecond,
			ServiceTime: 5 * time.Millisecond, Queries: queries, RoundTrip: 2 * time.Millisecond,
		}.Plan()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%2d queries: %.0f a second, useful queue %d, 65536 entries are %.0f s of work, 10,000 subscribers take %.0f s\n",
			queries, plan.Rate, plan.UsefulQueue, plan.QueueTime(65536).Seconds(), plan.ClearTime.Seconds())
	}
	// Output:
	// 15 queries: 143 a second, useful queue 466, 65536 entries are 459 s of work, 10,000 subscribers take 70 s
	//  1 queries: 714 a second, useful queue 2352, 65536 entries are 92 s of work, 10,000 subscribers take 14 s
}

func TestSizingNumbers(t *testing.T) {
	for _, tc := range []struct {
		name string
		s    radpool.Sizing
		got  func(radpool.Plan) float64
		want float64
		off  float64
	}{
		{"25 requests a second at 40 ms", radpool.Sizing{Online: 1, ServiceTime: 40 * time.Millisecond},
			func(p radpool.Plan) float64 { return p.WorkerRate }, 25, 1e-9},
		{"100,000 subscribers take 12 min", radpool.Sizing{Online: 100_000, Workers: 5, ServiceTime: 35 * time.Millisecond},
			func(p radpool.Plan) float64 { return p.ClearTime.Minutes() }, 12, 0.5},
		{"128 workers at 23 a second each, as measured", radpool.Sizing{Online: 1, Workers: 128, ServiceTime: time.Second * 128 / 2954},
			func(p radpool.Plan) float64 { return p.Rate }, 2954, 1e-3},
		{"1,048,576 entries before 32 workers are 27 minutes", radpool.Sizing{Online: 1, Workers: 32, ServiceTime: 50 * time.Millisecond},
			func(p radpool.Plan) float64 { return p.QueueTime(1_048_576).Minutes() }, 27.3, 0.01},
		{"the queue is never none", radpool.Sizing{Online: 1, Workers: 1, ServiceTime: time.Second, GiveUpTime: time.Second + 1},
			func(p radpool.Plan) float64 { return float64(p.UsefulQueue) }, 1, 0},
		{"one subscriber needs a worker", radpool.Sizing{Online: 1, ServiceTime: time.Microsecond},
			func(p radpool.Plan) float64 { return float64(p.Workers) }, 1, 0},
	} {
		p, err := tc.s.Plan()
		if got := tc.got(p); err != nil || math.Abs(got-tc.want) > tc.off {
			t.Errorf("%s: %v, %v; want %v", tc.name, got, err, tc.want)
		}
	}
}

func TestSizingErrors(t *testing.T) {
	good := radpool.Sizing{Online: 4000, ServiceTime: 50 * time.Millisecond}
	for _, tc := range []struct {
		field, want string
		change      func(*radpool.Sizing)
	}{
		{"Online", "Online is 0: must be 1 to 1000000000", func(s *radpool.Sizing) { s.Online = 0 }},
		{"Online", "Online is -5", func(s *radpool.Sizing) { s.Online = -5 }},
		{"Online", "Online is 100000000: must be at most 11796480, which 65536 workers answer within 9s", func(s *radpool.Sizing) { s.Online = 100_000_000 }},
		{"ServiceTime", "ServiceTime is 0s: must be 1µs to 2m0s", func(s *radpool.Sizing) { s.ServiceTime = 0 }},
		{"ServiceTime", "ServiceTime is 3m0s", func(s *radpool.Sizing) { s.ServiceTime = 3 * time.Minute }},
		{"Queries", "Queries is -1: must be 0 to 10000", func(s *radpool.Sizing) { s.Queries = -1 }},
		{"Queries", "Queries is 0: must be at least 1 where RoundTrip is 20ms", func(s *radpool.Sizing) { s.RoundTrip = 20 * time.Millisecond }},
		{"RoundTrip", "RoundTrip is -1ns: must be 0s to 2m0s", func(s *radpool.Sizing) { s.RoundTrip = -1 }},
		{"MaxRequestTime", "MaxRequestTime is 2m1s: must be 1ms to 2m0s", func(s *radpool.Sizing) { s.MaxRequestTime = 121 * time.Second }},
		{"MaxRequestTime", "MaxRequestTime is 50ms: must be longer than one request takes, 50ms", func(s *radpool.Sizing) { s.MaxRequestTime = s.ServiceTime }},
		{"MaxRequestTime", "MaxRequestTime is 9s: must be longer than one request takes, 10.05s", func(s *radpool.Sizing) { s.Queries, s.RoundTrip = 100, 100*time.Millisecond }},
		{"GiveUpTime", "GiveUpTime is 11m0s: must be 1ms to 10m0s", func(s *radpool.Sizing) { s.GiveUpTime = 11 * time.Minute }},
		{"GiveUpTime", "GiveUpTime is 60ms: must be longer than one request takes, 70ms", func(s *radpool.Sizing) {
			s.Queries, s.RoundTrip, s.GiveUpTime = 1, 20*time.Millisecond, 60*time.Millisecond
		}},
		{"Workers", "Workers is 65537: must be 0 to 65536", func(s *radpool.Sizing) { s.Workers = 65537 }},
	} {
		s := good
		tc.change(&s)
		p, err := s.Plan()
		var config *radpool.ConfigError
		if !errors.As(err, &config) || config.Field != tc.field || !strings.Contains(err.Error(), tc.want) || p != (radpool.Plan{}) {
			t.Errorf("%+v: %v; want %q", s, err, tc.want)
		}
	}
}
