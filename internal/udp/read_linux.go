package udp

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reader is the state of the one ReadBatch at a time.
type reader struct {
	slots
	conn  *batchConn
	want  int // slots to fill
	got   int // slots filled
	errno syscall.Errno
	fn    func(fd uintptr) bool // step, as a value made once: a method value allocates
	once  func(fd uintptr)      // step, whatever it says
	stamp stamp
}

func (r *reader) init(c *batchConn) {
	r.wire()
	r.conn = c
	r.fn = r.step
	r.once = func(fd uintptr) { r.step(fd) }
	r.stamp.fn = r.stamp.read
}

// step is the callback of RawConn.Read: false means that there is nothing to read yet.
func (r *reader) step(fd uintptr) bool {
	for {
		r.got, r.errno = r.conn.recv(fd, r.hdrs[:r.want])
		switch r.errno {
		case 0:
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			return true
		}
	}
}

func (c *batchConn) ReadBatch(ms []Message) (int, error) { return c.read(ms, true) }

func (c *batchConn) ReadReady(ms []Message) (int, error) { return c.read(ms, false) }

func (c *batchConn) read(ms []Message, wait bool) (int, error) {
	ms = ms[:min(len(ms), MaxBatch)]
	if len(ms) == 0 {
		return 0, nil
	}
	c.readMu.Lock()
	defer c.readMu.Unlock()
	r := &c.reader
	defer r.forget(len(ms))
	for skipped := 0; ; skipped++ {
		c.prepare(ms)
		if err := c.attempt(wait); err != nil {
			return 0, err
		}
		if r.errno == 0 {
			break
		}
		if r.errno == unix.EAGAIN { // where it did not wait
			return 0, nil
		}
		if skipped == maxTransient || !transientErrno(r.errno) {
			return 0, c.opError("read", nil, os.NewSyscallError("recvmmsg", r.errno))
		}
	}
	for i := range ms[:r.got] {
		c.fill(&ms[i], i)
	}
	return r.got, nil
}

// attempt has the kernel fill the slots, once there is something or at once.
func (c *batchConn) attempt(wait bool) error {
	if wait {
		return c.rc.Read(c.reader.fn)
	}
	return c.rc.Control(c.reader.once) // heeds no deadline
}

// prepare lets the kernel write to ms. A call that failed may have changed lengths, so it is done for each.
func (c *batchConn) prepare(ms []Message) {
	controlLen := 0
	if !c.bound.IsValid() {
		controlLen = controlSize
	}
	r := &c.reader
	r.want = len(ms)
	for i := range ms {
		r.set(i, ms[i].Buf, unix.SizeofSockaddrInet6, controlLen)
	}
}

// fill takes over what the kernel wrote to slot i.
func (c *batchConn) fill(m *Message, i int) {
	r := &c.reader
	h := &r.hdrs[i].hdr
	m.N = int(r.hdrs[i].n)
	m.Addr = parseSockaddr(r.names[i][:min(h.Namelen, unix.SizeofSockaddrInet6)], &c.zones)
	m.Local = c.bound
	if !m.Local.IsValid() {
		m.Local = parseLocal(r.controls[i][:min(h.Controllen, controlSize)])
	}
}
