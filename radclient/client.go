package radclient

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	mathrand "math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// Client sends requests and waits for their replies, any number at once up to Config.MaxInFlight. Make one with [New]. Its
// methods may be called from many goroutines at once.
type Client struct {
	config  Config
	remotes []remote
	byAddr  map[netip.AddrPort]int
	epoch   time.Time
	flights sync.Pool
	kick    chan struct{} // the timer is to be set anew
	stop    chan struct{}
	ended   sync.WaitGroup

	mu        sync.Mutex // guards what follows
	core      core
	sockets   []*socket
	closed    bool
	discarded [numDiscards]uint64
	errors    SocketErrors
}

// remote is what the core does not know of a server.
type remote struct {
	addr       netip.AddrPort
	secret     *wire.Secret
	protection Protection
}

// New makes a Client, which opens its first socket at once. Its goroutines end with [Client.Close]. The errors are a [*ConfigError]
// and what Config.Listen returns.
func New(config Config) (*Client, error) {
	cfg, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		config: cfg, epoch: time.Now(), byAddr: make(map[netip.AddrPort]int),
		kick: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	c.flights.New = func() any { return &flight{index: -1, done: make(chan struct{}, 1)} }
	c.core = newCore(&cfg, newRandom(), c)
	for _, list := range [][]Server{cfg.Servers, cfg.Others} {
		for _, s := range list {
			c.byAddr[unmap(s.Addr)] = len(c.remotes)
			c.remotes = append(c.remotes, remote{unmap(s.Addr), wire.NewSecret(s.Secret), s.Protection})
		}
	}
	if err := c.openSocket(); err != nil {
		return nil, err
	}
	c.ended.Go(c.runTimer)
	return c, nil
}

// newRandom is for the times at which things are done: what must not be guessed comes from crypto/rand.
func newRandom() *mathrand.Rand {
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails: crypto/rand
	return mathrand.New(mathrand.NewPCG(binary.NativeEndian.Uint64(seed[:]), binary.NativeEndian.Uint64(seed[8:])))
}

// Do sends a request to the first of Config.Servers that is alive, again and to others as Config.Retransmission and
// Config.Failover say, and returns the verified reply.
//
// Of p, Code and Attributes count, and Secret and Authenticator where it has a User-Password or a CHAP-Password. p must not be
// changed until Do returns; it is not changed by it. Identifier and Request Authenticator are the Client's
// choice, each time, and an Access-Request gets a Message-Authenticator as its first attribute.
//
// The error is a [*TimeoutError], ctx's (wrapped), or [ErrTooManyRequests], [ErrClosed], [ErrCode], [ErrUnknownServer], or says why p
// cannot be sent. A reject is a reply, not an error.
func (c *Client) Do(ctx context.Context, p *radius.Packet) (*Reply, error) {
	r := new(Reply)
	if err := c.Exchange(ctx, p, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Exchange is Do for a Reply that is used again: its memory is that of the new one, and little is allocated. With an error
// the Reply is of no use, but for the next call.
func (c *Client) Exchange(ctx context.Context, p *radius.Packet, r *Reply) error {
	if len(c.config.Servers) == 0 {
		return fmt.Errorf("%w: Config.Servers is empty", ErrUnknownServer)
	}
	return c.exchange(ctx, -1, p, r)
}

// ExchangeWith is Exchange with the server at this address, one of Config.Servers or of Config.Others, whatever is thought
// of it, and with no other.
func (c *Client) ExchangeWith(ctx context.Context, server netip.AddrPort, p *radius.Packet, r *Reply) error {
	i, ok := c.byAddr[unmap(server)]
	if !ok {
		return fmt.Errorf("%w: %v", ErrUnknownServer, server)
	}
	return c.exchange(ctx, i, p, r)
}

func (c *Client) exchange(ctx context.Context, server int, p *radius.Packet, r *Reply) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("radclient: before the request was sent: %w", err)
	}
	if !wire.IsRequest(p.Code) {
		return fmt.Errorf("%w: %v (%d)", ErrCode, p.Code, int(p.Code))
	}
	f := c.flights.Get().(*flight)
	defer c.recycle(f)
	if err := f.prepare(p); err != nil {
		return err
	}
	f.reply = r
	f.server, f.pinned, f.probe = max(server, 0), server >= 0, false
	if err := c.begin(f); err != nil {
		return err
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		if c.cancel(f) {
			return fmt.Errorf("radclient: waiting for %v: %w", c.remotes[f.server].addr, ctx.Err())
		}
		<-f.done // it had ended
	}
	return f.err
}

// begin sends f for the first time, or has it wait for an Identifier.
func (c *Client) begin(f *flight) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	if !c.core.begin(c.now(), f) {
		c.mu.Unlock()
		return ErrTooManyRequests
	}
	if !f.holds {
		c.unlock() // the timer's goroutine takes it on
		return nil
	}
	secret := c.remotes[f.server].secret
	c.mu.Unlock()

	err := f.seal(secret) // outside of the lock: it is most of the work. Nobody else touches f yet.

	c.mu.Lock()
	defer c.unlock()
	switch {
	case c.closed:
		c.core.cancel(c.now(), f)
		return ErrClosed
	case err != nil:
		c.core.cancel(c.now(), f)
		return err
	}
	f.encoded = true
	c.core.started(c.now(), f)
	return nil
}

// cancel ends f, and reports whether it had not ended before.
func (c *Client) cancel(f *flight) bool {
	c.mu.Lock()
	defer c.unlock()
	if f.ended {
		return false
	}
	c.core.cancel(c.now(), f)
	return true
}

// recycle makes f the next request's. Nothing of the Client refers to it any more.
func (c *Client) recycle(f *flight) {
	c.mu.Lock()
	f.generation++
	f.encoded, f.ended = false, false
	c.mu.Unlock()
	clear(f.password)
	clear(f.attributes)
	f.request, f.reply, f.err = radius.Packet{}, nil, nil
	f.discarded = [numDiscards]uint64{}
	c.flights.Put(f)
}

func (c *Client) now() time.Duration { return time.Since(c.epoch) }

// unlock releases the lock, and has done what the core wants to be done about time and sockets.
func (c *Client) unlock() {
	kick := c.core.kick
	c.core.kick = false
	c.mu.Unlock()
	if kick {
		select {
		case c.kick <- struct{}{}:
		default: // it has been told
		}
	}
}

// runTimer does what is due, until the Client is closed.
func (c *Client) runTimer() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, crowded := c.advance()
		if crowded {
			c.grow()
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-c.kick:
		case <-c.stop:
			return
		}
	}
}

// advance does what is due, and returns how long there is nothing more, and whether another socket is wanted.
func (c *Client) advance() (wait time.Duration, crowded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return time.Hour, false
	}
	c.core.kick = false
	now := c.now()
	c.core.advance(now)
	c.core.armed = c.core.next()
	c.core.kick = false
	return min(max(c.core.armed-now, 0), time.Hour), c.core.crowded
}

// grow opens another socket. When the system has none to give, the requests wait for the Identifiers that there are.
func (c *Client) grow() {
	if err := c.openSocket(); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.core.noSocket(c.now())
		c.errors.Open++
	}
}

// Close ends all requests with [ErrClosed], closes the sockets and returns when no goroutine of the Client is left. Always
// nil, also a second time.
func (c *Client) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stop)
		c.core.endAll(c.now(), ErrClosed)
		for _, s := range c.sockets {
			s.close()
		}
	}
	c.mu.Unlock()
	c.ended.Wait()
	return nil
}
