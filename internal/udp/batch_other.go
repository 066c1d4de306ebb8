//go:build !linux

package udp

import (
	"errors"
	"net"
	"net/netip"
)

func newBatchConn(*net.UDPConn, netip.AddrPort) (Conn, error) { return nil, errors.ErrUnsupported }
