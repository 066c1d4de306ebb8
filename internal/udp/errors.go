package udp

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// maxTransient is the number of errors in a row that a read skips. Each stands for one datagram gone wrong; a
// socket with more than that and nothing to read does not work, and going on would be a busy loop.
const maxTransient = 128

// errForeign is a read's error for a datagram from something that has no IP address to answer to.
var errForeign = errors.New("udp: the sender has no IP address")

// transient reports whether a read that ended with err may simply be tried again: err tells of one datagram,
// not of the socket. (RFC 1122 section 4.1.3.3 has UDP pass ICMP errors to the application, which on a socket
// with many peers can do nothing with them.)
func transient(err error) bool {
	if errors.Is(err, errForeign) {
		return true
	}
	var errno syscall.Errno
	return errors.As(err, &errno) && transientErrno(errno)
}

// stale reports whether a write failed with an error that an earlier datagram to someone else had left on the
// socket. Reporting it cleared it, and the datagram at hand deserves its own attempt.
func stale(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// final reports whether no further attempt can do better.
func final(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded)
}
