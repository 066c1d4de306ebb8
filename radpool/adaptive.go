package radpool

import (
	"fmt"
	"time"
)

// Adaptive finds by itself how many workers the back end can use: as many as
// make it do more, and none that only wait in it. "More threads is more
// performance, but overdo it and the effect is the opposite": a database that
// serves sixteen queries at once does not do more with sixty-four, its answers
// only take longer, and at last it does less.
//
// # What it is derived from
//
// With N workers that are all busy, and a job that takes W of each, the pool
// does N/W jobs a second (Little's law). So W alone, at two values of N, tells
// what a worker is worth: if W stays as it was, all of it, and if W grows as N
// does, nothing. Adaptive compares the W at its number of workers with the W
// at a number some way above or below it, for a moment, and moves there if at
// least a quarter of the difference in workers is gained (above) or less
// than that is lost (below). It is a pattern search (Hooke and Jeeves) on the
// logarithm of N: the first step is to double; where neither direction is
// better, the next step is half as far, down to a twelfth; and where none of these is, it
// rests ever longer between two looks. When the time that a job takes changes
// by itself, it takes greater steps again.
//
// Times scatter, so what was seen is weighed: the logarithm of the ratio of two
// means is about as uncertain as the times scatter, over the root of how many
// there were. Measurements are as long as the step needs them to be, how much times
// scatter is learned from the differences between measurements that should be the same,
// and a step is taken when the odds for it, over several looks if need be, are about
// seven to one (the sequential test of Wald).
//
// Gradient and Vegas limits of concurrency compare W with the least that was
// ever seen, and so have to forget and find that again when the back end
// becomes slower; this needs no such value.
//
// # What it does with workers
//
// The number that it has found is a limit (Decision.Limit), of which only as many
// workers exist as are needed: eight idle ones as long as the limit permits
// them, and those above 32 idle ones, or above the limit and the next step, are
// ended as they are by [Spare]. While fewer jobs come than the limit
// could do, nothing is learned and nothing forgotten: the limit stays.
//
// The zero value means the defaults. Wrong values are errors of
// [Adaptive.Validate]; Decide must not be called with them.
type Adaptive struct {
	// StartServers is the limit at first, from MinServers to MaxServers. With
	// jobs of 50 ms it takes about three seconds from 1 to 16. Zero: MinServers.
	StartServers int
	// MinServers is the least limit, and number of workers, from 1 to
	// MaxServers. Zero: 1.
	MinServers int
	// MaxServers is the greatest limit, up to [MaxWorkers]. Zero: 128.
	MaxServers int
	// Interval is the least time of a measurement, from 1 ms to 10 s. It should
	// not be shorter than the hiccups of the back end that do not matter. Zero: 100 ms.
	Interval time.Duration
}

// WithDefaults returns a with the zero fields replaced by what they mean.
func (a Adaptive) WithDefaults() Adaptive {
	if a.MaxServers == 0 {
		a.MaxServers = spareDefaults.MaxServers
	}
	if a.MinServers == 0 {
		a.MinServers = 1
	}
	if a.StartServers == 0 {
		a.StartServers = a.MinServers
	}
	if a.Interval == 0 {
		a.Interval = 100 * time.Millisecond
	}
	return a
}

// Validate returns an error that joins a [ConfigError] for each field that is out of
// its bounds. It judges what the zero fields mean.
func (a Adaptive) Validate() error {
	d := a.WithDefaults()
	if err := number("MaxServers", &d.MaxServers, 0, 1, MaxWorkers, ""); err != nil {
		return err // the bound of the others
	}
	if err := number("MinServers", &d.MinServers, 0, 1, d.MaxServers, "MaxServers"); err != nil {
		return err
	}
	if d.StartServers < d.MinServers || d.StartServers > d.MaxServers {
		return &ConfigError{"StartServers", d.StartServers, fmt.Sprintf("%d to %d (MinServers to MaxServers)", d.MinServers, d.MaxServers)}
	}
	if d.Interval < time.Millisecond || d.Interval > 10*time.Second {
		return &ConfigError{"Interval", d.Interval, "1ms to 10s"}
	}
	return nil
}

// Decide implements [Policy].
func (a Adaptive) Decide(now time.Time, s Snapshot) Decision {
	a = a.WithDefaults()
	search, ok := s.State.(adaptiveSearch)
	if !ok {
		search = newAdaptiveSearch(a.StartServers)
	}
	search.look(now, s, a)
	return a.staff(now, s, search)
}

// staff decides which workers there are for what the search permits.
func (a Adaptive) staff(now time.Time, s Snapshot, search adaptiveSearch) Decision {
	limit := search.limit()
	d := Decision{Limit: limit, State: search, Next: search.next}

	missing := max(min(spareDefaults.MinSpareServers-s.Idle, limit-s.Workers), a.MinServers-s.Workers)
	if s.LastSpawn.IsZero() && s.Workers == 0 {
		missing = max(missing, a.StartServers)
	}
	if missing > 0 {
		d.Spawn = missing
		s.LastSpawn = now
		s.Workers, s.Idle = s.Workers+missing, s.Idle+missing
	}

	reap := Spare{ReapDelay: spareDefaults.ReapDelay, ReapInterval: spareDefaults.ReapInterval}
	if excess := a.excess(s, search); excess > 0 && !now.Before(reap.reapAt(s)) {
		d.Retire = (excess + 7) / 8
		s.LastRetire = now
		s.Workers, s.Idle = s.Workers-d.Retire, s.Idle-d.Retire
	}

	switch {
	case s.Workers < limit:
		d.IdleLow = spareDefaults.MinSpareServers
	case search.phase == adaptiveRest:
		d.IdleLow = s.Workers - limit + 1 // the limit is met
	}
	switch at := reap.reapAt(s); {
	case a.excess(s, search) == 0:
		d.IdleHigh = spareDefaults.MaxSpareServers
	case d.Next.IsZero() || at.Before(d.Next):
		d.Next = at
	}
	return d
}

// excess is how many workers are too many.
func (a Adaptive) excess(s Snapshot, search adaptiveSearch) int {
	top := max(a.MinServers, search.limit(), search.target(adaptiveAgain, false))
	excess := max(s.Idle-spareDefaults.MaxSpareServers, s.Workers-top)
	return max(min(excess, s.Idle, s.Workers-a.MinServers), 0)
}
