// Package hostname finds the addresses of hosts that a configuration or a table names.
package hostname

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// A Resolver looks names up, as [net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// ErrName is that a text cannot be the name of a host.
var ErrName = errors.New("is no name of a host")

// Lookup returns the addresses of a host, each once, in their order, without zones, and
// IPv4 ones as such. network is "ip" for all, "ip4" or "ip6". r nil: net.DefaultResolver.
// It takes as long as ctx allows. Without an address it is an error.
func Lookup(ctx context.Context, r Resolver, network, name string) ([]netip.Addr, error) {
	if !Valid(name) {
		return nil, ErrName
	}
	if r == nil {
		r = net.DefaultResolver
	}
	found, err := r.LookupNetIP(ctx, network, name)
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for _, a := range found {
		a = a.Unmap().WithZone("")
		if a.IsValid() && (network == "ip" || a.Is4() == (network == "ip4")) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no address of its kind", Name: name, IsNotFound: true}
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return slices.Compact(addrs), nil
}

// Valid reports whether name can be that of a host: letters, digits, "-" and "_" in up to
// 253 octets, with dots between parts of up to 63 (RFC 1123 section 2.1, and the underscore
// that is in use). What ends in a part of digits alone is none, but an address with a fault.
func Valid(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if len(name) > 253 {
		return false
	}
	part := ""
	for part = range strings.SplitSeq(name, ".") {
		if part == "" || len(part) > 63 || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
		for _, c := range []byte(part) {
			if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return strings.Trim(part, "0123456789") != ""
}
