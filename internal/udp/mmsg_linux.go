package udp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is struct mmsghdr of recvmmsg(2). Go pads it as C does.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32 // octets read or sent
}

// mmsgFunc is recvmmsg or sendmmsg without waiting: the number of messages done, or why the first was not. They are
// raw system calls, of which the scheduler is not told, since none of them blocks: telling it costs more than the rest
// of a small batch.
type mmsgFunc func(fd uintptr, hdrs []mmsghdr) (int, syscall.Errno)

func recvmmsg(fd uintptr, hdrs []mmsghdr) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(unsafe.SliceData(hdrs))),
		uintptr(len(hdrs)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

func sendmmsg(fd uintptr, hdrs []mmsghdr) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(unsafe.SliceData(hdrs))),
		uintptr(len(hdrs)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// forbidden reports whether errno is how a kernel or a sandbox says that it does not offer a system call.
func forbidden(errno syscall.Errno) bool { return errno == unix.ENOSYS || errno == unix.EPERM }

// slots is the memory of one batch of system call arguments, wired together once: a message fills in lengths
// and its payload's place.
type slots struct {
	hdrs     [MaxBatch]mmsghdr
	iovs     [MaxBatch]unix.Iovec
	names    [MaxBatch][unix.SizeofSockaddrInet6]byte
	controls [MaxBatch][controlSize]byte
}

func (s *slots) wire() {
	for i := range s.hdrs {
		h := &s.hdrs[i].hdr
		h.Name = &s.names[i][0]
		h.Iov = &s.iovs[i]
		h.SetIovlen(1)
		h.Control = &s.controls[i][0]
	}
}

// set fills in slot i.
func (s *slots) set(i int, payload []byte, nameLen, controlLen int) {
	s.iovs[i].Base = unsafe.SliceData(payload)
	s.iovs[i].SetLen(len(payload))
	h := &s.hdrs[i].hdr
	h.Namelen = uint32(nameLen)
	h.SetControllen(controlLen)
	h.Flags = 0
}

// forget drops the pointers to the payloads of the first n slots, which are their owners' again.
func (s *slots) forget(n int) {
	for i := range s.iovs[:n] {
		s.iovs[i].Base = nil
	}
}
