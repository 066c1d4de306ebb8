package udp

import (
	"context"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// listenShared makes n sockets of one address. The first is bound as one of its own, so that an address that somebody
// else uses is an error, also where that is the same program with the same user; then it lets the others in.
func listenShared(network, address string, n int) ([]net.PacketConn, error) {
	first, err := net.ListenPacket(network, address)
	if err != nil {
		return nil, err
	}
	conns := []net.PacketConn{first}
	rc, err := first.(*net.UDPConn).SyscallConn()
	if err == nil {
		err = reusePort("", "", rc)
	}
	others := net.ListenConfig{Control: reusePort}
	for err == nil && len(conns) < n {
		var pc net.PacketConn
		if pc, err = others.ListenPacket(context.Background(), network, first.LocalAddr().String()); err == nil {
			conns = append(conns, pc)
		}
	}
	if err != nil {
		for _, pc := range conns {
			_ = pc.Close() // nothing was done with it yet
		}
		return nil, err
	}
	return conns, nil
}

func reusePort(_, _ string, rc syscall.RawConn) error {
	var sockErr error
	if err := rc.Control(func(fd uintptr) {
		sockErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}); err != nil {
		return err
	}
	return os.NewSyscallError("setsockopt", sockErr)
}

func sharing(uc *net.UDPConn) (device int, shared bool) {
	rc, err := uc.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = rc.Control(func(fd uintptr) {
		port, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT)
		shared = err == nil && port != 0
		// A kernel that does not know the option (before 5.1) is one that cannot tell: then sockets bound
		// to devices look as if they were not.
		device, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX)
	})
	return device, err == nil && shared
}
