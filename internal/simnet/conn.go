package simnet

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// Conn is a socket of a [Network]. It implements [net.PacketConn], and the methods of [*net.UDPConn] that read
// and write with [netip.AddrPort]. All methods may be called from several goroutines at once.
type Conn struct {
	network  *Network
	local    netip.AddrPort
	localUDP *net.UDPAddr

	// All below is guarded by network.mu.
	wake   sync.Cond // a datagram arrived, the read deadline passed, or the socket was closed
	buffer buffer
	held   *datagram // waits at the door to be overtaken; it is in network.flight too
	newest uint64    // the highest seq delivered
	read   deadline
	write  deadline
	closed bool
}

var _ net.PacketConn = (*Conn)(nil)

// ReadFromUDPAddrPort waits for a datagram, copies as much of it as fits into p, and returns that length in
// octets and the sender's address. What does not fit is discarded without an error. The error is a
// [*net.OpError] around [net.ErrClosed] or [os.ErrDeadlineExceeded]. It does not allocate.
func (c *Conn) ReadFromUDPAddrPort(p []byte) (int, netip.AddrPort, error) {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	for {
		if c.closed {
			return 0, netip.AddrPort{}, c.opError("read", nil, net.ErrClosed)
		}
		if c.read.expired {
			return 0, netip.AddrPort{}, c.opError("read", nil, os.ErrDeadlineExceeded)
		}
		if d := c.buffer.pop(); d != nil {
			n, from := copy(p, d.payload), d.from
			c.network.recycle(d)
			return n, from, nil
		}
		c.wake.Wait()
	}
}

// ReadFrom is [Conn.ReadFromUDPAddrPort] with the sender's address as a [*net.UDPAddr], which it allocates.
func (c *Conn) ReadFrom(p []byte) (int, net.Addr, error) {
	n, from, err := c.ReadFromUDPAddrPort(p)
	if err != nil {
		return n, nil, err
	}
	return n, net.UDPAddrFromAddrPort(from), nil
}

// WriteToUDPAddrPort sends a copy of p to addr and returns its length in octets. It never waits. Whether the
// datagram arrives it does not tell. The error is a [*net.OpError] around [net.ErrClosed],
// [os.ErrDeadlineExceeded], EMSGSIZE (longer than [Config.MTU]), EAFNOSUPPORT (not of the socket's address
// family) or EINVAL (no address, or port 0).
func (c *Conn) WriteToUDPAddrPort(p []byte, addr netip.AddrPort) (int, error) {
	addr = unmap(addr)
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	if err := c.mayWrite(len(p), addr); err != nil {
		return 0, c.opError("write", net.UDPAddrFromAddrPort(addr), err)
	}
	c.network.send(c.local, addr, p)
	return len(p), nil
}

func (c *Conn) mayWrite(length int, addr netip.AddrPort) error {
	switch {
	case c.closed:
		return net.ErrClosed
	case c.write.expired:
		return os.ErrDeadlineExceeded
	case !addr.Addr().IsValid(), addr.Port() == 0:
		return syscall.EINVAL
	case addr.Addr().Is4() != c.local.Addr().Is4():
		return syscall.EAFNOSUPPORT
	case length > c.network.cfg.MTU:
		return syscall.EMSGSIZE
	}
	return nil
}

// WriteTo is [Conn.WriteToUDPAddrPort] for a [*net.UDPAddr], or another address with the method
// AddrPort() netip.AddrPort; one of another kind fails with EINVAL.
func (c *Conn) WriteTo(p []byte, addr net.Addr) (int, error) {
	if a, ok := addr.(interface{ AddrPort() netip.AddrPort }); ok {
		return c.WriteToUDPAddrPort(p, a.AddrPort())
	}
	return 0, c.opError("write", addr, syscall.EINVAL)
}

// LocalAddr returns the socket's address, a [*net.UDPAddr] that the caller must not change.
func (c *Conn) LocalAddr() net.Addr { return c.localUDP }

// LocalAddrPort returns the socket's address.
func (c *Conn) LocalAddrPort() netip.AddrPort { return c.local }

// Close frees the address, discards what was not read, and ends blocked reads with [net.ErrClosed], which is also
// what a second Close returns.
func (c *Conn) Close() error {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	if c.closed {
		return c.opError("close", nil, net.ErrClosed)
	}
	c.closeLocked()
	return nil
}

func (c *Conn) closeLocked() {
	c.closed = true
	delete(c.network.conns, c.local)
	c.buffer, c.held = buffer{}, nil
	c.read.stop()
	c.write.stop()
	c.wake.Broadcast()
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error { return c.setDeadlines(t, &c.read, &c.write) }

// SetReadDeadline sets the time after which reads, blocked ones too, fail with [os.ErrDeadlineExceeded]. A
// time in the past ends them at once; the zero time means never. The error is [net.ErrClosed].
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(t, &c.read) }

// SetWriteDeadline sets the time after which writes fail with [os.ErrDeadlineExceeded], though they never
// wait; the zero time means never. The error is [net.ErrClosed].
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, &c.write) }

func (c *Conn) setDeadlines(t time.Time, ds ...*deadline) error {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	if c.closed {
		return c.opError("set", nil, net.ErrClosed)
	}
	for _, d := range ds {
		c.set(d, t)
	}
	return nil
}

// deadline is a flag that a timer raises. The timer's word counts, not the clock's: a wall clock that is set
// back must not leave a reader asleep after its timer has run.
type deadline struct {
	timer   *time.Timer
	set     uint64 // number of the latest setting, by which a timer knows that it is out of date
	expired bool
}

func (d *deadline) stop() {
	d.set++
	d.expired = false
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

func (c *Conn) set(d *deadline, t time.Time) {
	d.stop()
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		d.expired = true
		c.wake.Broadcast()
		return
	}
	set := d.set
	d.timer = time.AfterFunc(left, func() {
		c.network.mu.Lock()
		defer c.network.mu.Unlock()
		if d.set == set {
			d.expired = true
			c.wake.Broadcast()
		}
	})
}

func (c *Conn) opError(op string, addr net.Addr, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: c.localUDP, Addr: addr, Err: err}
}
