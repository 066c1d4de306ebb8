//go:build !linux

package udp

import (
	"errors"
	"fmt"
	"net"
)

func listenShared(_, _ string, n int) ([]net.PacketConn, error) {
	return nil, fmt.Errorf("udp: %d sockets of one address: %w", n, errors.ErrUnsupported)
}

func sharing(*net.UDPConn) (device int, shared bool) { return 0, false }
