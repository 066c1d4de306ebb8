package radpool

import (
	"context"
	"errors"
	"hash/maphash"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/internal/udp"
)

// engine is a Server that runs: everything in it is set, and none of it
// changes.
type engine struct {
	handler Handler
	batch   BatchHandler // handler, if it is one
	clients *Clients
	config  Config
	hooks   Hooks
	log     *zap.Logger
	drops   *dropLog

	cache  *cache.Cache
	arenas *arena.Pool
	pool   *Pool[*waiting]

	waitings sync.Pool
	flowSeed maphash.Seed
	replies  replies

	counters  counterSet
	elsewhere *counters // for what neither a reader nor a worker counts: drops by the pool

	base   context.Context // of every request; ends with the server
	cancel context.CancelFunc

	outpaced           atomic.Bool // more requests come than are answered, by the housekeeper's last look
	panics, hookPanics atomic.Uint64
	heldUp             atomic.Uint64 // readers that were deposed
	runs               runSet
	rates              rates

	began    time.Time // the first Serve
	epoch    time.Time // of the times that are kept as nanoseconds; its monotonic clock makes a step of the wall clock mean nothing
	watchdog watchdog

	mu         sync.Mutex // guards listeners
	listeners  []*listener
	ids        uint32
	lostBefore uint64 // datagrams that were dropped of the sockets that are no more

	readers     sync.WaitGroup
	housekeeper sync.WaitGroup
	houseStop   chan struct{}
	ending      sync.Once
	ended       chan struct{} // closed when nothing is left
	abandoned   bool          // the end was hurried; to be read after ended
}

func newEngine(s *Server) (*engine, error) {
	if s.Handler == nil {
		return nil, errors.New("radpool: Server.Handler is nil")
	}
	if s.Clients == nil {
		return nil, errors.New("radpool: Server.Clients is nil")
	}
	cfg, err := s.Config.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &engine{
		handler: s.Handler,
		clients: s.Clients,
		config:  cfg,
		hooks:   s.Hooks,
		log:     s.Logger,
		drops:   newDropLog(s.Logger, time.Now()),
		ended:   make(chan struct{}),

		houseStop: make(chan struct{}),
	}
	e.began = time.Now()
	e.epoch = e.began.Add(-maxAge) // before the first datagram has arrived
	e.flowSeed = maphash.MakeSeed()
	e.rates.look(time.Now(), rateCounts{})
	e.watchdog.kick = make(chan struct{}, 1)
	e.watchdog.stop = make(chan struct{})
	if e.log == nil {
		e.log = zap.NewNop()
	}
	e.cache, err = cache.New(cache.Config{
		MaxRequests:    cfg.MaxRequests,
		CleanupDelay:   cfg.CleanupDelay,
		MaxRequestTime: cfg.MaxRequestTime,
	})
	if err != nil {
		return nil, err
	}
	if e.arenas, err = arena.NewPool(arena.Config{}); err != nil {
		return nil, err
	}
	e.elsewhere = e.counters.take()
	e.base, e.cancel = context.WithCancel(context.Background())
	if e.pool, err = e.newPool(s.Policy); err != nil {
		e.cancel()
		return nil, err
	}
	e.housekeeper.Go(e.keepHouse)
	if cfg.RunInReader != No {
		e.housekeeper.Go(e.watch)
	}
	return e, nil
}

func (e *engine) newPool(policy Policy) (*Pool[*waiting], error) {
	cfg := e.config
	if policy == nil {
		policy = cfg.policy()
	}
	maxBatch := 1
	if b, ok := e.handler.(BatchHandler); ok {
		e.batch, maxBatch = b, cfg.MaxBatch
		if n := b.BatchSize(); n > 0 {
			maxBatch = min(maxBatch, n)
		}
	}
	return NewPool(PoolConfig[*waiting]{
		MaxQueueSize:         cfg.MaxQueueSize,
		Policy:               policy,
		Run:                  e.run,
		renew:                e.renew,
		MaxBatch:             maxBatch,
		MaxRequestsPerServer: cfg.MaxRequestsPerServer,
		WorkerStart:          e.workerStart,
		WorkerStop:           e.workerStop,
		alone:                e.workerAlone,
		Drop:                 e.dropped,
		Panic:                e.panicked,
	})
}

func (e *engine) addListener(pc net.PacketConn, conn udp.Conn, services Services) *listener {
	l := e.newListener(pc, conn, services)
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.IndexFunc(e.listeners, l.sharesWith); i >= 0 {
		l.id = e.listeners[i].id
	} else {
		e.ids++
		l.id = e.ids
	}
	e.listeners = append(e.listeners, l)
	e.readers.Add(1) // here, under the Server's lock, so that none is added once the end has begun
	return l
}

// removeListener forgets one whose socket was closed by its owner, so that
// opening and closing sockets can go on for ever.
func (e *engine) removeListener(l *listener) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.Index(e.listeners, l); i >= 0 {
		lost, _ := l.conn.Drops()
		e.lostBefore += lost
		e.listeners = slices.Delete(e.listeners, i, i+1)
	}
}

// end is Shutdown, or Close when ctx is over already. All callers wait for the
// same end; the context of any of them can hurry it.
func (e *engine) end(ctx context.Context) error {
	if ctx.Err() != nil {
		e.cancel()
	} else {
		stop := context.AfterFunc(ctx, e.cancel)
		defer stop()
	}
	e.ending.Do(func() { go e.stop() })
	<-e.ended
	switch {
	case !e.abandoned:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return ErrServerClosed // another caller hurried
}

// stop takes the parts down in the order in which a request passes them, so
// that each finds the next one still there. The end of base hurries it.
func (e *engine) stop() {
	defer close(e.ended)
	e.mu.Lock()
	listeners := slices.Clone(e.listeners)
	for _, l := range listeners {
		l.stop() // with the lock held: no reader is deposed after this
	}
	e.mu.Unlock()
	e.readers.Wait()
	// The workers may see the end of base first and be done before the pool sees it.
	e.abandoned = e.pool.Shutdown(e.base) != nil || e.base.Err() != nil
	for _, l := range listeners {
		_ = l.conn.Close() // the replies are sent: nothing is lost by it
	}
	e.cancel()
	close(e.houseStop)
	close(e.watchdog.stop)
	e.housekeeper.Wait()
}

func (e *engine) stats() Stats {
	var st Stats
	e.counters.sum(&st)
	e.counters.times(&st)
	e.socketStats(&st)
	st.Started = e.began
	st.Unresponsive, _ = e.runs.over(time.Since(e.epoch), e.config.MaxRequestTime)
	st.ReadersHeldUp = e.heldUp.Load()
	st.HookPanics = e.hookPanics.Load()
	st.Panics = e.panics.Load()
	st.Pool = e.pool.Stats()
	st.Cache = e.cache.Stats()
	st.Arena = e.arenas.Stats()
	st.Config = e.config
	policy := e.pool.currentPolicy()
	st.MaxWorkers = mostOf(policy)
	if spare, ok := policy.(Spare); ok {
		spare = spare.WithDefaults()
		st.MinSpare, st.MaxSpare = spare.MinSpareServers, spare.MaxSpareServers
	}
	e.rates.report(&st)
	return st
}
