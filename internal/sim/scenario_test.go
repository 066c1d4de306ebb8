package sim_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/sim"
	"github.com/radpool/radpool/radpool"
)

// capacity is how many requests a second billing answers: 32 at once in 50 ms each.
const capacity = 640

func billing() sim.Backend { return sim.Backend{Parallel: 32, Service: sim.Constant(50 * ms)} }

// storm is what was measured on a real FreeRADIUS: NASes that wait 3 s and send three
// times offer so many times the capacity for 30 s, and then half of it for 30 s.
func storm(over float64) sim.Scenario {
	n := sim.NAS{Timers: sim.AccelPPP}
	n.Load[radpool.ClassAccess] = []sim.Rate{{PerSecond: over * capacity}, {From: 30 * time.Second, PerSecond: capacity / 2}}
	return sim.Scenario{
		Seed: 1, NAS: []sim.NAS{n}, Delay: ms / 2, Until: time.Minute,
		Server: sim.Server{Policy: radpool.Fixed(32)}, Backend: billing(),
	}
}

// freeradius makes the server the control: first in, first out, and 30 s for a
// request, as FreeRADIUS has it by default.
func freeradius(s sim.Scenario) sim.Scenario {
	s.Server.NewQueue = sim.FIFO
	s.Server.MaxRequestTime = 30 * time.Second
	return s
}

func simulate(t testing.TB, s sim.Scenario) *sim.Result {
	t.Helper()
	r, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	c := r.Server
	ends := c.Duplicate + c.Replayed + c.TableFull + c.Expired + c.Superseded + c.Replied
	for class := range c.Refused {
		ends += c.Refused[class] + c.Evicted[class]
	}
	if ends != c.Received {
		t.Errorf("%d datagrams came, %d came to an end: %+v", c.Received, ends, c)
	}
	return r
}

// FreeRADIUS answered 10,875 of a possible 18,600 and then none of the next 1,500;
// its queue, simulated, does as badly.
func TestFIFOCollapses(t *testing.T) {
	r := simulate(t, freeradius(storm(2)))
	if share := float64(r.Answers(0, 30*time.Second)) / (30 * capacity); share < 0.5 || share > 0.7 {
		t.Errorf("at twice its capacity it answers %.3f of it; the real one 0.585", share)
	}
	after := r.Summary(sim.Window{From: 30 * time.Second, To: 40 * time.Second})
	if after.Answered > 0 {
		t.Errorf("at half its capacity it answers %d of the next %d; the real one none of 1500", after.Answered, after.Made)
	}
}

// The queue of radpool answers what can be answered, at any load, and all as
// soon as that is possible.
func TestRadpoolHolds(t *testing.T) {
	for _, over := range []float64{1.2, 2, 5, 10} {
		r := simulate(t, storm(over))
		if share := float64(r.Answers(0, 30*time.Second)) / (30 * capacity); share < 0.97 {
			t.Errorf("at %v times its capacity it answers %.3f of it", over, share)
		}
		after := r.Summary(sim.Window{From: 31 * time.Second})
		if after.Share() < 0.999 || after.P99 > 100*ms {
			t.Errorf("a second after %v times its capacity it answers %.3f of half of it, 99 in 100 within %v", over, after.Share(), after.P99)
		}
	}
}

// One NAS that asks for ten times the capacity does not disturb another that
// asks for a tenth of it; with FIFO it does.
func TestFloodIsKeptFromOthers(t *testing.T) {
	s := storm(10)
	small := sim.NAS{Timers: sim.MikroTik}
	small.Load[radpool.ClassAccess] = []sim.Rate{{PerSecond: capacity / 10}}
	s.NAS = append(s.NAS, small)
	window := sim.Window{NAS: 2, To: 30 * time.Second}
	if got := simulate(t, s).Summary(window); got.Share() < 0.99 || got.P99 > 250*ms {
		t.Errorf("of the small one, %.3f are answered, 99 in 100 within %v", got.Share(), got.P99)
	}
	if got := simulate(t, freeradius(s)).Summary(window); got.Share() > 0.5 {
		t.Errorf("with FIFO, %.3f are", got.Share())
	}
}

// Where a tenth of the datagrams is lost, retransmissions make up for it: each
// runs once, and the answer that was lost is sent again.
func TestLossIsMadeUpFor(t *testing.T) {
	s := storm(0.5)
	s.Loss = 0.1
	r := simulate(t, s)
	got := r.Summary(sim.Window{})
	// Each attempt fails with 0.19; the third is the last.
	if want := 1 - 0.19*0.19*0.19; got.Share() < want-0.003 || got.Share() > want+0.003 {
		t.Errorf("%.4f are answered; want %.4f", got.Share(), want)
	}
	if r.Server.Replayed == 0 || r.Server.Run > uint64(got.Made) {
		t.Errorf("%d made: %+v", got.Made, r.Server)
	}
}

// Real NASes, all at once after a power failure, and a pool that grows: as much is
// done as can be, interims wait for those who wait, and then all are answered.
func TestReconnectStorm(t *testing.T) {
	s := sim.Scenario{
		Seed: 3, Delay: ms, Loss: 0.001, Until: 40 * time.Second,
		Server:  sim.Server{Policy: radpool.Adaptive{MaxServers: 256}, WorkerStart: 5 * ms, Cost: 5 * time.Microsecond},
		Backend: sim.Backend{Parallel: 32, Service: sim.LogNormal(50*ms, 0.5), Contention: 0.005, Latency: ms},
	}
	for _, timers := range []sim.Timers{sim.MikroTik, sim.AccelPPP, sim.Juniper, sim.CiscoIOS, sim.StarOS, sim.RFC5080} {
		n := sim.NAS{Timers: timers}
		n.Load[radpool.ClassAccess] = []sim.Rate{{PerSecond: 20}, {From: 5 * time.Second, PerSecond: 300}, {From: 15 * time.Second, PerSecond: 30}}
		n.Load[radpool.ClassAccounting] = []sim.Rate{{PerSecond: 20}}
		n.Load[radpool.ClassInterim] = []sim.Rate{{PerSecond: 10}}
		s.NAS = append(s.NAS, n)
	}
	r := simulate(t, s)
	// Patient NASes go on asking for what they could not get: it takes a while until
	// that is done, and accounting waits for it.
	for i := range s.NAS {
		access := r.Summary(sim.Window{From: 20 * time.Second, NAS: i + 1, Class: radpool.ClassAccess, ByClass: true})
		all := r.Summary(sim.Window{From: 32 * time.Second, NAS: i + 1})
		if access.Share() < 0.99 || all.Share() < 0.99 {
			t.Errorf("NAS %d: after the storm, %.3f of the logins and then %.3f of all are answered", i, access.Share(), all.Share())
		}
	}
	window := sim.Window{From: 8 * time.Second, To: 15 * time.Second, Class: radpool.ClassAccess, ByClass: true}
	access := r.Summary(window)
	window.Class = radpool.ClassInterim
	if interim := r.Summary(window); access.Share() < interim.Share() {
		t.Errorf("in the storm, %.3f of the logins are answered and %.3f of the interims", access.Share(), interim.Share())
	}
	if got := r.Answers(8*time.Second, 15*time.Second); got < 7*capacity*8/10 {
		t.Errorf("in the storm, %d are answered", got)
	}
}

func TestTimers(t *testing.T) {
	for _, tc := range []struct {
		timers sim.Timers
		want   time.Duration
	}{
		{sim.MikroTik, 3300 * ms},
		{sim.AccelPPP, 9 * time.Second},
		{sim.Juniper, 12 * time.Second},
		{sim.CiscoIOS, 20 * time.Second},
		{sim.StarOS, 18 * time.Second},
		{sim.RFC5080, 30 * time.Second},
		{sim.Timers{Timeout: time.Second, Sends: 4, Factor: 2, MaxTimeout: 3 * time.Second}, 9 * time.Second},
	} {
		if got := tc.timers.GiveUp(); got != tc.want {
			t.Errorf("%+v: %v, want %v", tc.timers, got, tc.want)
		}
		// Nobody answers: each request is sent as often as it may be within that time.
		n := sim.NAS{Timers: tc.timers, Sockets: 1}
		n.Load[radpool.ClassAccess] = []sim.Rate{{PerSecond: 1}}
		r := simulate(t, sim.Scenario{
			NAS: []sim.NAS{n}, Loss: 1, Until: 10 * time.Second, Backend: billing(), Server: sim.Server{Policy: radpool.Fixed(1)},
		})
		if len(r.Requests) == 0 {
			t.Error("there are no requests")
		}
		for _, q := range r.Requests {
			if most := tc.timers.Sends; q.Answered || q.Sends > most || q.Sends < most && tc.timers.MaxTime == 0 || q.Sends < 4 && most > 4 {
				t.Errorf("%+v: %+v", tc.timers, q)
			}
		}
	}
}

// A NAS has 256 Identifiers a socket: what finds none free is not sent.
func TestIdentifiersRunOut(t *testing.T) {
	n := sim.NAS{Timers: sim.AccelPPP, Sockets: 1}
	n.Load[radpool.ClassAccess] = []sim.Rate{{PerSecond: 1000}}
	r := simulate(t, sim.Scenario{
		NAS: []sim.NAS{n}, Loss: 1, Until: 5 * time.Second, Backend: billing(), Server: sim.Server{Policy: radpool.Fixed(1)},
	})
	sent := 0
	for _, q := range r.Requests {
		if q.Sends > 0 {
			sent++
		}
	}
	if sent != 256 || len(r.Requests) < 4000 {
		t.Errorf("%d of %d were sent", sent, len(r.Requests))
	}
}

// The same seed, the same course; another one, another.
func TestRepeatable(t *testing.T) {
	s := storm(2)
	s.Loss, s.Until = 0.01, 10*time.Second
	s.NAS[0].Load[radpool.ClassAccess] = s.NAS[0].Load[radpool.ClassAccess][:1]
	s.NAS[0].Timers.Jitter = 0.1
	s.Backend.Service = sim.Exponential(50 * ms)
	s.Server.Policy = radpool.Adaptive{}
	first := simulate(t, s)
	if !reflect.DeepEqual(first, simulate(t, s)) {
		t.Error("the same seed is not the same course")
	}
	s.Seed++
	if reflect.DeepEqual(first.Requests, simulate(t, s).Requests) {
		t.Error("another seed is the same course")
	}
}

func TestScenarioErrors(t *testing.T) {
	for _, tc := range []struct {
		want   string
		change func(*sim.Scenario)
	}{
		{"NAS is 0: must be from 1", func(s *sim.Scenario) { s.NAS = nil }},
		{"NAS[0].Timers.Timeout is 0s", func(s *sim.Scenario) { s.NAS[0].Timers.Timeout = 0 }},
		{"NAS[0].Timers.Sends is 0", func(s *sim.Scenario) { s.NAS[0].Timers.Sends = 0 }},
		{"NAS[0].Timers.Jitter is 1", func(s *sim.Scenario) { s.NAS[0].Timers.Jitter = 1 }},
		{"NAS[0].Sockets is 5000: must be from 1 to 4096", func(s *sim.Scenario) { s.NAS[0].Sockets = 5000 }},
		{"NAS[0].Load[2][1].From is 1s", func(s *sim.Scenario) {
			s.NAS[0].Load[radpool.ClassAccess] = []sim.Rate{{From: 2 * time.Second}, {From: time.Second}}
		}},
		{"NAS[0].Load[2][0].PerSecond is -1", func(s *sim.Scenario) { s.NAS[0].Load[radpool.ClassAccess][0].PerSecond = -1 }},
		{"Loss is 1.5: must be from 0 to 1", func(s *sim.Scenario) { s.Loss = 1.5 }},
		{"Delay is -1ns", func(s *sim.Scenario) { s.Delay = -1 }},
		{"Until is 0s", func(s *sim.Scenario) { s.Until = 0 }},
		{"Policy is nil", func(s *sim.Scenario) { s.Server.Policy = nil }},
		{"MaxServers is -1", func(s *sim.Scenario) { s.Server.Policy = radpool.Adaptive{MaxServers: -1} }},
		{"Server.MaxQueueSize is -1", func(s *sim.Scenario) { s.Server.MaxQueueSize = -1 }},
		{"Server.Patience is 1ms: must be longer than a round trip, 2ms", func(s *sim.Scenario) { s.Delay, s.Server.Patience = ms, ms }},
		{"Backend.Parallel is 0", func(s *sim.Scenario) { s.Backend.Parallel = 0 }},
		{"Backend.Service is nil", func(s *sim.Scenario) { s.Backend.Service = nil }},
		{"Backend.Contention is -1", func(s *sim.Scenario) { s.Backend.Contention = -1 }},
		{"Backend.Changes[1].At is 1s", func(s *sim.Scenario) {
			s.Backend.Changes = []sim.Change{{At: 2 * time.Second}, {At: time.Second}}
		}},
	} {
		s := storm(1)
		tc.change(&s)
		if _, err := s.Run(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v; want %q", err, tc.want)
		}
	}
	for want, s := range map[string]sim.Saturation{
		"Policy is nil": {Backend: billing(), Until: time.Second},
		"Until is 0s":   {Backend: billing(), Policy: radpool.Fixed(1)},
		"Step is 1ns":   {Backend: billing(), Policy: radpool.Fixed(1), Until: time.Second, Step: 1},
		"Idle[0][1]":    {Backend: billing(), Policy: radpool.Fixed(1), Until: time.Second, Idle: [][2]time.Duration{{2, 1}}},
	} {
		if _, err := s.Run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
