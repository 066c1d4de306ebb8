package udp

import (
	"errors"
	"fmt"
	"net"
)

// maxReadBuffer is the largest size that an option of type int can carry after the kernel has doubled it.
const maxReadBuffer = 1<<30 - 1

// SetReadBuffer asks for a receive buffer of so many octets for pc, before or after [New], and returns how many were
// granted, which may be fewer: Linux grants at most net.core.rmem_max to a process without
// CAP_NET_ADMIN. On systems that do not tell, that is the number asked for. octets must be from 1 to 1,073,741,823.
// Where pc has no such buffer the error is [errors.ErrUnsupported].
func SetReadBuffer(pc net.PacketConn, octets int) (granted int, err error) {
	return changeReadBuffer(pc, octets, false)
}

// GrowReadBuffer is SetReadBuffer, but leaves a buffer that is larger as it is, where the system tells.
func GrowReadBuffer(pc net.PacketConn, octets int) (granted int, err error) {
	return changeReadBuffer(pc, octets, true)
}

func changeReadBuffer(pc net.PacketConn, octets int, grow bool) (granted int, err error) {
	if octets < 1 || octets > maxReadBuffer {
		return 0, fmt.Errorf("udp: a read buffer of %d octets: must be from 1 to %d", octets, maxReadBuffer)
	}
	if uc, ok := pc.(*net.UDPConn); ok {
		return setReadBuffer(uc, octets, grow)
	}
	if c, ok := pc.(interface{ SetReadBuffer(octets int) error }); ok {
		return octets, c.SetReadBuffer(octets)
	}
	return 0, fmt.Errorf("udp: %T has no receive buffer to set: %w", pc, errors.ErrUnsupported)
}
