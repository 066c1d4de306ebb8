package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/radpool/radpool/cache"
)

// Scenario is NASes, a network, a server and its back end.
type Scenario struct {
	// Seed makes the course: the same one for the same seed.
	Seed uint64
	NAS  []NAS
	// Loss is the share of datagrams that are lost, on the way there and on the
	// way back, and Delay how long each takes.
	Loss    float64
	Delay   time.Duration
	Server  Server
	Backend Backend
	// Until is when no more requests are made. What was made by then comes to its end.
	Until time.Duration
}

// world is a scenario that runs.
type world struct {
	*loop
	loss   float64
	delay  time.Duration
	rand   *rand.Rand
	until  time.Duration
	server *server
	result *Result
}

// carry has a datagram arrive, or not.
func (w *world) carry(arrive func()) {
	if w.loss > 0 && w.rand.Float64() < w.loss {
		return
	}
	w.after(w.delay, arrive)
}

// Run simulates s. An error names the field that is wrong.
func (s Scenario) Run() (*Result, error) {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return nil, err
	}
	// Each part draws from a source of its own, so that a change of one leaves
	// what the others do as it was.
	source := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, stream)) }
	w := &world{loop: new(loop), loss: s.Loss, delay: s.Delay, rand: source(1), until: s.Until, result: new(Result)}
	queue, err := s.Server.NewQueue(s.Server.MaxQueueSize)
	if err != nil {
		return nil, err
	}
	table, err := cache.New(cache.Config{
		MaxRequests: tableSize, CleanupDelay: s.Server.CleanupDelay, MaxAge: 10 * time.Minute, MaxRequestTime: s.Server.MaxRequestTime, Shards: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("sim: Server: %w", err)
	}
	w.server = &server{world: w, Server: s.Server, cache: table, queue: queue, count: &w.result.Server}
	w.server.pool = &pool{
		loop: w.loop, policy: s.Server.Policy, queue: w.server, workerStart: s.Server.WorkerStart, done: w.server.done,
		backend: newBackend(w.loop, s.Backend, source(0)),
	}
	w.at(0, w.server.pool.ask)
	end := s.Until
	for i, cfg := range s.NAS {
		w.newNAS(i, cfg, source(uint64(i)+2))
		end = max(end, s.Until+2*cfg.Timers.GiveUp()) // with jitter, too
	}
	w.run(end)
	w.result.Until = s.Until
	return w.result, nil
}

// tableSize is how many requests the duplicate table holds.
const tableSize = 1 << 18

func (s Scenario) withDefaults() Scenario {
	if s.Server.NewQueue == nil {
		s.Server.NewQueue = Radpool
	}
	if s.Server.MaxQueueSize == 0 {
		s.Server.MaxQueueSize = maxCount
	}
	if s.Server.MaxRequestTime == 0 {
		s.Server.MaxRequestTime = 9 * time.Second
	}
	if s.Server.CleanupDelay == 0 {
		s.Server.CleanupDelay = 10 * time.Second
	}
	s.NAS = append([]NAS(nil), s.NAS...)
	for i := range s.NAS {
		if s.NAS[i].Sockets == 0 {
			s.NAS[i].Sockets = 64
		}
	}
	return s
}

func (s *Scenario) validate() error {
	errs := []error{
		count("NAS", len(s.NAS), 1),
		ratio("Loss", s.Loss, 1),
		within("Delay", s.Delay, 0),
		within("Until", s.Until, 1),
		validatePolicy(s.Server.Policy),
		count("Server.MaxQueueSize", s.Server.MaxQueueSize, 1),
		within("Server.WorkerStart", s.Server.WorkerStart, 0),
		within("Server.MaxRequestTime", s.Server.MaxRequestTime, time.Millisecond),
		within("Server.CleanupDelay", s.Server.CleanupDelay, time.Millisecond),
		within("Server.Patience", s.Server.Patience, 0),
		within("Server.Cost", s.Server.Cost, 0),
		s.Backend.validate(),
	}
	if p := s.Server.Patience; p > 0 && p <= 2*s.Delay {
		errs = append(errs, outside("Server.Patience", p, fmt.Sprintf("longer than a round trip, %v", 2*s.Delay)))
	}
	for i := range s.NAS {
		errs = append(errs, s.NAS[i].validate(fmt.Sprintf("NAS[%d].", i)))
	}
	return errors.Join(errs...)
}

func (n *NAS) validate(field string) error {
	t := n.Timers
	errs := []error{
		within(field+"Timers.Timeout", t.Timeout, time.Millisecond),
		count(field+"Timers.Sends", t.Sends, 1),
		ratio(field+"Timers.Factor", t.Factor, 10),
		within(field+"Timers.MaxTimeout", t.MaxTimeout, 0),
		within(field+"Timers.MaxTime", t.MaxTime, 0),
		ratio(field+"Timers.Jitter", t.Jitter, 0.9),
	}
	if n.Sockets < 1 || n.Sockets > maxSockets {
		errs = append(errs, outside(field+"Sockets", n.Sockets, fmt.Sprintf("from 1 to %d", maxSockets)))
	}
	for class, rates := range n.Load {
		before := time.Duration(0)
		for i, r := range rates {
			at := fmt.Sprintf("%sLoad[%d][%d].", field, class, i)
			errs = append(errs, within(at+"From", r.From, before), ratio(at+"PerSecond", r.PerSecond, 1e6))
			before = r.From
		}
	}
	return errors.Join(errs...)
}

// maxSockets is how many a NAS can send from.
const maxSockets = 4096
