package radpool

import (
	"fmt"
	"math"
	"time"
)

// Bounds of a [Sizing].
const (
	maxOnline      = 1_000_000_000
	maxQueries     = 10_000
	maxServiceTime = 2 * time.Minute
	maxGiveUp      = 10 * time.Minute
)

// Sizing is the arithmetic of a server in front of a billing system: how many
// workers it takes, and what they can do. Call [Sizing.Plan].
type Sizing struct {
	// Online is the number of subscribers that all want to be answered at once,
	// as after a power failure. From 1 to 1,000,000,000.
	Online int

	// ServiceTime is what one request takes of a worker, with the database on
	// the same host. From 1 µs to 2 min.
	ServiceTime time.Duration

	// Queries is how many queries one request asks of the database, one after the
	// other, and RoundTrip is the time on the network that each of them takes
	// besides. Queries is from 0 to 10,000, and 0 only where RoundTrip is 0.
	// RoundTrip is from 0 to 2 min.
	Queries   int
	RoundTrip time.Duration

	// MaxRequestTime is within what time all are to be answered
	// (max_request_time). Longer than one request takes, up to 120 s. Zero: 9 s.
	MaxRequestTime time.Duration

	// GiveUpTime is how long a NAS waits for an answer in all: its timeout times
	// the number of times it sends. Longer than one request takes, up to
	// 10 min. Zero: MaxRequestTime.
	GiveUpTime time.Duration

	// Workers is how many there are, up to [MaxWorkers]. Zero: as many as it
	// takes.
	Workers int
}

// Plan is what a [Sizing] comes to.
type Plan struct {
	// RequestTime is what one request takes of a worker, with the network, and
	// WorkerRate how many requests a second that are.
	RequestTime time.Duration
	WorkerRate  float64

	// ExactWorkers is the number of workers that answer Online requests within
	// MaxRequestTime, online / (rate * max_request_time), and Workers that in whole
	// ones, or Sizing.Workers where it is set.
	ExactWorkers float64
	Workers      int

	// Rate is how many requests a second all Workers answer. A back end that
	// serves fewer at once, or becomes slower when many ask it, does less:
	// [Adaptive] finds that out.
	Rate float64

	// ClearTime is the time in which a storm of Online requests is over, if each
	// is asked until it is answered.
	ClearTime time.Duration

	// UsefulQueue is how many requests may wait and still be answered in time.
	// Those beyond are answered when their NAS has given them up. At least 1.
	UsefulQueue int
}

// QueueTime is how long the workers take for what fills a queue of so many.
func (p Plan) QueueTime(entries int) time.Duration { return seconds(float64(entries) / p.Rate) }

// seconds is so many of them, or the longest time there is.
func seconds(s float64) time.Duration {
	if ns := s * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}

// Plan does the arithmetic. The error is a [ConfigError] that names the first
// field that is out of its bounds or contradicts another.
func (s Sizing) Plan() (Plan, error) {
	if s.MaxRequestTime == 0 {
		s.MaxRequestTime = defaultMaxRequestTime
	}
	if s.GiveUpTime == 0 {
		s.GiveUpTime = s.MaxRequestTime
	}
	if err := s.validate(); err != nil {
		return Plan{}, err
	}
	var p Plan
	p.RequestTime = s.requestTime()
	p.WorkerRate = 1 / p.RequestTime.Seconds()
	p.ExactWorkers = float64(s.Online) * float64(p.RequestTime) / float64(s.MaxRequestTime)
	p.Workers = s.Workers
	if p.Workers == 0 {
		p.Workers = max(int(math.Ceil(p.ExactWorkers-1e-9)), 1)
	}
	if p.Workers > MaxWorkers {
		most := int(float64(MaxWorkers) * float64(s.MaxRequestTime) / float64(p.RequestTime))
		return Plan{}, &ConfigError{"Online", s.Online, fmt.Sprintf("at most %d, which %d workers answer within %v", most, MaxWorkers, s.MaxRequestTime)}
	}
	p.Rate = float64(p.Workers) * p.WorkerRate
	p.ClearTime = seconds(float64(s.Online) / p.Rate)
	p.UsefulQueue = max(int(p.Rate*(s.GiveUpTime-p.RequestTime).Seconds()+1e-9), 1)
	return p, nil
}

// requestTime is ServiceTime and what the network adds to it.
func (s Sizing) requestTime() time.Duration {
	return s.ServiceTime + time.Duration(s.Queries)*s.RoundTrip
}

func (s Sizing) validate() error {
	for _, f := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"Online", s.Online, 1, maxOnline},
		{"Queries", s.Queries, 0, maxQueries},
		{"Workers", s.Workers, 0, MaxWorkers},
	} {
		if f.value < f.least || f.value > f.most {
			return &ConfigError{f.name, f.value, fmt.Sprintf("%d to %d", f.least, f.most)}
		}
	}
	for _, f := range []struct {
		name        string
		value       time.Duration
		least, most time.Duration
	}{
		{"ServiceTime", s.ServiceTime, time.Microsecond, maxServiceTime},
		{"RoundTrip", s.RoundTrip, 0, maxServiceTime},
		{"MaxRequestTime", s.MaxRequestTime, time.Millisecond, 120 * time.Second},
		{"GiveUpTime", s.GiveUpTime, time.Millisecond, maxGiveUp},
	} {
		if f.value < f.least || f.value > f.most {
			return &ConfigError{f.name, f.value, fmt.Sprintf("%v to %v", f.least, f.most)}
		}
	}
	takes := s.requestTime()
	switch {
	case s.RoundTrip > 0 && s.Queries == 0:
		return &ConfigError{"Queries", 0, fmt.Sprintf("at least 1 where RoundTrip is %v", s.RoundTrip)}
	case s.MaxRequestTime <= takes:
		return &ConfigError{"MaxRequestTime", s.MaxRequestTime, fmt.Sprintf("longer than one request takes, %v", takes)}
	case s.GiveUpTime <= takes:
		return &ConfigError{"GiveUpTime", s.GiveUpTime, fmt.Sprintf("longer than one request takes, %v", takes)}
	}
	return nil
}
