package radpool_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

var policyEpoch = time.Unix(1_700_000_000, 0)

func TestSpareValidate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spare radpool.Spare
		want  string // "" is no error
	}{
		{"zero", radpool.Spare{}, ""},
		{"seed", radpool.Spare{StartServers: 1, MinSpareServers: 8, MaxSpareServers: 32, MaxServers: 128}, ""},
		{"few", radpool.Spare{MaxServers: 4}, ""},
		{"one", radpool.Spare{MaxServers: 1}, ""},
		{"many idle", radpool.Spare{MinSpareServers: 50}, ""},
		{"few idle", radpool.Spare{MaxSpareServers: 2}, ""},
		{"most", radpool.Spare{MaxServers: radpool.MaxWorkers}, ""},
		{"negative", radpool.Spare{MaxServers: -1}, "MaxServers is -1: must be from 1 to 65536"},
		{"too many", radpool.Spare{MaxServers: 65537}, "MaxServers is 65537: must be from 1 to 65536"},
		{"spare beyond max", radpool.Spare{MaxSpareServers: 24, MaxServers: 16}, "MaxSpareServers is 24: must be from 1 to MaxServers, which is 16"},
		{"min beyond max", radpool.Spare{MinSpareServers: 33, MaxSpareServers: 32}, "MinSpareServers is 33: must be from 1 to MaxSpareServers, which is 32"},
		{"min beyond all", radpool.Spare{MinSpareServers: 200}, "MinSpareServers is 200: must be from 1 to MaxSpareServers, which is 128"},
		{"start beyond max", radpool.Spare{StartServers: 129}, "StartServers is 129: must be from 1 to MaxServers, which is 128"},
		{"start negative", radpool.Spare{StartServers: -3}, "StartServers is -3: must be from 1 to MaxServers"},
		{"delay", radpool.Spare{ReapDelay: -1}, "ReapDelay is -1ns: must not be negative"},
		{"interval", radpool.Spare{ReapInterval: 1}, "ReapInterval is 1ns: must be at least 1ms"},
	} {
		err := tc.spare.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
}

func TestSpareDefaults(t *testing.T) {
	for _, tc := range []struct{ give, want radpool.Spare }{
		{radpool.Spare{}, radpool.Spare{StartServers: 1, MinSpareServers: 8, MaxSpareServers: 32, MaxServers: 128}},
		{radpool.Spare{MaxServers: 4}, radpool.Spare{StartServers: 1, MinSpareServers: 4, MaxSpareServers: 4, MaxServers: 4}},
		{radpool.Spare{MaxSpareServers: 3}, radpool.Spare{StartServers: 1, MinSpareServers: 3, MaxSpareServers: 3, MaxServers: 128}},
		{radpool.Spare{MinSpareServers: 40}, radpool.Spare{StartServers: 1, MinSpareServers: 40, MaxSpareServers: 40, MaxServers: 128}},
	} {
		tc.want.ReapDelay, tc.want.ReapInterval = 5*time.Second, time.Second
		if got := tc.give.WithDefaults(); got != tc.want {
			t.Errorf("%+v: %+v; want %+v", tc.give, got, tc.want)
		}
	}
}

// The seed's values: 8 at rest, 128 at most, 32 left alone.
func TestSpareDecide(t *testing.T) {
	now := policyEpoch
	ago := func(s float64) time.Time { return now.Add(-time.Duration(s * float64(time.Second))) }
	in := func(s float64) time.Time { return now.Add(time.Duration(s * float64(time.Second))) }
	for _, tc := range []struct {
		name string
		s    radpool.Snapshot
		want radpool.Decision
	}{
		{"start", radpool.Snapshot{}, radpool.Decision{Spawn: 8, IdleLow: 8}},
		{"at rest", radpool.Snapshot{Workers: 8, Idle: 8, LastSpawn: ago(1)}, radpool.Decision{IdleLow: 8}},
		{"one is taken", radpool.Snapshot{Workers: 8, Idle: 7, LastSpawn: ago(1)}, radpool.Decision{Spawn: 1, IdleLow: 8}},
		{"all are taken", radpool.Snapshot{Workers: 8, Idle: 0, Queued: 500, LastSpawn: ago(0)}, radpool.Decision{Spawn: 8, IdleLow: 8}},
		{"growth past max_spare is watched", radpool.Snapshot{Workers: 30, Idle: 5, LastSpawn: ago(0)}, radpool.Decision{Spawn: 3, IdleLow: 8, IdleHigh: 32}},
		{"the last step up", radpool.Snapshot{Workers: 124, Idle: 0, LastSpawn: ago(0)}, radpool.Decision{Spawn: 4, IdleHigh: 32}},
		{"at max_servers", radpool.Snapshot{Workers: 128, Idle: 0, Queued: 1e6, LastSpawn: ago(60)}, radpool.Decision{IdleHigh: 32}},
		{"between the two", radpool.Snapshot{Workers: 60, Idle: 32, LastSpawn: ago(60)}, radpool.Decision{IdleLow: 8, IdleHigh: 32}},
		{"idle, too soon", radpool.Snapshot{Workers: 128, Idle: 128, LastSpawn: ago(2)}, radpool.Decision{Next: in(3)}},
		{"idle, on time", radpool.Snapshot{Workers: 128, Idle: 128, LastSpawn: ago(5)}, radpool.Decision{Retire: 1, IdleLow: 8, Next: in(1)}},
		{"the next one", radpool.Snapshot{Workers: 127, Idle: 127, LastSpawn: ago(6), LastRetire: ago(1)}, radpool.Decision{Retire: 1, IdleLow: 8, Next: in(1)}},
		{"not so fast", radpool.Snapshot{Workers: 127, Idle: 127, LastSpawn: ago(6), LastRetire: ago(0.25)}, radpool.Decision{IdleLow: 8, Next: in(0.75)}},
		{"late growth forbids", radpool.Snapshot{Workers: 90, Idle: 40, LastSpawn: ago(1), LastRetire: ago(20)}, radpool.Decision{IdleLow: 8, Next: in(4)}},
		{"the last one", radpool.Snapshot{Workers: 33, Idle: 33, LastSpawn: ago(99), LastRetire: ago(1)}, radpool.Decision{Retire: 1, IdleLow: 8}},
		{"stays there", radpool.Snapshot{Workers: 32, Idle: 32, LastSpawn: ago(99), LastRetire: ago(1)}, radpool.Decision{IdleLow: 8}},
		{"max_servers was lowered, few idle", radpool.Snapshot{Workers: 200, Idle: 10, Queued: 9}, radpool.Decision{Retire: 10, Limit: 128, Next: in(1)}},
		{"max_servers was lowered, many idle", radpool.Snapshot{Workers: 200, Idle: 100}, radpool.Decision{Retire: 72, Limit: 128, IdleHigh: 32}},
		{"with some busy", radpool.Snapshot{Workers: 50, Idle: 33, LastSpawn: ago(99), LastRetire: ago(1)}, radpool.Decision{Retire: 1, IdleLow: 8, IdleHigh: 32}},
	} {
		tc.s.Busy = tc.s.Workers - tc.s.Idle
		if got := (radpool.Spare{}).Decide(now, tc.s); got != tc.want {
			t.Errorf("%s: %+v; want %+v", tc.name, got, tc.want)
		}
	}
	many := radpool.Spare{StartServers: 50}
	if got := many.Decide(now, radpool.Snapshot{}); got.Spawn != 50 {
		t.Errorf("StartServers 50: %+v", got)
	}
}

// naiveSpare is the rule as the words have it, one worker at a time.
func naiveSpare(c radpool.Spare, now time.Time, s radpool.Snapshot) (spawn, retire int) {
	idle, workers := s.Idle, s.Workers
	for idle < c.MinSpareServers && workers < c.MaxServers {
		idle, workers, spawn = idle+1, workers+1, spawn+1
	}
	for s.Workers == 0 && s.LastSpawn.IsZero() && workers < c.StartServers {
		workers, spawn = workers+1, spawn+1
	}
	if spawn == 0 && idle > c.MaxSpareServers &&
		now.Sub(s.LastSpawn) >= c.ReapDelay && now.Sub(s.LastRetire) >= c.ReapInterval {
		retire = 1
	}
	return spawn, retire
}

func randomSpare(r *rand.Rand) radpool.Spare {
	s := radpool.Spare{MaxServers: 1 + r.IntN(60)}
	s.MaxSpareServers = 1 + r.IntN(s.MaxServers)
	s.MinSpareServers = 1 + r.IntN(s.MaxSpareServers)
	s.StartServers = 1 + r.IntN(s.MaxServers)
	s.ReapDelay = time.Duration(1+r.IntN(10_000)) * time.Millisecond
	s.ReapInterval = time.Duration(1+r.IntN(3000)) * time.Millisecond
	return s
}

func TestSpareAgreesWithReference(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		c := randomSpare(r)
		if err := c.Validate(); err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, c, err)
		}
		s := radpool.Snapshot{Workers: r.IntN(c.MaxServers + 1)}
		s.Idle = r.IntN(s.Workers + 1)
		s.Busy = s.Workers - s.Idle
		if r.IntN(10) > 0 {
			s.LastSpawn = policyEpoch.Add(-time.Duration(r.IntN(12_000)) * time.Millisecond)
		}
		if r.IntN(2) > 0 {
			s.LastRetire = policyEpoch.Add(-time.Duration(r.IntN(4000)) * time.Millisecond)
		}
		d := c.Decide(policyEpoch, s)
		spawn, retire := naiveSpare(c, policyEpoch, s)
		if d.Spawn != spawn || d.Retire != retire {
			t.Fatalf("seed %d: %+v, %+v: %+v; want %d, %d", seed, c, s, d, spawn, retire)
		}
		// Asked at Next, it does something; asked before, it does not.
		if d.Next.IsZero() {
			continue
		}
		s.Workers, s.Idle = s.Workers+d.Spawn-d.Retire, s.Idle+d.Spawn-d.Retire
		if d.Spawn > 0 {
			s.LastSpawn = policyEpoch
		}
		if d.Retire > 0 {
			s.LastRetire = policyEpoch
		}
		if _, retire := naiveSpare(c, d.Next.Add(-1), s); retire != 0 {
			t.Fatalf("seed %d: %+v, %+v: Next %v is late", seed, c, s, d.Next)
		}
		if _, retire := naiveSpare(c, d.Next, s); retire != 1 {
			t.Fatalf("seed %d: %+v, %+v: Next %v is early", seed, c, s, d.Next)
		}
	}
}

// A pool of numbers alone, asked only when the decisions say, under random
// load and then none: what is promised of Spare holds at each moment.
func TestSpareSimulation(t *testing.T) {
	for range 200 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		c := randomSpare(r)
		now := policyEpoch
		var s radpool.Snapshot
		d := radpool.Decision{Next: now}
		ask := func() {
			d = c.Decide(now, s)
			if d.Retire > 0 && (now.Sub(s.LastSpawn) < c.ReapDelay || now.Sub(s.LastRetire) < c.ReapInterval || d.Retire > 1) {
				t.Fatalf("seed %d: %+v, %+v: %+v is too soon", seed, c, s, d)
			}
			if d.Spawn > 0 {
				s.LastSpawn = now
			}
			if d.Retire > 0 {
				s.LastRetire = now
			}
			s.Workers += d.Spawn - d.Retire
			s.Idle = s.Workers - s.Busy
			if s.Workers > c.MaxServers || s.Idle < c.MinSpareServers && s.Workers < c.MaxServers {
				t.Fatalf("seed %d: %+v, %+v after %+v", seed, c, s, d)
			}
		}
		ask()
		for step := range 3000 {
			now = now.Add(time.Duration(r.IntN(400)) * time.Millisecond)
			if step < 1500 {
				s.Busy = r.IntN(s.Workers + 1)
			} else {
				s.Busy = 0 // no traffic at all: only the clock asks
			}
			s.Idle = s.Workers - s.Busy
			if s.Idle < d.IdleLow || d.IdleHigh > 0 && s.Idle > d.IdleHigh || !d.Next.IsZero() && !now.Before(d.Next) {
				ask()
			}
			if s.Idle < c.MinSpareServers && s.Workers < c.MaxServers {
				t.Fatalf("seed %d: %+v, %+v: was not asked", seed, c, s)
			}
		}
		// 1500 steps of 0.2 s pass; 60 workers need at most 60 of 3 s.
		if s.Idle > c.MaxSpareServers || !d.Next.IsZero() {
			t.Errorf("seed %d: %+v: after the load %+v, %+v", seed, c, s, d)
		}
	}
}
