package udp

import "net"

// NewPortable makes the Conn that systems other than Linux have.
func NewPortable(pc net.PacketConn) (Conn, error) {
	local, err := localAddr(pc)
	if err != nil {
		return nil, err
	}
	return newPortable(pc, local), nil
}

const (
	MaxTransient = maxTransient
	MaxConverted = maxConverted
)
