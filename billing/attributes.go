package billing

import (
	"encoding/binary"
	"net/netip"
	"strings"
)

// vendorMicrosoft is the vendor of RFC 2548.
const vendorMicrosoft = 311

// Sub-types of vendorMicrosoft.
const (
	msCHAPResponse         = 1
	msCHAPError            = 2
	msMPPEEncryptionPolicy = 7
	msMPPEEncryptionTypes  = 8
	msCHAPChallenge        = 11
	msCHAPMPPEKeys         = 12
	msMPPESendKey          = 16
	msMPPERecvKey          = 17
	msCHAP2Response        = 25
	msCHAP2Success         = 26
)

// uint32Of reads an attribute of type integer, time or enum.
func uint32Of(a []byte) (v uint32, ok bool) {
	if len(a) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(a), true
}

// addrOf reads an attribute of type ipaddr or ipv6addr, of the size given.
func addrOf(a []byte, size int) (netip.Addr, bool) {
	if len(a) != size {
		return netip.Addr{}, false
	}
	return netip.AddrFromSlice(a)
}

// prefixOf reads an attribute of type ipv6prefix (RFC 3162 section 2.3): a
// reserved octet, the length in bits, and as much of the prefix as was sent. A
// malformed one gives the zero Prefix.
func prefixOf(a []byte) netip.Prefix {
	if len(a) < 2 || len(a) > 18 || a[1] > 128 || int(a[1]) > 8*(len(a)-2) {
		return netip.Prefix{}
	}
	var octets [16]byte
	copy(octets[:], a[2:])
	return netip.PrefixFrom(netip.AddrFrom16(octets), int(a[1])).Masked()
}

// A joiner makes ordinary strings of octets that lie in the request's memory, all
// in one allocation.
type joiner struct {
	parts [12]struct {
		dst *string
		src []byte
	}
	n int
}

// add asks for *dst to become src.
func (j *joiner) add(dst *string, src []byte) {
	if len(src) == 0 {
		return
	}
	j.parts[j.n].dst, j.parts[j.n].src = dst, src
	j.n++
}

// join makes the strings.
func (j *joiner) join() {
	size := 0
	for _, p := range j.parts[:j.n] {
		size += len(p.src)
	}
	if size == 0 {
		return
	}
	var b strings.Builder
	b.Grow(size)
	for _, p := range j.parts[:j.n] {
		b.Write(p.src)
	}
	all := b.String()
	for _, p := range j.parts[:j.n] {
		*p.dst, all = all[:len(p.src)], all[len(p.src):]
	}
}
