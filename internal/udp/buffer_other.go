//go:build !linux

package udp

import "net"

func setReadBuffer(uc *net.UDPConn, octets int, _ bool) (int, error) {
	return octets, uc.SetReadBuffer(octets)
}
