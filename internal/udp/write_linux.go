package udp

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// writer is the state of one WriteBatch. Writers are pooled: as many exist as goroutines write at once.
type writer struct {
	slots
	conn    *batchConn
	origin  [MaxBatch]int         // the index in ms of each slot's message
	count   int                   // slots to send
	next    int                   // first slot not yet done
	sent    int                   // slots sent
	retried bool                  // slot next has met an error that an earlier datagram had left
	failed  int                   // the index in ms of the first message that failed
	err     error                 // and why; nil: none has
	fn      func(fd uintptr) bool // step, as a value made once: a method value allocates
}

func newWriter(c *batchConn) *writer {
	w := &writer{conn: c}
	w.wire()
	w.fn = w.step
	return w
}

func (c *batchConn) WriteBatch(ms []Message) (sent int, first error) {
	w := c.writers.Get().(*writer)
	defer c.writers.Put(w)
	for len(ms) > 0 {
		batch := ms[:min(len(ms), MaxBatch)]
		ms = ms[len(batch):]
		n, stop, err := w.write(batch)
		sent += n
		if first == nil {
			first = err
		}
		if stop {
			break
		}
	}
	return sent, first
}

// write sends one batch, and reports whether the socket takes no more.
func (w *writer) write(ms []Message) (sent int, stop bool, first error) {
	w.load(ms)
	stopped := w.conn.rc.Write(w.fn)
	if stopped != nil && w.next < w.count {
		w.fail(w.origin[w.next], stopped)
	}
	sent, first = w.sent, w.err
	w.forget(w.count)
	w.err = nil
	return sent, stopped != nil, first
}

// load fills the slots with the messages that can be put to the kernel at all.
func (w *writer) load(ms []Message) {
	w.count, w.next, w.sent, w.retried = 0, 0, 0, false
	for i := range ms {
		if err := w.add(&ms[i], i); err != nil {
			w.fail(i, err)
		}
	}
}

func (w *writer) add(m *Message, origin int) error {
	payload, to, err := m.outgoing()
	if err != nil {
		return err
	}
	c, slot := w.conn, w.count
	nameLen := putSockaddr(w.names[slot][:], c.family, to, &c.zones)
	if nameLen == 0 {
		return c.opError("write", net.UDPAddrFromAddrPort(to), unix.EAFNOSUPPORT)
	}
	controlLen := 0
	if local := m.Local.Unmap(); local.IsValid() && !c.bound.IsValid() {
		if c.family == unix.AF_INET && !local.Is4() {
			return c.opError("write", net.UDPAddrFromAddrPort(to), unix.EAFNOSUPPORT)
		}
		controlLen = putLocal(w.controls[slot][:], c.family, local)
	}
	w.set(slot, payload, nameLen, controlLen)
	w.origin[slot] = origin
	w.count++
	return nil
}

// step is the callback of RawConn.Write: false means that the send buffer is full.
func (w *writer) step(fd uintptr) bool {
	for w.next < w.count {
		n, errno := w.conn.send(fd, w.hdrs[w.next:w.count])
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			return false
		case errno == 0 && n > 0:
			w.sent += n
			w.advance(n)
		case errno == unix.ECONNREFUSED && !w.retried:
			w.retried = true
		default:
			w.fail(w.origin[w.next], w.sendError(errno))
			w.advance(1)
		}
	}
	return true
}

func (w *writer) advance(n int) {
	w.next += n
	w.retried = false
}

// fail keeps the error of the message that comes first in the batch, which is not always the first to fail.
func (w *writer) fail(origin int, err error) {
	if w.err == nil || origin < w.failed {
		w.failed, w.err = origin, err
	}
}

func (w *writer) sendError(errno syscall.Errno) error {
	c := w.conn
	to := parseSockaddr(w.names[w.next][:w.hdrs[w.next].hdr.Namelen], &c.zones)
	return c.opError("write", net.UDPAddrFromAddrPort(to), os.NewSyscallError("sendmmsg", errno))
}
