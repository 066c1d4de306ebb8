package radpool_test

import (
	"context"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

// seedVariable names the environment variable that repeats a simulation: what the
// NASes send and what the network does with it. In which order goroutines run
// that are ready at the same moment, it cannot repeat.
const seedVariable = "RADPOOL_SIMULATION_SEED"

// scenario is one simulation.
type scenario struct {
	datagrams int // sent by the NASes; the network makes more of some and none of others
	config    radpool.Config
	policy    radpool.Policy
	network   simnet.Config
	mix       mix
	batch     bool          // the handler takes batches
	split     bool          // authentication and accounting have a socket each
	each      int           // datagrams a tick
	stall     time.Duration // of the database, every stallEvery
	end       func(*radpool.Server) error
	outcomes  []radpool.Outcome // that must occur, beside those that always do; Aborted only where it is named
}

const (
	tick       = 5 * time.Millisecond
	stallEvery = 2 * time.Second
	lastStall  = 100 * time.Millisecond
)

var scenarios = map[string]scenario{
	"a small queue, and Shutdown": {
		datagrams: 400_000,
		config: radpool.Config{
			MaxRequestTime: 500 * time.Millisecond, CleanupDelay: time.Second, MaxServers: 48, MinSpareServers: 4, MaxSpareServers: 8,
			MaxRequests: 1 << 20, MaxQueueSize: 300, MaxRequestsPerServer: 50, AutoLimitAcct: true,
		},
		network:  simnet.Config{Loss: 0.02, Duplicate: 0.03, Reorder: 0.05, MinDelay: time.Millisecond},
		mix:      mix{slow: 5000, stuck: 100, waiting: 100, failing: 3000, silent: 3000, panicking: 200, goexit: 50, unencodable: 500},
		each:     250,
		stall:    550 * time.Millisecond,
		end:      func(s *radpool.Server) error { return s.Shutdown(context.Background()) },
		outcomes: []radpool.Outcome{radpool.QueueFull, radpool.Shed, radpool.Expired},
	},
	"a small table, batches, and Close": {
		datagrams: 300_000,
		config: radpool.Config{
			MaxRequestTime: 300 * time.Millisecond, CleanupDelay: time.Second, MaxServers: 12, MaxBatch: 64,
			MaxRequests: 1500, MaxQueueSize: 4096, MaxRequestsPerServer: 100,
		},
		network:  simnet.Config{Loss: 0.05, Duplicate: 0.05, Reorder: 0.1, MinDelay: time.Millisecond},
		mix:      mix{slow: 2000, stuck: 5, waiting: 5, failing: 3000, silent: 3000, panicking: 50, goexit: 20, unencodable: 500},
		batch:    true,
		each:     200,
		stall:    time.Second,
		end:      (*radpool.Server).Close,
		outcomes: []radpool.Outcome{radpool.TableFull, radpool.Expired, radpool.Aborted},
	},
	"two sockets, little trouble, and an impatient Shutdown": {
		datagrams: 300_000,
		config: radpool.Config{
			MaxRequestTime: time.Second, CleanupDelay: 2 * time.Second, MaxServers: 200, MaxRequests: 1 << 20, MaxQueueSize: 1 << 12, AutoLimitAcct: true,
		},
		policy:  radpool.Fixed(200),
		network: simnet.Config{Loss: 0.01, Duplicate: 0.01, Reorder: 0.01, MinDelay: time.Millisecond},
		mix:     mix{slow: 10_000, stuck: 200, failing: 1000, silent: 1000},
		split:   true,
		each:    150,
		stall:   0,
		end: func(s *radpool.Server) error {
			ctx, cancel := context.WithTimeout(context.Background(), lastStall/4)
			defer cancel()
			if err := s.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return nil
		},
		outcomes: []radpool.Outcome{radpool.Expired, radpool.Aborted},
	},
}

// A million datagrams through a bad network, from NASes that ask again, give up
// and lie, to handlers that dawdle, fail, panic and hang; and the end in the
// middle of it. What was promised holds all the time.
func TestSimulation(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			if v := os.Getenv(seedVariable); v != "" {
				var err error
				if seed, err = strconv.ParseUint(v, 10, 64); err != nil {
					t.Fatalf("%s: %v", seedVariable, err)
				}
			}
			if testing.Short() || arena.Debug {
				s.datagrams /= 10
			}
			synctest.Test(t, func(t *testing.T) { simulate(t, name, seed, s) })
			if t.Failed() {
				t.Logf("again: %s=%d", seedVariable, seed)
			}
		})
	}
}

// simulation is one that runs.
type simulation struct {
	scenario
	*judge
	crowd      *crowd
	server     *radpool.Server
	network    *simnet.Network
	clientList []radpool.Client
	served     chan error
	stallEnd   atomic.Int64 // since the start: until then the database answers nobody
}

func simulate(t *testing.T, name string, seed uint64, sc scenario) {
	s := newSimulation(t, name, seed, sc)
	ended := make(chan error, 1)
	last := sc.datagrams * 19 / 20
	for n := 0; s.crowd.sent < sc.datagrams; n++ {
		before := s.crowd.sent
		for range sc.each {
			s.crowd.step()
		}
		if before < last && s.crowd.sent >= last {
			s.stallEnd.Store(int64(time.Since(s.start) + lastStall)) // so that the end finds what waits
			time.AfterFunc(lastStall/2, func() { ended <- sc.end(s.server) })
		}
		s.disturb(n)
		time.Sleep(tick)
	}
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	for range cap(s.served) {
		if err := <-s.served; !errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	}
	time.Sleep(time.Second) // what is on its way arrives
	if err := s.network.Close(); err != nil {
		t.Error(err)
	}
	synctest.Wait()
	s.verdict()
}

// disturb does what happens seldom.
func (s *simulation) disturb(n int) {
	every := func(d time.Duration) bool { return n%int(d/tick) == int(50*time.Millisecond/tick) }
	if s.stall > 0 && every(stallEvery) {
		s.stallEnd.Store(int64(time.Since(s.start) + s.stall))
	}
	if every(70 * time.Millisecond) {
		if err := s.server.Clients.Replace(s.clientList); err != nil {
			s.t.Error(err)
		}
	}
	if every(110 * time.Millisecond) {
		synctest.Wait()
		s.check(s.server.Stats(), s.config)
	}
}

func newSimulation(t *testing.T, name string, seed uint64, sc scenario) *simulation {
	t.Helper()
	s := &simulation{scenario: sc}
	s.judge = &judge{
		t: t, name: name, seed: seed, start: time.Now(), retention: sc.config.CleanupDelay, patience: sc.config.MaxRequestTime,
		secret: wire.NewSecret([]byte(testSecret)), hash: maphash.MakeSeed(), digests: make(map[uint64]uint64),
	}
	s.scenario.network.Seed = seed
	s.scenario.network.Capacity = 1 << 16
	var err error
	if s.network, err = simnet.New(s.scenario.network); err != nil {
		t.Fatal(err)
	}
	s.clientList = []radpool.Client{{Prefix: nasSubnet, Secret: []byte(testSecret), LimitProxyState: radpool.No}}
	s.server = &radpool.Server{
		Config: sc.config, Policy: sc.policy, Clients: clients(t, s.clientList...),
		Hooks:   radpool.Hooks{Drop: s.dropped},
		Handler: radpool.HandlerFunc(s.handle),
	}
	if sc.batch {
		s.server.Handler = simulatedBatches{s}
	}
	acct := authAddr
	services := map[netip.AddrPort]radpool.Services{authAddr: radpool.Auth | radpool.Acct}
	if sc.split {
		acct = netip.AddrPortFrom(authAddr.Addr(), 1813)
		services = map[netip.AddrPort]radpool.Services{authAddr: radpool.Auth, acct: radpool.Acct}
	}
	s.served = make(chan error, len(services))
	for addr, what := range services {
		conn, err := s.network.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		go func() { s.served <- s.server.ServeServices(&tap{conn, s.judge}, what) }()
	}
	s.crowd = newCrowd(s.judge, seed, sc.mix, sc.datagrams, acct)
	if err := s.crowd.listen(s.network); err != nil {
		t.Fatal(err)
	}
	return s
}

type simulatedBatches struct{ *simulation }

func (s simulatedBatches) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	s.handle(ctx, req, resp)
}

func (s simulatedBatches) HandleBatch(batch []*radpool.Exchange) { s.handleBatch(batch) }

func (s simulatedBatches) BatchSize() int { return 0 }

func (s *simulation) handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	s.handleBatch([]*radpool.Exchange{{Ctx: ctx, Request: req, Response: resp}})
}

// handleBatch does what the requests ask for. A panic is that of the whole
// batch.
func (s *simulation) handleBatch(batch []*radpool.Exchange) {
	calls := make([]uint8, len(batch))
	serials := make([]uint32, len(batch))
	returned := false
	for i, x := range batch {
		serials[i] = serialOf(rfc2865.ProxyState_Get(x.Request.Packet))
		calls[i] = s.begin(x.Request, serials[i])
	}
	defer func() {
		for i, x := range batch {
			s.judge.end(serials[i], calls[i], returned && x.Response.Err() == nil && len(x.Response.Attributes) < 2)
		}
	}()
	if d := time.Duration(s.stallEnd.Load()) - time.Since(s.start); d > 0 {
		time.Sleep(d)
	}
	s.dawdle(batch, serials)
	for i, x := range batch {
		s.answer(x, calls[i])
	}
	returned = true
}

func (s *simulation) behaviour(x *radpool.Exchange) byte {
	return rfc2865.UserName_Get(x.Request.Packet)[0]
}

// dawdle takes the time that the slowest of a batch takes.
func (s *simulation) dawdle(batch []*radpool.Exchange, serials []uint32) {
	var d time.Duration
	for i, x := range batch {
		switch s.behaviour(x) {
		case slow:
			d = max(d, delayOf(serials[i]))
		case stuck:
			d = max(d, 3*s.patience)
		}
	}
	if d > 0 {
		time.Sleep(d)
	}
}

func (s *simulation) answer(x *radpool.Exchange, call uint8) {
	behaviour := s.behaviour(x)
	switch behaviour {
	case waiting:
		<-x.Ctx.Done()
		x.Response.Fail(x.Ctx.Err())
		return
	case failing:
		x.Response.Fail(errors.New("no"))
		return
	case silent:
		return
	case panicking, goexit:
		s.judge.mu.Lock()
		s.panics++
		s.judge.mu.Unlock()
		if behaviour == goexit {
			runtime.Goexit()
		}
		panic("as asked")
	}
	for _, avp := range x.Request.Attributes { // a handler may do what it likes to its packet
		clear(avp.Attribute)
	}
	x.Response.Code = replyTo(x.Request.Code)
	x.Response.Add(rfc2865.Class_Type, []byte{call})
	if behaviour == unencodable {
		x.Response.Add(rfc2865.Class_Type, make([]byte, 254))
	}
}

// verdict is given when all is over.
func (s *simulation) verdict() {
	st := s.server.Stats()
	s.check(st, s.config)
	if st.InFlight != 0 || st.Arena.InUse != 0 || st.Cache.InFlight != 0 || st.Unresponsive != 0 || st.Pool.Workers != 0 {
		s.errorf("something is left: %s", summary(st))
	}
	for _, o := range append([]radpool.Outcome{
		radpool.Malformed, radpool.UnknownClient, radpool.WrongCode, radpool.Unauthentic, radpool.StatusServer,
		radpool.Duplicate, radpool.Replayed, radpool.Superseded, radpool.Replied, radpool.Unanswered, radpool.Failed,
	}, s.outcomes...) {
		if st.Outcome(o) == 0 {
			s.errorf("this simulation has had no %v", o)
		}
	}
	if !slices.Contains(s.outcomes, radpool.Aborted) && st.Aborted != 0 {
		s.errorf("a gentle end has aborted %d requests", st.Aborted)
	}
	if s.config.MaxRequestsPerServer > 0 && st.Pool.Recycled == 0 || st.Cache.Late == 0 {
		s.errorf("no worker was replaced, or no handler was late: %+v", st)
	}
	if want := s.network.Stats(); want.Lost == 0 || want.Duplicated == 0 || want.Reordered == 0 {
		s.errorf("the network was too good: %+v", want)
	}
	s.t.Logf("seed %d: %s", s.seed, summary(st))
}

func summary(st radpool.Stats) string {
	text := "received " + strconv.FormatUint(st.Received, 10)
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		text += ", " + o.String() + " " + strconv.FormatUint(st.Outcome(o), 10)
	}
	return text
}
