package benchmarks

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

var (
	serverAddr = netip.MustParseAddrPort("192.0.2.1:1812")
	sockets    = makeSockets(netip.MustParseAddr("192.0.2.10"))
)

// socket is one of the NAS, in both forms of its address.
type socket struct {
	addr    netip.AddrPort
	udpAddr *net.UDPAddr
}

func makeSockets(nas netip.Addr) (s [256]socket) {
	for i := range s {
		s[i] = newSocket(nas, uint16(40_000+i))
	}
	return s
}

func newSocket(addr netip.Addr, port uint16) socket {
	a := netip.AddrPortFrom(addr, port)
	return socket{a, net.UDPAddrFromAddrPort(a)}
}

// A datagram is on its way to the server.
type datagram struct {
	octets []byte
	from   *socket
}

// memConn is a socket whose other end is in the same process. It has the methods
// of *net.UDPConn that radpool reads with and those that layeh.com/radius does,
// and allocates in neither.
type memConn struct {
	in    chan datagram
	out   chan [2]byte // Code and Identifier of each reply
	sent  func(d []byte)
	wake  chan struct{} // a deadline has been set
	ended chan struct{}
	once  sync.Once
}

func newMemConn() *memConn {
	return &memConn{
		in:    make(chan datagram, 256),
		out:   make(chan [2]byte, 256),
		wake:  make(chan struct{}, 1),
		ended: make(chan struct{}),
	}
}

func (c *memConn) read(b []byte) (int, *socket, error) {
	select {
	case d := <-c.in:
		return copy(b, d.octets), d.from, nil
	case <-c.wake:
		return 0, &sockets[0], os.ErrDeadlineExceeded
	case <-c.ended:
		return 0, &sockets[0], net.ErrClosed
	}
}

func (c *memConn) write(b []byte) (int, error) {
	if c.sent != nil {
		c.sent(b)
	}
	c.out <- [2]byte(b)
	return len(b), nil
}

// ReadFromUDPAddrPort and WriteToUDPAddrPort are what radpool calls.
func (c *memConn) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	n, from, err := c.read(b)
	return n, from.addr, err
}

func (c *memConn) WriteToUDPAddrPort(b []byte, _ netip.AddrPort) (int, error) { return c.write(b) }

// ReadFrom and WriteTo are what layeh.com/radius calls.
func (c *memConn) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := c.read(b)
	return n, from.udpAddr, err
}

func (c *memConn) WriteTo(b []byte, _ net.Addr) (int, error) { return c.write(b) }

func (c *memConn) Close() error {
	c.once.Do(func() { close(c.ended) })
	return nil
}

func (c *memConn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(serverAddr) }

func (c *memConn) SetReadDeadline(time.Time) error {
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

func (c *memConn) SetDeadline(time.Time) error      { return nil }
func (c *memConn) SetWriteDeadline(time.Time) error { return nil }
