package udp

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// addrPortConn is what *net.UDPConn and its stand-ins have: sockets that allocate no address.
type addrPortConn interface {
	ReadFromUDPAddrPort([]byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort([]byte, netip.AddrPort) (int, error)
}

// portable is the Conn over any net.PacketConn: a batch read is one datagram, a batch written a loop.
type portable struct {
	pc    net.PacketConn
	sock  addrPortConn
	local netip.AddrPort
	bound netip.Addr // Message.Local of everything that is read
}

func newPortable(pc net.PacketConn, local netip.AddrPort) *portable {
	sock, ok := pc.(addrPortConn)
	if !ok {
		sock = &converter{pc: pc}
	}
	return &portable{pc: pc, sock: sock, local: local, bound: boundAddr(local)}
}

func (c *portable) LocalAddr() netip.AddrPort { return c.local }

func (c *portable) SetReadDeadline(t time.Time) error { return c.pc.SetReadDeadline(t) }

func (c *portable) Close() error { return c.pc.Close() }

func (c *portable) ReadBatch(ms []Message) (int, error) {
	if len(ms) == 0 {
		return 0, nil
	}
	m := &ms[0]
	for skipped := 0; ; skipped++ {
		n, from, err := c.sock.ReadFromUDPAddrPort(m.Buf)
		if err == nil {
			m.N, m.Addr, m.Local = n, unmap(from), c.bound
			return 1, nil
		}
		if skipped == maxTransient || !transient(err) {
			return 0, err
		}
	}
}

// readyWait is how long ReadReady waits for something that is there: sockets with a deadline that has passed do not
// even look.
const readyWait = time.Millisecond

func (c *portable) ReadReady(ms []Message) (int, error) {
	if err := c.pc.SetReadDeadline(time.Now().Add(readyWait)); err != nil {
		return 0, err
	}
	n, err := c.ReadBatch(ms)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

func (c *portable) Arrived() (int64, bool) { return 0, false }

func (c *portable) Drops() (uint64, bool) { return 0, false }

func (c *portable) WriteBatch(ms []Message) (sent int, first error) {
	for i := range ms {
		err := c.write(&ms[i])
		if err == nil {
			sent++
			continue
		}
		if first == nil {
			first = err
		}
		if final(err) {
			break
		}
	}
	return sent, first
}

func (c *portable) write(m *Message) error {
	p, to, err := m.outgoing()
	if err != nil {
		return err
	}
	n, err := c.sock.WriteToUDPAddrPort(p, to)
	if err != nil && stale(err) {
		n, err = c.sock.WriteToUDPAddrPort(p, to)
	}
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// maxConverted is the number of peers whose net.Addr is kept.
const maxConverted = 1024

// converter gives a net.PacketConn that knows net.Addr alone the methods of addrPortConn.
type converter struct {
	pc net.PacketConn

	mu    sync.Mutex
	addrs map[netip.AddrPort]*net.UDPAddr // so that a reply to a known peer allocates no address
}

func (c *converter) ReadFromUDPAddrPort(p []byte) (int, netip.AddrPort, error) {
	n, from, err := c.pc.ReadFrom(p)
	if err != nil {
		return 0, netip.AddrPort{}, err
	}
	addr, ok := addrPort(from)
	if !ok {
		return 0, netip.AddrPort{}, errForeign
	}
	return n, addr, nil
}

func (c *converter) WriteToUDPAddrPort(p []byte, to netip.AddrPort) (int, error) {
	return c.pc.WriteTo(p, c.netAddr(to))
}

func (c *converter) netAddr(ap netip.AddrPort) net.Addr {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.addrs[ap]; a != nil {
		return a
	}
	if c.addrs == nil || len(c.addrs) >= maxConverted {
		c.addrs = make(map[netip.AddrPort]*net.UDPAddr)
	}
	a := net.UDPAddrFromAddrPort(ap)
	c.addrs[ap] = a
	return a
}
