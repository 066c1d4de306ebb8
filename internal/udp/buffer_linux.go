package udp

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

func setReadBuffer(uc *net.UDPConn, octets int, grow bool) (granted int, err error) {
	rc, err := uc.SyscallConn()
	if err != nil {
		return 0, err
	}
	var sockErr error
	err = rc.Control(func(fd uintptr) {
		granted, sockErr = readBuffer(fd)
		if sockErr != nil || grow && granted >= octets {
			return
		}
		// The privileged option first: it is not bound by net.core.rmem_max.
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, octets) != nil {
			if grow && granted >= ordinary(octets) {
				return
			}
			sockErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, octets)
		}
		if sockErr == nil {
			granted, sockErr = readBuffer(fd)
		}
	})
	if err != nil {
		return 0, err
	}
	return granted, os.NewSyscallError("setsockopt", sockErr)
}

// ordinary is what a process without privileges is granted that asks for so many octets, or 0. To ask on the socket
// itself could take away what somebody with privileges has given it.
func ordinary(octets int) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(fd) }() // nothing was sent by it
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, octets) != nil {
		return 0
	}
	granted, _ := readBuffer(uintptr(fd))
	return granted
}

func readBuffer(fd uintptr) (octets int, err error) {
	octets, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	return octets / 2, err // socket(7): the kernel doubles what it is asked, for its bookkeeping
}
