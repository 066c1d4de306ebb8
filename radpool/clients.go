package radpool

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// MaxClients is how many clients a [Clients] holds at most.
const MaxClients = 1 << 20

// Clients says who may send requests: the most specific prefix that contains
// an address is its client. It may be replaced as a whole at any time; requests
// in progress keep the client with which they began. A Clients is safe for
// concurrent use. The zero value has no client.
type Clients struct {
	table atomic.Pointer[clientTable]
	swap  sync.Mutex // held while a new table is built, so that no swap is lost
}

// clientTable is never changed once it is in use.
type clientTable struct {
	since    time.Time                   // when it was made
	hosts    map[netip.Addr]*clientEntry // prefixes of full length: one look-up for most
	networks []clientNetworks            // the rest, longest first
	all      []*clientEntry              // in the order in which they were given
}

type clientNetworks struct {
	bits    int
	is4     bool
	entries map[netip.Prefix]*clientEntry
}

// clientEntry is a client with what the server needs of it and has learned.
type clientEntry struct {
	Client
	secret *wire.Secret

	// signs says that this address has shown a Message-Authenticator that
	// verified. Only a verified packet may set it, and only for a single
	// address: behind a network there are many NASes, not all of them able.
	signs atomic.Bool

	shown *clientShown // never nil
}

// NewClients returns Clients that hold list, or an error that names the first
// client that is not valid and says why.
func NewClients(list ...Client) (*Clients, error) {
	c := new(Clients)
	if err := c.Replace(list); err != nil {
		return nil, err
	}
	return c, nil
}

// Replace makes list the clients from now on. What was learned of a client that
// has the same prefix and secret as before is kept. After an error the old
// clients stay.
func (c *Clients) Replace(list []Client) error {
	c.swap.Lock()
	defer c.swap.Unlock()
	if len(list) > MaxClients {
		return &ConfigError{"number of clients", len(list), fmt.Sprintf("at most %d", MaxClients)}
	}
	t := &clientTable{since: time.Now(), hosts: make(map[netip.Addr]*clientEntry)}
	for i, cl := range list {
		e, err := newClientEntry(cl)
		if err != nil {
			return fmt.Errorf("radpool: client %d (%s): %w", i, cl.Prefix, err)
		}
		if old := c.table.Load().find(e.Prefix); old != nil && bytes.Equal(old.Secret, e.Secret) {
			e.signs.Store(old.signs.Load())
			e.shown = old.shown
		}
		if t.find(e.Prefix) != nil {
			return fmt.Errorf("radpool: client %d (%s): the same prefix stands in the list twice", i, cl.Prefix)
		}
		t.add(e)
	}
	slices.SortFunc(t.networks, func(a, b clientNetworks) int { return b.bits - a.bits })
	c.table.Store(t)
	return nil
}

func newClientEntry(cl Client) (*clientEntry, error) {
	switch {
	case !cl.Prefix.IsValid():
		return nil, errors.New("Prefix is not valid")
	case len(cl.Secret) == 0:
		return nil, errors.New("Secret is empty")
	case cl.MessageAuthenticator > Yes:
		return nil, errors.New("MessageAuthenticator is none of auto, no, yes")
	case cl.LimitProxyState > Yes:
		return nil, errors.New("LimitProxyState is none of auto, no, yes")
	case cl.EventTimestamp > Yes:
		return nil, errors.New("EventTimestamp is none of auto, no, yes")
	}
	if err := checkPatience(cl.Patience); err != nil {
		return nil, err
	}
	cl.Prefix = unmapPrefix(cl.Prefix).Masked()
	cl.Secret = slices.Clone(cl.Secret)
	if cl.Name == "" {
		cl.Name = cl.Prefix.String()
		if cl.Prefix.IsSingleIP() {
			cl.Name = cl.Prefix.Addr().String()
		}
	}
	return &clientEntry{Client: cl, secret: wire.NewSecret(cl.Secret), shown: new(clientShown)}, nil
}

// unmapPrefix turns a prefix of IPv4-mapped IPv6 addresses into one of IPv4.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

func (t *clientTable) add(e *clientEntry) {
	t.all = append(t.all, e)
	if e.Prefix.IsSingleIP() {
		t.hosts[e.Prefix.Addr()] = e
		return
	}
	bits, is4 := e.Prefix.Bits(), e.Prefix.Addr().Is4()
	for _, n := range t.networks {
		if n.bits == bits && n.is4 == is4 {
			n.entries[e.Prefix] = e
			return
		}
	}
	t.networks = append(t.networks, clientNetworks{bits, is4, map[netip.Prefix]*clientEntry{e.Prefix: e}})
}

// find returns the entry of exactly this prefix, or nil.
func (t *clientTable) find(p netip.Prefix) *clientEntry {
	if t == nil {
		return nil
	}
	if p.IsSingleIP() {
		return t.hosts[p.Addr()]
	}
	for _, n := range t.networks {
		if n.bits == p.Bits() && n.is4 == p.Addr().Is4() {
			return n.entries[p]
		}
	}
	return nil
}

// lookup returns the client of addr, which is unmapped, or nil.
func (c *Clients) lookup(addr netip.Addr) *clientEntry {
	t := c.table.Load()
	if t == nil {
		return nil
	}
	addr = addr.WithZone("") // a zone says where a link is, not who is on it
	if e := t.hosts[addr]; e != nil {
		return e
	}
	for i := range t.networks {
		n := &t.networks[i]
		if n.is4 != addr.Is4() {
			continue
		}
		if p, err := addr.Prefix(n.bits); err == nil {
			if e := n.entries[p]; e != nil {
				return e
			}
		}
	}
	return nil
}

// Lookup returns the client that addr belongs to, and whether there is one. The
// Client's Secret is shared and must not be changed.
func (c *Clients) Lookup(addr netip.Addr) (Client, bool) {
	e := c.lookup(addr.Unmap())
	if e == nil {
		return Client{}, false
	}
	return e.Client, true
}

// A ClientState is what is known of a client, without its secret.
type ClientState struct {
	Name   string
	Prefix netip.Prefix

	// MessageAuthenticator and LimitProxyState are as configured.
	MessageAuthenticator, LimitProxyState Requirement

	// Signs says that a verified Message-Authenticator has been seen from this
	// single address, so that Auto requires one from now on.
	Signs bool

	// Patience is as configured, or as learned; zero while there is nothing learned.
	Patience time.Duration

	// In all, and the parts that are Access-Requests and Accounting-Requests.
	ClientCount
	Access, Accounting ClientCount
}

// States returns the state of each client, in the order in which they were
// given.
func (c *Clients) States() []ClientState {
	t := c.table.Load()
	if t == nil {
		return nil
	}
	out := make([]ClientState, len(t.all))
	for i, e := range t.all {
		out[i] = e.state()
	}
	return out
}

func (e *clientEntry) state() ClientState {
	s := ClientState{
		Name: e.Name, Prefix: e.Prefix,
		MessageAuthenticator: e.MessageAuthenticator, LimitProxyState: e.LimitProxyState, Signs: e.signs.Load(),
		Patience: e.Patience,
		Access:   e.shown.count(askedAccess), Accounting: e.shown.count(askedAccounting),
	}
	s.ClientCount = e.shown.count(askedOther)
	s.ClientCount.add(s.Access)
	s.ClientCount.add(s.Accounting)
	if s.Patience == 0 {
		s.Patience = time.Duration(e.shown.patience.learned.Load())
	}
	return s
}

// Forget drops what was learned of the client with this prefix, for a NAS that
// was replaced by an older one. It reports whether there is such a client.
func (c *Clients) Forget(p netip.Prefix) bool {
	e := c.table.Load().find(unmapPrefix(p).Masked())
	if e != nil {
		e.signs.Store(false)
		e.shown.patience.learned.Store(0)
	}
	return e != nil
}

// missing says which rule of the client the request breaks by what it does not
// carry, or "". The packet is an Access-Request.
func (e *clientEntry) missing(s *wire.Shape) string {
	if s.HasMessageAuthenticator() {
		return ""
	}
	switch {
	case s.HasEAP():
		return "EAP-Message without Message-Authenticator"
	case e.MessageAuthenticator == Yes:
		return "no Message-Authenticator, which this client must send"
	case e.MessageAuthenticator == Auto && e.signs.Load():
		return "no Message-Authenticator, which this client has sent before"
	case s.HasProxyState() && e.LimitProxyState != No:
		return "Proxy-State without Message-Authenticator"
	}
	return ""
}

// learn notes that a request with a Message-Authenticator has verified.
func (e *clientEntry) learn() {
	if e.Prefix.IsSingleIP() && !e.signs.Load() {
		e.signs.Store(true)
	}
}

// explain says why a packet of this client was not believed.
func (e *clientEntry) explain(s *wire.Shape) string {
	switch {
	case s.Code == radius.CodeAccessRequest && e.missing(s) != "":
		return e.missing(s)
	case s.RequiresMessageAuthenticator() && !s.HasMessageAuthenticator():
		return "no Message-Authenticator, which this packet must carry"
	case s.HasMessageAuthenticator():
		return "Message-Authenticator is wrong: is the secret the same on both sides?"
	}
	return "Request Authenticator is wrong: is the secret the same on both sides?"
}
