package udp

import (
	"net"
	"net/netip"
	"syscall"
)

// A Syscall stands in for recvmmsg or sendmmsg: count is the number of messages offered, and call carries out
// the true one for the first of them.
type Syscall func(count int, call func(first int) (int, syscall.Errno)) (int, syscall.Errno)

func (s Syscall) over(f mmsgFunc) mmsgFunc {
	return func(fd uintptr, hdrs []mmsghdr) (int, syscall.Errno) {
		return s(len(hdrs), func(first int) (int, syscall.Errno) { return f(fd, hdrs[:first]) })
	}
}

// IsBatch reports whether c uses recvmmsg and sendmmsg.
func IsBatch(c Conn) bool {
	_, ok := c.(*batchConn)
	return ok
}

// SetRecv and SetSend put s in front of the system calls of c.
func SetRecv(c Conn, s Syscall) { b := c.(*batchConn); b.recv = s.over(recvmmsg) }
func SetSend(c Conn, s Syscall) { b := c.(*batchConn); b.send = s.over(sendmmsg) }

// SetSegments lets c send messages in groups, or not.
func SetSegments(c Conn, on bool) { c.(*batchConn).whole.Store(!on) }

// Segments reports whether c sends messages in groups.
func Segments(c Conn) bool { return !c.(*batchConn).whole.Load() }

// SetFaults has the system refuse groups with the one error, and messages by themselves with the other. 0: it does not.
func SetFaults(c Conn, groups, singles syscall.Errno) {
	fault := func(m *mmsghdr) syscall.Errno {
		if m.hdr.Iovlen > 1 {
			return groups
		}
		return singles
	}
	c.(*batchConn).send = func(fd uintptr, hdrs []mmsghdr) (int, syscall.Errno) {
		n := 0
		for n < len(hdrs) && fault(&hdrs[n]) == 0 {
			n++
		}
		if n == 0 {
			return 0, fault(&hdrs[0])
		}
		return sendmmsg(fd, hdrs[:n])
	}
}

// SetDrops has read stand in for the kernel's counter of c, now at start.
func SetDrops(c Conn, start uint32, read func() (uint32, bool)) {
	d := &c.(*batchConn).drops
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known, d.last, d.total = true, start, 0
	d.read = func(uintptr) (uint32, bool) { return read() }
}

var (
	ParseLocal = parseLocal
	Ordinary   = ordinary
)

func PutLocal(family int, local netip.Addr) []byte {
	b := make([]byte, controlSize)
	return b[:putLocal(b, family, local)]
}

// Zones is the translation of zones over a list of interfaces.
type Zones struct{ z zones }

func NewZones(list func() ([]net.Interface, error)) *Zones { return &Zones{zones{list: list}} }

func (z *Zones) Name(index uint32) string      { return z.z.name(index) }
func (z *Zones) Index(name string) uint32      { return z.z.index(name) }
func (z *Zones) Parse(b []byte) netip.AddrPort { return parseSockaddr(b, &z.z) }
func (z *Zones) Put(family int, ap netip.AddrPort) []byte {
	b := make([]byte, 28)
	return b[:putSockaddr(b, family, ap, &z.z)]
}
