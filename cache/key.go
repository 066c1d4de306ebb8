package cache

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
)

// Key says which slot of which client a request occupies: a client has one
// request at a time under one Key (RFC 2865 section 3, Identifier). The packet
// code is part of it, so that a Status-Server and an Access-Request from one
// socket do not collide.
type Key struct {
	// Listener tells the server's sockets apart: any number of the caller's.
	Listener uint32
	// Client is the source address and port of the packet. The caller
	// unmaps IPv4-mapped IPv6 addresses ([netip.Addr.Unmap]) first, for
	// 192.0.2.1 and ::ffff:192.0.2.1 are two clients here. A zone tells two
	// link-local clients apart. The zero AddrPort is a client like any other.
	Client netip.AddrPort
	// Code is the packet code.
	Code byte
	// Identifier is the packet's Identifier.
	Identifier byte
}

// Request is what Begin needs to know of a packet. The Request Authenticator
// and the length tell a retransmission from a new request under the same Key.
type Request struct {
	Key
	// Authenticator is the Request Authenticator.
	Authenticator [16]byte
	// Length is the packet's Length field, in octets.
	Length uint16
}

// scope tells address families and zones apart in a flat key. Values from
// scopeZone on are zones, numbered by the shard.
const (
	scopeNone uint32 = iota // the zero netip.Addr
	scopeIPv4
	scopeIPv6
	scopeZone
)

// flatKey is a Key without pointers. Comparing two of one shard compares all
// of what the Keys held.
type flatKey struct {
	addr       [16]byte
	listener   uint32
	scope      uint32
	port       uint16
	code       byte
	identifier byte
}

// flatten returns the key but for the number of its zone, and the zone.
func (k *Key) flatten() (f flatKey, zone string) {
	addr := k.Client.Addr()
	f = flatKey{
		addr:       addr.As16(),
		listener:   k.Listener,
		port:       k.Client.Port(),
		code:       k.Code,
		identifier: k.Identifier,
	}
	switch {
	case addr.Is4():
		f.scope = scopeIPv4
	case addr.Is6():
		f.scope, zone = scopeIPv6, addr.Zone()
	}
	return f, zone
}

// hash is keyed by the cache's own seed, so that nobody outside can choose
// addresses and Identifiers that meet in one bucket.
func (f *flatKey) hash(seed maphash.Seed, zone string) uint64 {
	var b [28]byte
	copy(b[:16], f.addr[:])
	binary.LittleEndian.PutUint32(b[16:], f.listener)
	binary.LittleEndian.PutUint32(b[20:], f.scope)
	binary.LittleEndian.PutUint16(b[24:], f.port)
	b[26], b[27] = f.code, f.identifier
	h := maphash.Bytes(seed, b[:])
	if zone != "" {
		h ^= maphash.String(seed, zone)
	}
	return h
}
