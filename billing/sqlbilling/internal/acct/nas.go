package acct

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/radpool/radpool/internal/hostname"
)

// NASes takes the rows of a table of NASes in turn, and knows what an earlier one was about.
type NASes struct{ seen map[netip.Prefix]bool }

// Each calls use with each address or network that the name in a row stands for; wrong is
// what else there is to say against the row, or nil. leftOut is told of what cannot be used.
func (n *NASes) Each(ctx context.Context, name string, wrong error, use func(netip.Prefix), leftOut func(error)) {
	prefixes, err := nasPrefixes(ctx, strings.TrimSpace(name))
	if err == nil {
		err = wrong
	}
	if err != nil {
		leftOut(err)
		return
	}
	if n.seen == nil {
		n.seen = make(map[netip.Prefix]bool)
	}
	for _, p := range prefixes {
		if n.seen[p] {
			leftOut(fmt.Errorf("an earlier row is about %v as well", p))
			continue
		}
		n.seen[p] = true
		use(p)
	}
}

// nasPrefixes are the addresses that the name of a NAS in a table stands for: an address, a
// network in CIDR form, or the name of a host, of which they are all addresses.
func nasPrefixes(ctx context.Context, name string) ([]netip.Prefix, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return []netip.Prefix{wholeAddr(addr)}, nil
	}
	if strings.Contains(name, "/") {
		p, err := netip.ParsePrefix(name)
		if err != nil {
			return nil, fmt.Errorf("%.64q is no network", name)
		}
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		return []netip.Prefix{p.Masked()}, nil
	}
	if name == "" {
		return nil, errors.New("the nasname is empty")
	}
	addrs, err := hostname.Lookup(ctx, nil, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("%.64q: %w", name, err)
	}
	prefixes := make([]netip.Prefix, len(addrs))
	for i, addr := range addrs {
		prefixes[i] = wholeAddr(addr)
	}
	return prefixes, nil
}

func wholeAddr(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	return netip.PrefixFrom(addr, addr.BitLen())
}
