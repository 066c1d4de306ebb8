package udp

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// drops counts what the kernel has dropped of a socket's datagrams, from the counter that it shows on request
// (SO_MEMINFO). Control messages with that counter (SO_RXQ_OVFL) would cost time with each datagram, and tell of what was
// dropped only with the next one that is not.
type drops struct {
	mu    sync.Mutex
	known bool
	last  uint32 // the kernel's counter, which wraps
	total uint64
	read  func(fd uintptr) (count uint32, ok bool)
}

// begin learns what the counter is now.
func (d *drops) begin(fd uintptr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read = readDrops
	d.last, d.known = d.read(fd)
}

// look adds what has come since the last look. To be called at least once in 2^32 drops.
func (d *drops) look(fd uintptr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.known {
		return
	}
	if count, ok := d.read(fd); ok {
		d.total += uint64(count - d.last)
		d.last = count
	}
}

func (d *drops) sum() (n uint64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total, d.known
}

// The numbers that SO_MEMINFO gives: sk_meminfo in linux/sock_diag.h.
const (
	meminfoDrops = 8
	meminfoVars  = 9
)

func readDrops(fd uintptr) (count uint32, ok bool) {
	var info [meminfoVars]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	return info[meminfoDrops], errno == 0 && uintptr(size) == unsafe.Sizeof(info)
}
