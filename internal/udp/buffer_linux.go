package udp

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

func setReadBuffer(uc *net.UDPConn, octets int) (granted int, err error) {
	rc, err := uc.SyscallConn()
	if err != nil {
		return 0, err
	}
	var sockErr error
	err = rc.Control(func(fd uintptr) {
		// The privileged option first: it is not bound by net.core.rmem_max.
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, octets) != nil {
			sockErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, octets)
			if sockErr != nil {
				return
			}
		}
		granted, sockErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
		granted /= 2 // socket(7): the kernel doubles what it is asked, for its bookkeeping
	})
	if err != nil {
		return 0, err
	}
	return granted, os.NewSyscallError("setsockopt", sockErr)
}
