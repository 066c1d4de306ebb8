package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// MaxBatch is the number of datagrams that are read or written with one system call where the system can do
// that. A longer slice is fine: ReadBatch fills at most this many, WriteBatch takes several calls.
const MaxBatch = 64

// Message is one datagram: where ReadBatch puts it, or what WriteBatch sends. The memory is the caller's; the
// Conn uses it during the call alone.
type Message struct {
	// Buf is the memory of the payload. ReadBatch writes up to len(Buf) octets; the rest of a datagram that
	// is longer is lost (Windows loses the whole datagram), so let it hold the longest one expected and an octet more.
	Buf []byte

	// N is the length of the payload in octets: Buf[:N] was read or is sent.
	N int

	// Addr is the peer: the sender of what was read, the receiver of what is sent. An IPv4 address is always
	// plain IPv4 when read, whatever the socket's family, and may be plain or IPv4-mapped when sent.
	Addr netip.AddrPort

	// Local is the address of this host that the datagram was sent to, without a zone. It is the zero Addr
	// where the socket is bound to a wildcard address and the system does not tell. In a message to send it is
	// the source address, if it is valid and the socket is bound to a wildcard address on Linux, and ignored
	// otherwise: a reply made of the message that asked comes from where the asker expects it.
	Local netip.Addr
}

// Conn is a UDP socket read and written in batches. One goroutine may read while any number write; Close, Drops,
// LocalAddr and SetReadDeadline may be called from any goroutine at any time.
type Conn interface {
	// ReadBatch waits until there is a datagram, reads those that are there into ms, at most len(ms) and
	// [MaxBatch], and returns their number. It sets N, Addr and Local of those and keeps the rest as they were.
	// With an error, the number is 0: it is net.ErrClosed or os.ErrDeadlineExceeded, wrapped, or a
	// socket that no longer works. An empty ms is no datagram and no error. It does not allocate.
	ReadBatch(ms []Message) (n int, err error)

	// ReadReady is ReadBatch for what is there already: it does not heed the read deadline, and where nothing waits
	// the number is 0 and there is no error. On Linux it never waits; elsewhere it may take a millisecond to see that nothing is
	// there, and leaves that as the read deadline.
	ReadReady(ms []Message) (n int, err error)

	// Arrived returns when the last datagram that was read came to this host, to wait in the socket's buffer, in
	// nanoseconds of the wall clock since 1970. Those read before it came before it. ok is false where the system does not tell
	// (anything but Linux). It is a system call, and for the goroutine that reads.
	Arrived() (wall int64, ok bool)

	// WriteBatch sends each message, whatever became of the ones before it, and returns the number sent and
	// the error of the first that was not. It stops early only if the socket is closed or its write deadline
	// has passed. It waits while the send buffer is full. It does not allocate, except for an error.
	WriteBatch(ms []Message) (n int, err error)

	// Drops returns how many datagrams the system has thrown away since New, because the receive buffer was full or
	// a checksum was wrong: they were never read. ok is false where the system does not tell (anything but Linux since
	// 4.12). After Close it is what it was at the end.
	Drops() (n uint64, ok bool)

	// LocalAddr returns the address that the socket is bound to, IPv4-mapped ones as IPv4.
	LocalAddr() netip.AddrPort

	// SetReadDeadline sets the time after which ReadBatch, a blocked one too, fails with
	// os.ErrDeadlineExceeded. The zero time means never.
	SetReadDeadline(t time.Time) error

	// Close closes the socket and ends calls that wait, with net.ErrClosed.
	Close() error
}

// New returns a Conn that reads and writes pc, and owns it from then on: the caller does not use pc itself
// any more. The address of pc must be an IP address and port, and pc must not be connected to one peer. With
// an error pc is still the caller's.
func New(pc net.PacketConn) (Conn, error) {
	local, err := localAddr(pc)
	if err != nil {
		return nil, err
	}
	if uc, ok := pc.(*net.UDPConn); ok {
		c, err := newBatchConn(uc, local)
		if err == nil || !errors.Is(err, errors.ErrUnsupported) {
			return c, err
		}
	}
	return newPortable(pc, local), nil
}

func localAddr(pc net.PacketConn) (netip.AddrPort, error) {
	if uc, ok := pc.(*net.UDPConn); pc == nil || ok && uc == nil {
		return netip.AddrPort{}, errors.New("udp: New: the socket is nil")
	}
	if c, ok := pc.(interface{ RemoteAddr() net.Addr }); ok {
		if remote, connected := addrPort(c.RemoteAddr()); connected {
			return netip.AddrPort{}, fmt.Errorf("udp: New: the socket is connected to %v; it must be able to answer anyone", remote)
		}
	}
	local, ok := addrPort(pc.LocalAddr())
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("udp: New: the socket's address %v is not an IP address and port", pc.LocalAddr())
	}
	return local, nil
}

// addrPort converts a net.Addr, and reports whether it is an IP address and port.
func addrPort(a net.Addr) (netip.AddrPort, bool) {
	var ap netip.AddrPort
	switch a := a.(type) {
	case nil:
	case interface{ AddrPort() netip.AddrPort }:
		ap = a.AddrPort()
	default:
		ap, _ = netip.ParseAddrPort(a.String())
	}
	return unmap(ap), ap.Addr().IsValid()
}

func unmap(ap netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// boundAddr is what a socket bound to local can say about Message.Local without asking the system.
func boundAddr(local netip.AddrPort) netip.Addr {
	if local.Addr().IsUnspecified() {
		return netip.Addr{}
	}
	return local.Addr().WithZone("")
}

// outgoing returns the octets to send and their receiver, or an error that names the field that makes no sense.
func (m *Message) outgoing() ([]byte, netip.AddrPort, error) {
	if m.N < 0 || m.N > len(m.Buf) {
		return nil, m.Addr, fmt.Errorf("udp: Message.N is %d: must be from 0 to len(Buf), %d", m.N, len(m.Buf))
	}
	if !m.Addr.IsValid() {
		return nil, m.Addr, errors.New("udp: Message.Addr is not valid")
	}
	return m.Buf[:m.N], unmap(m.Addr), nil
}
