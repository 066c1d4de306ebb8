package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// batchConn is the Conn of Linux over a UDP socket: recvmmsg and sendmmsg, non-blocking, inside the callbacks
// of syscall.RawConn, which waits in the runtime's poller when a callback returns false.
type batchConn struct {
	uc     *net.UDPConn
	rc     syscall.RawConn
	local  netip.AddrPort
	bound  netip.Addr // Message.Local of everything that is read; not valid: control messages tell
	family int        // of the socket: AF_INET or AF_INET6
	zones  zones
	whole  atomic.Bool // messages are not sent in groups: the system cannot
	drops  drops

	recv, send mmsgFunc

	readMu  sync.Mutex // a second reader waits in place of corrupting the first one's batch
	reader  reader
	writers sync.Pool // of *writer
}

// newBatchConn returns an error that is errors.ErrUnsupported where the system does not offer the system calls.
func newBatchConn(uc *net.UDPConn, local netip.AddrPort) (Conn, error) {
	rc, err := uc.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &batchConn{uc: uc, rc: rc, local: local, bound: boundAddr(local), recv: recvmmsg, send: sendmmsg}
	c.zones.list = net.Interfaces
	var sockErr error
	if err := rc.Control(func(fd uintptr) { sockErr = c.configure(fd) }); err != nil {
		return nil, err
	}
	if sockErr != nil {
		return nil, sockErr
	}
	c.reader.init(c)
	c.writers.New = func() any { return newWriter(c) }
	return c, nil
}

// configure learns the family of the socket, asks for the addresses that its datagrams are sent to, and tries the
// system calls out with empty batches.
func (c *batchConn) configure(fd uintptr) error {
	family, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	c.family = family
	level, option := unix.IPPROTO_IP, unix.IP_PKTINFO
	switch family {
	case unix.AF_INET:
	case unix.AF_INET6:
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO
	default:
		return errors.ErrUnsupported
	}
	if _, errno := recvmmsg(fd, nil); forbidden(errno) {
		return errors.ErrUnsupported
	}
	if _, errno := sendmmsg(fd, nil); forbidden(errno) {
		return errors.ErrUnsupported
	}
	c.whole.Store(!segments(fd))
	c.drops.begin(fd)
	c.reader.stamp.read(fd) // so that the kernel begins to take the times
	if c.bound.IsValid() {
		return nil
	}
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(int(fd), level, option, 1))
}

func (c *batchConn) LocalAddr() netip.AddrPort { return c.local }

func (c *batchConn) SetReadDeadline(t time.Time) error { return c.uc.SetReadDeadline(t) }

func (c *batchConn) Drops() (uint64, bool) {
	_ = c.rc.Control(c.drops.look) // that it is closed leaves what was seen last
	return c.drops.sum()
}

func (c *batchConn) Close() error {
	c.Drops() // for the last time
	return c.uc.Close()
}

func (c *batchConn) opError(op string, addr net.Addr, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: c.uc.LocalAddr(), Addr: addr, Err: err}
}
