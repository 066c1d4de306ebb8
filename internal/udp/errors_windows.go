package udp

import (
	"syscall"

	"golang.org/x/sys/windows"
)

func transientErrno(e syscall.Errno) bool {
	switch e {
	case windows.WSAECONNRESET, // Winsock's name for an ICMP port unreachable
		windows.WSAECONNREFUSED, windows.WSAENETRESET, windows.WSAENETUNREACH, windows.WSAEHOSTUNREACH,
		windows.WSAEMSGSIZE, // longer than the buffer: truncated
		windows.WSAENOBUFS:
		return true
	}
	return false
}
