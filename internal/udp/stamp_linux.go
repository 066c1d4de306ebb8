package udp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamp is the time at which the last datagram that was read had arrived (SIOCGSTAMPNS, socket(7)). To be asked for it
// now and then costs less than to be told of each datagram (SO_TIMESTAMPNS): that is about 0.1 us for each.
type stamp struct {
	at    [2]int64 // struct timespec: seconds, nanoseconds
	errno syscall.Errno
	fn    func(fd uintptr) // read, as a value made once: a method value allocates
}

// stampRequest gives a struct timespec of two words of 64 bits: on systems of 32 bits that is the newer of two requests
// (Linux 5.1).
var stampRequest = [...]uintptr{4: unix.SIOCGSTAMPNS_NEW, 8: unix.SIOCGSTAMPNS_OLD}[unix.SizeofPtr]

// read asks the kernel, which takes the times of what arrives from the first time on, of all that arrives on
// this host: a few nanoseconds each. What came before has the time at which it is asked for. So has, for a moment, what
// comes after: the kernel begins when it has time to.
func (s *stamp) read(fd uintptr) {
	_, _, s.errno = unix.RawSyscall(unix.SYS_IOCTL, fd, stampRequest, uintptr(unsafe.Pointer(&s.at)))
}

func (c *batchConn) Arrived() (wall int64, ok bool) {
	s := &c.reader.stamp
	if err := c.rc.Control(s.fn); err != nil || s.errno != 0 {
		return 0, false
	}
	return s.at[0]*1e9 + s.at[1], true
}
