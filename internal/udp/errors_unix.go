//go:build !windows

package udp

import "syscall"

func transientErrno(e syscall.Errno) bool {
	switch e {
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH,
		syscall.ENETDOWN, syscall.ENOPROTOOPT, syscall.EPROTO, syscall.EACCES, syscall.EMSGSIZE, // left by ICMP
		syscall.ENOMEM, syscall.ENOBUFS: // no memory for this one
		return true
	}
	return false
}
