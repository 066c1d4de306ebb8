package coa

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"layeh.com/radius"

	"github.com/radpool/radpool/radclient"
)

// A Target is where and how a NAS is asked.
type Target struct {
	Addr    netip.AddrPort // where it listens: RFC 5176 has port 3799
	Secret  []byte         // shared with it; not changed
	Profile radclient.Profile
}

// String returns the address, and never the secret.
func (t Target) String() string { return t.Addr.String() }

// Format prints what String returns, whatever the verb.
func (t Target) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// A ClientConfig is what a Client is made of.
type ClientConfig struct {
	// Find returns the NAS of a session, and whether there is one that may be asked.
	// Required. It is called from many goroutines at once.
	Find func(s *Session) (Target, bool)

	// Retransmission and Listen are those of radclient.Config.
	Retransmission radclient.Retransmission
	Listen         func() (net.PacketConn, error)
}

// maxNASes is how many NASes a Client knows at most, and groupSize how many of them one
// radclient.Client asks: it knows its NASes from the start, and so another takes its place
// for each NAS that becomes known.
const (
	maxNASes  = 65536
	groupSize = 128
)

// A Client is a NAS that asks over the network, with package radclient. NASes become
// known as they are asked, 65,536 of them at most. Make one with NewClient.
type Client struct {
	config  ClientConfig
	closing sync.WaitGroup // of generations that were replaced

	mu     sync.Mutex
	groups []*generation          // guarded by mu; all but the last have groupSize NASes
	at     map[netip.AddrPort]int // guarded by mu: in which group a NAS is
	closed bool                   // guarded by mu
}

// A generation is a radclient.Client with the NASes that were known of a group when it was
// made, and what uses it.
type generation struct {
	client  *radclient.Client
	servers map[netip.AddrPort][]byte // and their secrets
	users   sync.WaitGroup
}

// NewClient makes a Client.
func NewClient(config ClientConfig) (*Client, error) {
	if config.Find == nil {
		return nil, errors.New("coa: ClientConfig.Find is required")
	}
	return &Client{config: config, at: make(map[netip.AddrPort]int)}, nil
}

func (c *Client) generation(servers map[netip.AddrPort][]byte) (*generation, error) {
	config := radclient.Config{Retransmission: c.config.Retransmission, Listen: c.config.Listen}
	for addr, secret := range servers {
		config.Others = append(config.Others, radclient.Server{Addr: addr, Secret: secret, NoStatusServer: true})
	}
	client, err := radclient.New(config)
	return &generation{client: client, servers: servers}, err
}

// Close ends what is under way, waits for requests to NASes under a secret that was
// changed meanwhile, and returns when no goroutine of the Client is left. Always nil, also
// a second time.
func (c *Client) Close() error {
	c.mu.Lock()
	groups := c.groups
	c.closed = true
	c.mu.Unlock()
	for _, g := range groups {
		_ = g.client.Close() // always nil
		g.users.Wait()
	}
	c.closing.Wait()
	return nil
}

// use returns the generation that knows this NAS, for the caller to give back by
// users.Done.
func (c *Client) use(t *Target) (*generation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, radclient.ErrClosed
	}
	at, known := c.at[t.Addr]
	if !known {
		at = len(c.at) / groupSize
	}
	if !known || !bytes.Equal(c.groups[at].servers[t.Addr], t.Secret) {
		if err := c.learnLocked(at, t); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
	}
	g := c.groups[at]
	g.users.Add(1)
	return g, nil
}

// learnLocked makes the next generation of a group, which knows this NAS by its secret.
func (c *Client) learnLocked(at int, t *Target) error {
	if at == maxNASes/groupSize {
		return fmt.Errorf("%d NASes are known, and no more can be", maxNASes)
	}
	var old *generation
	servers := make(map[netip.AddrPort][]byte)
	if at < len(c.groups) {
		old = c.groups[at]
		maps.Copy(servers, old.servers)
	}
	servers[t.Addr] = bytes.Clone(t.Secret)
	next, err := c.generation(servers)
	if err != nil {
		return err
	}
	c.at[t.Addr] = at
	if old == nil {
		c.groups = append(c.groups, next)
		return nil
	}
	c.groups[at] = next
	c.closing.Go(func() { // when the last request has ended
		old.users.Wait()
		_ = old.client.Close() // always nil
	})
	return nil
}

// Change sends a CoA-Request.
func (c *Client) Change(ctx context.Context, s *Session, to radius.Attributes) error {
	return c.with(s, func(rc *radclient.Client, t *Target, id radclient.Session) error {
		return rc.ChangeAuthorization(ctx, t.Addr, t.Profile, id, Changeable(to))
	})
}

// Disconnect sends a Disconnect-Request.
func (c *Client) Disconnect(ctx context.Context, s *Session) error {
	return c.with(s, func(rc *radclient.Client, t *Target, id radclient.Session) error {
		return rc.Disconnect(ctx, t.Addr, t.Profile, id)
	})
}

func (c *Client) with(s *Session, ask func(*radclient.Client, *Target, radclient.Session) error) error {
	t, ok := c.config.Find(s)
	if !ok {
		return fmt.Errorf("%w: %v is no client", ErrUnreachable, s.NASAddr)
	}
	g, err := c.use(&t)
	if err != nil {
		return err
	}
	defer g.users.Done()
	id := radclient.Session{
		SessionID: s.SessionID, UserName: s.UserName, CallingStationID: s.CallingStationID, NASPortID: portID(s.NASPort), NASAddr: s.NASAddr,
	}
	if s.FramedAddr.Unmap().Is4() {
		id.FramedAddr = s.FramedAddr
	}
	if a := s.FramedIPv6Addr; a.Is6() && !a.Is4In6() {
		id.FramedIPv6Addr = a
	}
	err = ask(g.client, &t, id)
	if nak, ok := errors.AsType[*radclient.NAKError](err); ok {
		if nak.NotFound() {
			return fmt.Errorf("%w: %w", ErrNotFound, err)
		}
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if errors.Is(err, radclient.ErrNoSession) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// portID is the NAS-Port-Id of a session. A number may be that of NAS-Port, of a NAS that sends
// no NAS-Port-Id: as one it would fit no session there, and the rest is enough to find it by.
func portID(port string) string {
	if _, err := strconv.ParseUint(port, 10, 32); err == nil {
		return ""
	}
	return port
}
