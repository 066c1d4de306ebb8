package udp

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// controlSize holds two control messages: IPV6_PKTINFO, a header of 16 octets and 20 of data, and UDP_SEGMENT, with 2
// of data.
const controlSize = 64

// cmsgAlign rounds n up to where the next control message starts.
func cmsgAlign(n int) int { return (n + unix.SizeofPtr - 1) &^ (unix.SizeofPtr - 1) }

// A control message starts with its length (a size_t), level and type (ints), all in the host's byte order.
const (
	cmsgLevel = unix.SizeofCmsghdr - 8
	cmsgType  = unix.SizeofCmsghdr - 4
)

func cmsgLen(b []byte) uint64 {
	if unix.SizeofPtr == 8 {
		return binary.NativeEndian.Uint64(b)
	}
	return uint64(binary.NativeEndian.Uint32(b))
}

func putCmsg(b []byte, level, typ uint32, dataLen int) (data []byte) {
	length := unix.SizeofCmsghdr + dataLen
	if unix.SizeofPtr == 8 {
		binary.NativeEndian.PutUint64(b, uint64(length))
	} else {
		binary.NativeEndian.PutUint32(b, uint32(length))
	}
	binary.NativeEndian.PutUint32(b[cmsgLevel:], level)
	binary.NativeEndian.PutUint32(b[cmsgType:], typ)
	data = b[unix.SizeofCmsghdr:length]
	clear(data)
	return data
}

// parseLocal finds the address that a datagram was sent to in the control messages that came with it. It
// returns the zero Addr if there is none that a reply could come from.
func parseLocal(b []byte) netip.Addr {
	for len(b) >= unix.SizeofCmsghdr {
		length := cmsgLen(b)
		if length < unix.SizeofCmsghdr || length > uint64(len(b)) {
			break
		}
		data := b[unix.SizeofCmsghdr:length]
		level := binary.NativeEndian.Uint32(b[cmsgLevel:])
		typ := binary.NativeEndian.Uint32(b[cmsgType:])
		switch {
		case level == unix.IPPROTO_IP && typ == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
			// struct in_pktinfo: interface, the address to reply from (ipi_spec_dst), the address in
			// the header, which may be a broadcast.
			return usable(netip.AddrFrom4([4]byte(data[4:8])))
		case level == unix.IPPROTO_IPV6 && typ == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
			// struct in6_pktinfo: address, interface.
			return usable(netip.AddrFrom16([16]byte(data[:16])).Unmap())
		}
		b = b[min(cmsgAlign(int(length)), len(b)):]
	}
	return netip.Addr{}
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// usable returns a if a datagram may come from it, and the zero Addr otherwise.
func usable(a netip.Addr) netip.Addr {
	if a.IsMulticast() || a.IsUnspecified() || a == broadcast {
		return netip.Addr{}
	}
	return a
}

// putLocal writes the control message that sets the source address, and returns its length in b. Sockets of
// the family IPv6 take an IPv4 address in its mapped form. The interface is left to the routing table.
func putLocal(b []byte, family int, local netip.Addr) int {
	if family == unix.AF_INET6 {
		data := putCmsg(b, unix.IPPROTO_IPV6, unix.IPV6_PKTINFO, unix.SizeofInet6Pktinfo)
		a := local.As16()
		copy(data, a[:])
		return cmsgAlign(unix.SizeofCmsghdr + unix.SizeofInet6Pktinfo)
	}
	data := putCmsg(b, unix.IPPROTO_IP, unix.IP_PKTINFO, unix.SizeofInet4Pktinfo)
	a := local.As4()
	copy(data[4:], a[:])
	return cmsgAlign(unix.SizeofCmsghdr + unix.SizeofInet4Pktinfo)
}
