package radpool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/radpool/radpool/internal/hostname"
	"github.com/radpool/radpool/internal/radiusconf"
)

// A ConfHost is a client whose address is the name of a host.
type ConfHost struct {
	Client  Client // without its Prefix
	Name    string // of the host
	Field   string // ipaddr: either family; ipv4addr or ipv6addr: that one
	Netmask int    // netmask: how much of the address counts; -1: all of it
	Section string // as "client NAME"
	File    string // where it stands
	Line    int
}

// String returns section and name, and never the secret.
func (h ConfHost) String() string { return fmt.Sprintf("%s: %s %s", h.Section, h.Field, h.Name) }

// Format prints what String returns, whatever the verb.
func (h ConfHost) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, h.String()) }

// A Resolver finds the addresses of a host; [net.Resolver] is one. network is "ip", "ip4" or
// "ip6". LookupNetIP must return soon when ctx ends, and is called concurrently.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// ResolveTime is how long [Conf.Resolve] takes at most, for all hosts together, with a
// resolver that keeps to its context.
const ResolveTime = 10 * time.Second

// resolvers is how many hosts are looked up at once.
const resolvers = 16

// confTooMany is said of a client beyond MaxClients.
var confTooMany = fmt.Sprintf("is one too many: there may be %d clients", MaxClients)

// Resolve looks the names of Hosts up, up to 16 at once, and moves them to Clients, as
// FreeRADIUS does when it starts. For ipaddr the IPv4 addresses of the host are taken, and
// those of IPv6 where there are no others. Where FreeRADIUS takes one of several addresses,
// here each is a client, of the same name. r nil: net.DefaultResolver.
//
// A name that does not resolve, and an address that is another client's, is an error of type
// [*ConfError], up to [MaxConfErrors] joined; c is as it was then. Resolve is not for several
// goroutines at once. Addresses that change later are found by reading and resolving again.
func (c *Conf) Resolve(ctx context.Context, r Resolver) error {
	found, err := c.lookUp(ctx, r)
	if err != nil {
		return err
	}
	next := Conf{Clients: slices.Clip(c.Clients), places: make(map[netip.Prefix]radiusconf.Pos)}
	for _, client := range c.Clients {
		prefix := client.Prefix.Masked()
		next.places[prefix] = c.places[prefix]
	}
	var errs []error
	for i, h := range c.Hosts {
		if problem := next.addHost(h, found[i]); problem != "" && len(errs) < MaxConfErrors {
			errs = append(errs, h.error(problem, nil))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c.Clients, c.places, c.Hosts = next.Clients, next.places, nil
	return nil
}

// lookUp returns the addresses of each of the Hosts.
func (c *Conf) lookUp(ctx context.Context, r Resolver) ([][]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, ResolveTime)
	defer cancel()
	found := make([][]netip.Addr, len(c.Hosts))
	failed := make([]error, len(c.Hosts))
	var running sync.WaitGroup
	free := make(chan struct{}, resolvers)
	for i := range c.Hosts {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			found[i], failed[i] = c.Hosts[i].lookUp(ctx, r)
		})
	}
	running.Wait()
	var errs []error
	for _, err := range failed {
		if err != nil && len(errs) < MaxConfErrors {
			errs = append(errs, err)
		}
	}
	return found, errors.Join(errs...)
}

func (h *ConfHost) lookUp(ctx context.Context, r Resolver) ([]netip.Addr, error) {
	network := map[string]string{"ipv4addr": "ip4", "ipv6addr": "ip6"}[h.Field]
	if network == "" {
		network = "ip"
	}
	addrs, err := hostname.Lookup(ctx, r, network, h.Name)
	if err != nil {
		return nil, h.error(fmt.Sprintf("has %s %.64q, which does not resolve: %v", h.Field, h.Name, err), err)
	}
	// In their order those of IPv4 come first.
	for i, a := range addrs {
		if a.Is4() != addrs[0].Is4() {
			return addrs[:i], nil
		}
	}
	return addrs, nil
}

func (h *ConfHost) error(problem string, err error) *ConfError {
	return &ConfError{File: h.File, Line: h.Line, Field: h.Section, Problem: problem, Err: err}
}

// addHost makes the addresses of h clients of c, or says why it cannot.
func (c *Conf) addHost(h ConfHost, addrs []netip.Addr) (problem string) {
	for i, addr := range addrs {
		bits := h.Netmask
		if bits < 0 {
			bits = addr.BitLen()
		}
		prefix := netip.PrefixFrom(addr, bits).Masked()
		switch {
		case !prefix.IsValid():
			return fmt.Sprintf("has %s %.64q with netmask %d: must be 0 to %d", h.Field, h.Name, bits, addr.BitLen())
		case i > 0 && prefix == c.Clients[len(c.Clients)-1].Prefix:
			continue // the network of the address before
		case len(c.Clients) >= MaxClients:
			return confTooMany
		}
		if problem := c.taken(prefix); problem != "" {
			return problem
		}
		c.places[prefix] = radiusconf.Pos{File: h.File, Line: h.Line}
		client := h.Client
		client.Prefix = prefix
		c.Clients = append(c.Clients, client)
	}
	return ""
}

// taken says whose prefix it is already, if it is anybody's.
func (c *Conf) taken(prefix netip.Prefix) (problem string) {
	at, ok := c.places[prefix]
	switch {
	case !ok:
		return ""
	case at.File == "" && at.Line == 0: // it came from elsewhere
		return fmt.Sprintf("is %s, which is a client already", prefix)
	}
	return fmt.Sprintf("is %s, which is a client already: %s:%d", prefix, at.File, at.Line)
}
