package billingtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// Defaults and bounds of a [ServiceConfig].
const (
	DefaultTimeout = 3 * time.Second // what NASes wait for a reply
	DefaultTries   = 3               // how many times they send
	MaxTries       = 100

	// MaxClients is how many NASes a Service has addresses for.
	MaxClients = 250
)

// shutdownTime is how long Service.Close lets requests end by themselves.
const shutdownTime = 10 * time.Second

// A ServiceConfig says how a [Service] is made. The zero value is a server of
// default Config on a perfect network.
type ServiceConfig struct {
	// Network is the network between NASes and server.
	Network NetworkConfig

	// Config, Policy and Hooks are the server's.
	Config radpool.Config
	Policy radpool.Policy
	Hooks  radpool.Hooks

	// Secret is what the server shares with its NASes. Empty: the constant
	// Secret.
	Secret string

	// Timeout is how long a [Client] waits for a reply before it sends again. 0:
	// DefaultTimeout.
	Timeout time.Duration

	// Tries is how many times a [Client] sends a request, the first included. 0:
	// DefaultTries, at most MaxTries.
	Tries int
}

func (c ServiceConfig) withDefaults() (ServiceConfig, error) {
	if c.Secret == "" {
		c.Secret = Secret
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Tries == 0 {
		c.Tries = DefaultTries
	}
	var errs []error
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("billingtest: ServiceConfig.Timeout is %v, must not be negative", c.Timeout))
	}
	if c.Tries < 0 || c.Tries > MaxTries {
		errs = append(errs, fmt.Errorf("billingtest: ServiceConfig.Tries is %d, must be 1 to %d, or 0 for the default", c.Tries, MaxTries))
	}
	return c, errors.Join(errs...)
}

// A Service is a radpool.Server on a [Network] in memory, with the NASes that use
// it: all that runs in production but for the operating system's sockets. It works
// inside a bubble of testing/synctest. Make one with [NewService] or [Serve].
type Service struct {
	// Server is the server; its Stats say how each datagram ended.
	Server *radpool.Server

	// Network is the network.
	Network *Network

	config ServiceConfig
	addr   netip.AddrPort
	served chan error

	mu      sync.Mutex
	clients []*Client
	closed  bool
}

// NewService starts a server with h. It must be closed.
func NewService(h radpool.Handler, cfg ServiceConfig) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if h == nil {
		return nil, errors.New("billingtest: NewService needs a Handler")
	}
	if err := cfg.Config.Validate(); err != nil {
		return nil, err
	}
	network, err := NewNetwork(cfg.Network)
	if err != nil {
		return nil, err
	}
	socket, err := network.Listen(serverAddr)
	if err != nil {
		return nil, err
	}
	prefix := netip.PrefixFrom(serverAddr.Addr(), 24)
	clients, err := radpool.NewClients(radpool.Client{Prefix: prefix, Name: "billingtest", Secret: []byte(cfg.Secret)})
	if err != nil {
		return nil, err
	}
	s := &Service{
		Server:  &radpool.Server{Handler: h, Clients: clients, Config: cfg.Config, Policy: cfg.Policy, Hooks: cfg.Hooks},
		Network: network,
		config:  cfg,
		addr:    serverAddr,
		served:  make(chan error, 1),
	}
	go func() { s.served <- s.Server.Serve(socket) }()
	return s, nil
}

// Serve is [NewService] for tests: it returns the first NAS, whose field Service
// is the rest. The service is closed when the test ends; an error is fatal.
func Serve(t testing.TB, h radpool.Handler, cfg ServiceConfig) *Client {
	t.Helper()
	s, err := NewService(h, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := s.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// NewClient returns a NAS with an address of its own: 192.0.2.1, the next one
// 192.0.2.2, and so on up to [MaxClients]. It ends with the service.
func (s *Service) NewClient() (*Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case len(s.clients) == MaxClients:
		return nil, fmt.Errorf("billingtest: a Service has at most %d clients", MaxClients)
	}
	host := netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + len(s.clients))})
	socket, err := s.Network.Listen(netip.AddrPortFrom(host, nasPort))
	if err != nil {
		return nil, err
	}
	c := &Client{
		Service: s, socket: socket, addr: host, server: net.UDPAddrFromAddrPort(s.addr), ended: make(chan struct{}),
	}
	s.clients = append(s.clients, c)
	go c.read()
	return c, nil
}

var errClosed = errors.New("billingtest: the service is closed")

// Close shuts the server down, which answers what it has within 10 s, and then
// closes clients and network. No goroutine of the service is left. The error says
// what did not end by itself.
func (s *Service) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	clients := s.clients
	s.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := s.Server.Shutdown(ctx)
	if served := <-s.served; !errors.Is(served, radpool.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	for _, c := range clients {
		_ = c.socket.Close() // ends its reader
		<-c.ended
	}
	return errors.Join(err, s.Network.Close())
}
