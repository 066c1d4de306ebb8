package radpool

import (
	"fmt"
	"time"
)

// spareDefaults are those of a billing system in production; the delays
// are FreeRADIUS's.
var spareDefaults = Spare{
	StartServers:    1,
	MinSpareServers: 8,
	MaxSpareServers: 32,
	MaxServers:      128,
	ReapDelay:       5 * time.Second,
	ReapInterval:    time.Second,
}

// Spare is FreeRADIUS's rule ("thread pool" in radiusd.conf): there are always
// a few idle workers for what comes next, and not many more than that.
//
//   - While fewer than MinSpareServers are idle, as many are started at once as
//     are missing, up to MaxServers.
//   - While more than MaxSpareServers are idle, one is ended each ReapInterval,
//     but none sooner than ReapDelay after the pool last grew.
//   - Between the two, nothing changes.
//   - Where there are more than MaxServers, since the policy was replaced (see
//     [Pool.SetPolicy]), no more than that run jobs, and the others are ended as soon as
//     they are idle.
//
// FreeRADIUS 3 applies its rule only when a packet arrives, so that a server
// without traffic never shrinks; here the rule is applied by the clock as well.
//
// The zero value means the defaults. Wrong values are errors of
// [Spare.Validate], never quietly changed; Decide must not be called with them.
type Spare struct {
	// StartServers is the number of workers at start (start_servers), from 1
	// to MaxServers. The pool grows to MinSpareServers at once, so it matters
	// if it is larger. Zero: 1.
	StartServers int
	// MinSpareServers is the least number of idle workers (min_spare_servers),
	// from 1 to MaxSpareServers. Zero: 8, or less where MaxSpareServers or
	// MaxServers is given and is less.
	MinSpareServers int
	// MaxSpareServers is the largest number of idle workers that is left alone
	// (max_spare_servers), from MinSpareServers to MaxServers. Zero: 32, or as
	// near to it as MinSpareServers and MaxServers permit.
	MaxSpareServers int
	// MaxServers is the largest number of workers (max_servers), up to
	// [MaxWorkers]. Zero: 128.
	MaxServers int
	// ReapDelay is the time after growth in which none is ended (cleanup_delay
	// of the thread pool, which is not the server's cleanup_delay). Zero: 5 s.
	ReapDelay time.Duration
	// ReapInterval is the time between the end of one worker and of the next,
	// at least 1 ms. Zero: 1 s.
	ReapInterval time.Duration
}

// WithDefaults returns s with the zero fields replaced by what they mean.
func (s Spare) WithDefaults() Spare {
	if s.MaxServers == 0 {
		s.MaxServers = spareDefaults.MaxServers
	}
	if s.MinSpareServers == 0 {
		s.MinSpareServers = min(spareDefaults.MinSpareServers, s.MaxServers)
		if s.MaxSpareServers != 0 {
			s.MinSpareServers = min(s.MinSpareServers, s.MaxSpareServers)
		}
	}
	if s.MaxSpareServers == 0 {
		s.MaxSpareServers = min(max(spareDefaults.MaxSpareServers, s.MinSpareServers), s.MaxServers)
	}
	if s.StartServers == 0 {
		s.StartServers = spareDefaults.StartServers
	}
	if s.ReapDelay == 0 {
		s.ReapDelay = spareDefaults.ReapDelay
	}
	if s.ReapInterval == 0 {
		s.ReapInterval = spareDefaults.ReapInterval
	}
	return s
}

// Validate returns an error that names the first field that is out of bounds,
// and the bound. It judges what the zero fields mean.
func (s Spare) Validate() error {
	d := s.WithDefaults()
	for _, f := range []struct {
		name     string
		value    int
		min, max int
		of       string // what the upper bound is, if it is another field
	}{
		{"MaxServers", d.MaxServers, 1, MaxWorkers, ""},
		{"MaxSpareServers", d.MaxSpareServers, 1, d.MaxServers, "MaxServers"},
		{"MinSpareServers", d.MinSpareServers, 1, d.MaxSpareServers, "MaxSpareServers"},
		{"StartServers", d.StartServers, 1, d.MaxServers, "MaxServers"},
	} {
		if f.value >= f.min && f.value <= f.max {
			continue
		}
		if f.of != "" {
			return fmt.Errorf("radpool: %s is %d: must be from %d to %s, which is %d", f.name, f.value, f.min, f.of, f.max)
		}
		return fmt.Errorf("radpool: %s is %d: must be from %d to %d", f.name, f.value, f.min, f.max)
	}
	if d.ReapDelay < 0 {
		return fmt.Errorf("radpool: ReapDelay is %v: must not be negative", d.ReapDelay)
	}
	if d.ReapInterval < time.Millisecond {
		return fmt.Errorf("radpool: ReapInterval is %v: must be at least 1ms", d.ReapInterval)
	}
	return nil
}

// Decide implements [Policy].
func (s Spare) Decide(now time.Time, p Snapshot) Decision {
	s = s.WithDefaults()

	if over := p.Workers - s.MaxServers; over > 0 { // the policy before this one wanted more
		d := Decision{Retire: min(over, p.Idle), Limit: s.MaxServers}
		if d.Retire < over {
			d.Next = now.Add(s.ReapInterval)
		}
		p.LastRetire = now
		p.Workers, p.Idle = p.Workers-d.Retire, p.Idle-d.Retire
		return s.watch(p, d)
	}

	missing := s.MinSpareServers - p.Idle
	if p.LastSpawn.IsZero() && p.Workers == 0 {
		missing = max(missing, s.StartServers)
	}
	if spawn := min(missing, s.MaxServers-p.Workers); spawn > 0 {
		p.LastSpawn = now
		p.Workers, p.Idle = p.Workers+spawn, p.Idle+spawn
		return s.watch(p, Decision{Spawn: spawn})
	}

	if p.Idle > s.MaxSpareServers && !now.Before(s.reapAt(p)) {
		p.LastRetire = now
		p.Workers, p.Idle = p.Workers-1, p.Idle-1
		return s.watch(p, Decision{Retire: 1})
	}
	return s.watch(p, Decision{})
}

// watch adds to a decision when to ask again, given the pool as it will be.
func (s Spare) watch(p Snapshot, d Decision) Decision {
	if p.Workers < s.MaxServers {
		d.IdleLow = s.MinSpareServers
	}
	switch {
	case p.Workers > s.MaxServers:
		// Next is set.
	case p.Workers <= s.MaxSpareServers:
		// So few can never be too many idle.
	case p.Idle <= s.MaxSpareServers:
		d.IdleHigh = s.MaxSpareServers
	default:
		d.Next = s.reapAt(p)
	}
	return d
}

// reapAt is the earliest instant at which a worker may be ended.
func (s Spare) reapAt(p Snapshot) time.Time {
	at := p.LastSpawn.Add(s.ReapDelay)
	if next := p.LastRetire.Add(s.ReapInterval); next.After(at) {
		at = next
	}
	return at
}
