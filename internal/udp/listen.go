package udp

import "net"

// Listen returns n sockets bound to one address of network udp, udp4 or udp6, each with a receive buffer and a reader of its
// own. The kernel chooses among them by the addresses and ports of the two ends, so that what one client's socket sends is
// read by the same one in its order (SO_REUSEPORT, socket(7)). More than one there can be on Linux alone: elsewhere the
// error is [errors.ErrUnsupported]. n must be 1 or more.
//
// Sockets that share an address let other programs of the same user share it too.
func Listen(network, address string, n int) ([]net.PacketConn, error) {
	if n > 1 {
		return listenShared(network, address, n)
	}
	pc, err := net.ListenPacket(network, address)
	if err != nil {
		return nil, err
	}
	return []net.PacketConn{pc}, nil
}

// Sharing reports whether pc shares its address with other sockets, those of the same device: a number that is 0 where
// pc is bound to none.
func Sharing(pc net.PacketConn) (device int, shared bool) {
	if uc, ok := pc.(*net.UDPConn); ok {
		return sharing(uc)
	}
	return 0, false
}
