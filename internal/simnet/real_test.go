//go:build !windows

package simnet_test

import (
	"net"
	"net/netip"
	"testing"
)

// The reference is not for Winsock, which reports a truncated datagram as an error and has other error numbers.
func init() {
	hosts["real4"] = realHost("127.0.0.1", "[::1]:1812")
	hosts["real6"] = realHost("::1", "192.0.2.1:1812")
}

func realHost(addr, other string) func(*testing.T) host {
	return func(t *testing.T) host {
		h := host{other: netip.MustParseAddrPort(other), listen: func(t *testing.T, port uint16) (socket, error) {
			c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(addr), port)))
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = c.Close() })
			return c, nil
		}}
		if c, err := h.listen(t, 0); err != nil {
			t.Skipf("no socket at %s: %v", addr, err)
		} else {
			_ = c.Close()
		}
		return h
	}
}
