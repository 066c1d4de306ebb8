package udp

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// parseSockaddr reads a struct sockaddr_in or sockaddr_in6. It returns the zero AddrPort for anything else.
func parseSockaddr(b []byte, zones *zones) netip.AddrPort {
	if len(b) < 2 {
		return netip.AddrPort{}
	}
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET && len(b) >= unix.SizeofSockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:]))
	case family == unix.AF_INET6 && len(b) >= unix.SizeofSockaddrInet6:
		a := netip.AddrFrom16([16]byte(b[8:24])).Unmap()
		if scope := binary.NativeEndian.Uint32(b[24:]); scope != 0 && a.Is6() {
			a = a.WithZone(zones.name(scope))
		}
		return netip.AddrPortFrom(a, binary.BigEndian.Uint16(b[2:]))
	}
	return netip.AddrPort{}
}

// putSockaddr writes ap, unmapped, as an address of a socket of the family, and returns its length in b. The length is
// 0 where ap is no address of that family.
func putSockaddr(b []byte, family int, ap netip.AddrPort, zones *zones) int {
	a := ap.Addr()
	switch {
	case family == unix.AF_INET && a.Is4():
		clear(b[:unix.SizeofSockaddrInet4])
		a4 := a.As4()
		copy(b[4:], a4[:])
		binary.NativeEndian.PutUint16(b, unix.AF_INET)
		binary.BigEndian.PutUint16(b[2:], ap.Port())
		return unix.SizeofSockaddrInet4
	case family == unix.AF_INET6 && a.IsValid():
		clear(b[:unix.SizeofSockaddrInet6])
		a16 := a.As16()
		copy(b[8:], a16[:])
		binary.NativeEndian.PutUint16(b, unix.AF_INET6)
		binary.BigEndian.PutUint16(b[2:], ap.Port())
		if zone := a.Zone(); zone != "" {
			binary.NativeEndian.PutUint32(b[24:], zones.index(zone))
		}
		return unix.SizeofSockaddrInet6
	}
	return 0
}
