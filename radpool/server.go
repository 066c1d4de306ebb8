package radpool

import (
	"context"
	"errors"
	"net"
	"sync"

	"go.uber.org/zap"

	"github.com/radpool/radpool/internal/udp"
)

// ErrServerClosed is what Serve and ListenAndServe return when Shutdown or Close is
// done.
var ErrServerClosed = errors.New("radpool: server closed")

// A Server receives RADIUS requests, runs a [Handler] for each on a pool of
// workers, and sends the replies. Its fields are set before the first call of a
// method and not changed after that; a zero field means what its comment says.
// Its methods may be called from many goroutines at once. A Server that was shut
// down or closed cannot be used again.
type Server struct {
	// Handler answers the requests. Required. A [BatchHandler] is given several
	// at once.
	Handler Handler

	// Clients are those who may send requests. Required. Others are counted and
	// never answered.
	Clients *Clients

	// Config holds the limits.
	Config Config

	// Policy says how many workers there should be. nil: [Spare] with the
	// numbers of Config.
	Policy Policy

	// AuthAddr and AcctAddr are the UDP addresses of ListenAndServe, for
	// authentication and accounting. Empty: ":1812" and ":1813". The same
	// address in both serves both on the same sockets.
	AuthAddr, AcctAddr string

	// Logger gets a line for what an operator must know, at most one a second
	// for each cause. nil: none.
	Logger *zap.Logger

	// Hooks are called when something happens.
	Hooks Hooks

	mu     sync.Mutex // guards what follows; held only to look and to change, never while waiting
	engine *engine    // nil until the first Serve
	closed bool
}

// Services are what a socket serves: the type of a listen section of
// radiusd.conf.
type Services uint8

// Services that a socket can serve. Status-Server (RFC 5997) is answered by all but those
// for CoA alone: that the server lives.
//
// Where Status is among them, the answer has the statistics that the request asks for
// by FreeRADIUS-Statistics-Type, as a listener of type status of FreeRADIUS gives them, so
// that what was made to watch that watches this: 1 of Access-Requests, 2 of accounting,
// 0x10 of the queue and the workers, 4 and 8 of proxying (all zero), and with 0x20 those of
// one client, by its address or number, as far as they are counted. The numbers are those of
// [Stats] and [Clients.States], modulo 2^32. Any client may ask, also for others, so it
// is best a socket of its own on a loopback address (FreeRADIUS's is 127.0.0.1:18121).
const (
	Auth   Services = 1 << iota // Access-Request
	Acct                        // Accounting-Request
	CoA                         // CoA-Request and Disconnect-Request (RFC 5176): the side of a NAS
	Status                      // Status-Server with statistics
)

// ListenAndServe listens on AuthAddr and AcctAddr, with Config.Readers sockets
// each, and serves until Shutdown or Close has ended the server, and then returns
// [ErrServerClosed]. When it cannot listen on one of them it serves neither and
// returns why; when one of them is closed by somebody else it closes the server and
// returns that. Who must know when requests are received makes the sockets first
// ([Listen]) and has [Server.ServeServices] serve them: what arrives from then on waits.
func (s *Server) ListenAndServe() error {
	cfg, err := s.Config.withDefaults()
	if err != nil {
		return err
	}
	auth, acct := s.AuthAddr, s.AcctAddr
	if auth == "" {
		auth = ":1812"
	}
	if acct == "" {
		acct = ":1813"
	}
	sockets := map[string]Services{auth: Auth}
	sockets[acct] |= Acct
	conns := make(map[net.PacketConn]Services)
	for addr, services := range sockets {
		list, err := Listen("udp", addr, cfg.Readers)
		if err != nil {
			for c := range conns {
				_ = c.Close() // nothing was served on it yet
			}
			return err
		}
		for _, pc := range list {
			conns[pc] = services
		}
	}
	ended := make(chan error, len(conns))
	for pc, services := range conns {
		go func() { ended <- s.ServeServices(pc, services) }()
	}
	err = <-ended
	if !errors.Is(err, ErrServerClosed) {
		_ = s.Close() // it was err that ended the server
	}
	for range len(conns) - 1 {
		if other := <-ended; !errors.Is(other, ErrServerClosed) {
			err = errors.Join(err, other)
		}
	}
	return err
}

// Listen opens readers sockets of one UDP address for ServeServices, as ListenAndServe does
// for its own: see Config.Readers, whose bounds it has. network is udp, udp4 or udp6.
func Listen(network, addr string, readers int) ([]net.PacketConn, error) {
	if err := number("Readers", &readers, defaultReaders, 1, maxReaders, ""); err != nil {
		return nil, err
	}
	list, err := udp.Listen(network, addr, readers)
	if readers > 1 && errors.Is(err, errors.ErrUnsupported) {
		err = errors.Join(&ConfigError{"Readers", readers, "1 on this system"}, err)
	}
	return list, err
}

// Serve serves Access-Requests and Accounting-Requests on pc until Shutdown or
// Close has ended it, and then returns [ErrServerClosed]: when that returns, the
// last reply is sent, so a program may end with it. It takes pc over: pc is closed when
// the last reply is sent, also when Serve returns an error at once. Serve may be
// called for several sockets at the same time.
func (s *Server) Serve(pc net.PacketConn) error { return s.ServeServices(pc, Auth|Acct) }

// ServeServices is Serve for a socket that serves some of the [Services] only.
func (s *Server) ServeServices(pc net.PacketConn, services Services) error {
	l, err := s.listen(pc, services)
	if err != nil {
		if pc != nil {
			_ = pc.Close()
		}
		return err
	}
	return l.serve()
}

func (s *Server) listen(pc net.PacketConn, services Services) (*listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrServerClosed
	}
	if services == 0 || services > Auth|Acct|CoA|Status {
		return nil, &ConfigError{"Services", services, "Auth, Acct, CoA, Status or several of them"}
	}
	conn, err := udp.New(pc) // before the engine: if this fails, nothing was started that would have to be ended
	if err != nil {
		return nil, err
	}
	if s.engine == nil {
		if s.engine, err = newEngine(s); err != nil {
			return nil, err
		}
	}
	return s.engine.addListener(pc, conn, services), nil
}

// Shutdown ends the server gently: it reads what has arrived by then and no
// more, lets the workers answer what waits in the queue and what runs, sends the replies, and closes the
// sockets. When ctx ends before that, the rest is dropped and running handlers
// have their contexts cancelled, as with Close, and Shutdown returns ctx's
// error. Either way no goroutine of the server is left when it returns, so it
// waits for a Handler that ignores its context.
//
// Shutdown and Close may be called more than once and at the same time: each
// waits for the end, and a Shutdown that another caller's Close or context cut
// short returns [ErrServerClosed]. Neither may be called from a Handler or a
// hook, which would wait for itself: there, start it in a goroutine of its own.
func (s *Server) Shutdown(ctx context.Context) error { return s.end(ctx) }

// Close ends the server at once: what waits in the queue is dropped, and running
// handlers have their contexts cancelled and go unanswered. It returns when they
// have returned and no goroutine of the server is left.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.end(ctx) // that ctx is over is how Close differs from Shutdown
	return nil
}

func (s *Server) end(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	e := s.engine
	s.mu.Unlock()
	if e == nil {
		return nil
	}
	return e.end(ctx)
}

// Stats returns what was counted so far. It is zero before the first Serve.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	e := s.engine
	s.mu.Unlock()
	if e == nil {
		return Stats{}
	}
	return e.stats()
}
