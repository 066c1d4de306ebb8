package radclient

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/internal/wire"
)

const (
	// readBatch is how many datagrams a socket reads at once.
	readBatch = 16

	// datagramRoom is one octet more than a packet may have.
	datagramRoom = wire.MaxPacketLength + 1

	// outboxRoom bounds what waits to be written to one socket, in octets: each Identifier's largest request.
	outboxRoom = identifiersPerSocket * wire.MaxPacketLength

	// receiveBuffer is asked for, in octets: for the replies to 256 requests of each of some servers.
	receiveBuffer = 1 << 20
)

// socket is one of the Client's, with a goroutine that reads and one that writes what has gathered meanwhile, at once.
type socket struct {
	client *Client
	number int
	conn   udp.Conn
	wake   chan struct{} // has room for one

	mu     sync.Mutex // guards out
	out    outbox
	closed bool
}

// outbox is datagrams one after the other.
type outbox struct {
	octets []byte
	list   []outgoing
}

type outgoing struct {
	length int
	to     netip.AddrPort
}

// openSocket adds a socket, and starts its goroutines.
func (c *Client) openSocket() error {
	pc, err := c.config.Listen()
	if err != nil {
		return err
	}
	conn, err := udp.New(pc)
	if err != nil {
		_ = pc.Close() // nothing was sent on it
		return err
	}
	_, _ = udp.GrowReadBuffer(pc, receiveBuffer) // a smaller one loses more in a burst, and that is sent again
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.Join(ErrClosed, conn.Close())
	}
	s := &socket{client: c, number: len(c.sockets), conn: conn, wake: make(chan struct{}, 1)}
	c.sockets = append(c.sockets, s)
	c.core.addSocket()
	c.ended.Go(s.read)
	c.ended.Go(s.write)
	return nil
}

// send has the datagram written soon. false: too much waits.
func (s *socket) send(b []byte, to netip.AddrPort) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.out.octets)+len(b) > outboxRoom {
		return false
	}
	s.out.octets = append(s.out.octets, b...)
	s.out.list = append(s.out.list, outgoing{len(b), to})
	if len(s.out.list) == 1 {
		s.wake <- struct{}{} // it has room: what was in it was taken before the list was
	}
	return true
}

func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_ = s.conn.Close() // what waits to be sent, nobody waits for
	close(s.wake)
}

// write writes what gathers, until the socket is closed.
func (s *socket) write() {
	var taken outbox
	var messages [udp.MaxBatch]udp.Message
	for range s.wake {
		s.mu.Lock()
		taken, s.out = s.out, outbox{taken.octets[:0], taken.list[:0]}
		s.mu.Unlock()
		octets := taken.octets
		for list := taken.list; len(list) > 0; {
			n := min(len(list), len(messages))
			for i, o := range list[:n] {
				messages[i] = udp.Message{Buf: octets[:o.length:o.length], N: o.length, Addr: o.to}
				octets = octets[o.length:]
			}
			list = list[n:]
			if sent, err := s.conn.WriteBatch(messages[:n]); err != nil {
				s.client.countErrors(func(e *SocketErrors) { e.Write += uint64(n - sent) })
			}
		}
	}
}

// read reads until the socket is closed.
func (s *socket) read() {
	in := make([]udp.Message, readBatch)
	memory := make([]byte, readBatch*datagramRoom)
	for i := range in {
		in[i].Buf = memory[i*datagramRoom:][:datagramRoom:datagramRoom]
	}
	for backoff := time.Duration(0); ; {
		n, err := s.conn.ReadBatch(in)
		for i := range in[:n] {
			s.client.receive(s, in[i].Buf[:in[i].N], in[i].Addr)
		}
		switch {
		case err == nil:
			backoff = 0
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		s.client.countErrors(func(e *SocketErrors) { e.Read++ })
		backoff = min(max(2*backoff, time.Millisecond), time.Second)
		select {
		case <-time.After(backoff):
		case <-s.client.stop:
		}
	}
}

// receive takes a datagram. It changes nothing but a counter, unless it is verified as the reply to a request that waits.
func (c *Client) receive(s *socket, b []byte, from netip.AddrPort) {
	shape, fault := wire.Parse(b, 0)
	server, ours := c.byAddr[from]

	c.mu.Lock()
	defer c.unlock()
	if !ours {
		c.discarded[unexpected]++
		return
	}
	if fault != wire.WellFormed {
		c.discarded[malformed]++
		return
	}
	f := c.core.find(server, newIdent(s.number, shape.Identifier))
	if f == nil || !f.encoded {
		c.discarded[unexpected]++
		return
	}
	generation, code, authenticator := f.generation, f.request.Code, wire.Authenticator(f.datagram)
	c.mu.Unlock() // digests are most of the work
	why := judge(b, &shape, code, authenticator, &c.remotes[server])
	c.mu.Lock()

	if c.core.find(server, newIdent(s.number, shape.Identifier)) != f || f.generation != generation {
		c.discarded[unexpected]++ // it was answered, given up or cancelled meanwhile
		return
	}
	if why != believed {
		c.discarded[why]++
		f.discarded[why]++
		return
	}
	if r := f.reply; r != nil && !f.probe {
		r.datagram = append(r.datagram[:0], b[:shape.Length]...)
		r.decode(&shape)
		r.packet.Authenticator, r.packet.Secret = authenticator, c.remotes[server].secret.Bytes()
		r.Server, r.Copies, r.Elapsed = from, f.plan.sent, c.now()-f.plan.began
	}
	c.core.answered(c.now(), f)
}

func (c *Client) countErrors(add func(*SocketErrors)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add(&c.errors)
}
