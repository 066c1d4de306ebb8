package billingtest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/wire"
)

// Errors of a [Client].
var (
	// ErrNoReply is the Err of a Reply when the last try had no reply in time.
	ErrNoReply = errors.New("billingtest: no reply")

	// ErrIdentifiers is an error when 256 requests of one NAS wait for a reply:
	// there is no Identifier left for another.
	ErrIdentifiers = errors.New("billingtest: all 256 Identifiers are in use")
)

// identifiers is how many requests one socket can have unanswered.
const identifiers = 256

// A Client is the NAS's side of a [Service]: it sends requests, sends them again
// when there is no reply, and matches replies to requests by Identifier and
// authenticators, as RFC 2865 section 3 and RFC 5080 section 2.2.1 have it. Its
// methods may be called from several goroutines at once.
type Client struct {
	// Service is what the client belongs to.
	Service *Service

	socket net.PacketConn
	addr   netip.Addr
	server *net.UDPAddr
	ended  chan struct{} // closed when the reader has returned

	mu      sync.Mutex
	waiting [identifiers]*call
	next    byte // where the search for a free Identifier starts
	sent    uint64
	ignored uint64
}

// call is a request that waits for its reply.
type call struct {
	sent  *sent
	reply chan []byte // of capacity 1; what is in it has been verified
}

// Addr is the NAS's address: the one that requests come from, and NAS-IP-Address
// where the Request has none of its own.
func (c *Client) Addr() netip.Addr { return c.addr }

// Do sends req and waits for the reply. It sends the same octets again after each
// ServiceConfig.Timeout; after the last of ServiceConfig.Tries, or where the server
// cannot be expected to answer, the Reply has ErrNoReply. The Identifier is the
// client's choice, and each call is a new request even if req is the same.
//
// The errors are those of the package function [Do], [ErrIdentifiers], ctx's, and
// that the service is closed.
func (c *Client) Do(ctx context.Context, req Request) (*Reply, error) {
	id, k, err := c.begin(req)
	if err != nil {
		return nil, err
	}
	defer c.end(id)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for tries := 0; ; {
		select {
		case b := <-k.reply:
			reply, err := readReply(b, k.sent)
			if reply != nil {
				reply.Tries = tries
			}
			return reply, err
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ended:
			return nil, errClosed
		case <-timer.C:
		}
		if tries == c.Service.config.Tries {
			return &Reply{Request: k.sent.packet, Err: ErrNoReply, Tries: tries}, nil
		}
		tries++
		if _, err := c.socket.WriteTo(k.sent.datagram, c.server); err != nil {
			return nil, err
		}
		timer.Reset(c.Service.config.Timeout)
	}
}

// Run is Do for tests and benchmarks: an error is fatal.
func (c *Client) Run(t testing.TB, req Request) *Reply {
	t.Helper()
	reply, err := c.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// Ignored is how many datagrams came that were no reply to a request of this
// client that waits: duplicates, late ones, and those whose authenticators are
// wrong.
func (c *Client) Ignored() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ignored
}

// begin makes the datagram and takes an Identifier for it.
func (c *Client) begin(req Request) (id byte, k *call, err error) {
	if req.secret == "" {
		req.secret = c.Service.config.Secret
	}
	if !req.nas.IsValid() {
		req.nas = c.addr
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := c.freeIdentifier()
	if !ok {
		return 0, nil, ErrIdentifiers
	}
	c.sent++
	// A new request wants a new Request Authenticator. The step keeps requests of
	// neighbouring Seeds apart.
	req.seed += c.sent * 0x9e3779b97f4a7c15
	s, err := req.Identifier(id).encode()
	if err != nil {
		return 0, nil, err
	}
	k = &call{sent: s, reply: make(chan []byte, 1)}
	c.waiting[id] = k
	c.next = id + 1
	return id, k, nil
}

func (c *Client) freeIdentifier() (byte, bool) {
	for i := range identifiers {
		if id := c.next + byte(i); c.waiting[id] == nil {
			return id, true
		}
	}
	return 0, false
}

func (c *Client) end(id byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[id] = nil
}

// read hands replies to those who wait, until the socket is closed.
func (c *Client) read() {
	defer close(c.ended)
	buf := make([]byte, wire.MaxPacketLength)
	for {
		n, from, err := c.socket.ReadFrom(buf)
		if err != nil {
			return // closed: nothing else ends a read without a deadline
		}
		if addr, ok := from.(*net.UDPAddr); !ok || addr.AddrPort() != c.Service.addr {
			n = 0 // not our server
		}
		c.take(buf[:n])
	}
}

// take judges one datagram.
func (c *Client) take(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b) >= wire.HeaderLength {
		if k := c.waiting[b[1]]; k != nil && authentic(b, k.sent) == nil {
			select {
			case k.reply <- append([]byte(nil), b...):
				return
			default: // it has one
			}
		}
	}
	c.ignored++
}
