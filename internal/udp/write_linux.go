package udp

import (
	"errors"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writer is the state of one WriteBatch. Writers are pooled: as many exist as goroutines write at once.
type writer struct {
	slots
	conn    *batchConn
	ms      []Message             // the batch
	groups  groups                // of it: a slot each
	next    int                   // first slot not yet done
	sent    int                   // messages sent
	retried bool                  // slot next has met an error that an earlier datagram had left
	suspect bool                  // slot next could not be sent as a part of a group
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
	if stopped != nil && w.next < w.groups.count {
		w.fail(w.groups.of[w.next].first, stopped)
	}
	sent, first = w.sent, w.err
	w.forget(len(ms))
	w.ms, w.err = nil, nil
	return sent, stopped != nil, first
}

// load fills the slots with the messages that can be put to the kernel at all.
func (w *writer) load(ms []Message) {
	w.ms, w.sent = ms, 0
	w.groups.count = 0
	join := !w.conn.whole.Load()
	for i := range ms {
		if _, _, err := ms[i].outgoing(); err != nil {
			w.fail(i, err)
			continue
		}
		w.groups.add(ms, i, join)
	}
	w.fill()
}

// fill gives each group a slot. One that the socket cannot send is left out.
func (w *writer) fill() {
	w.next, w.retried, w.suspect = 0, false, false
	slot, iov := 0, 0
	for g := range w.groups.count {
		group := w.groups.of[g]
		if err := w.address(slot, group); err != nil {
			w.fail(group.first, err)
			continue
		}
		h := &w.hdrs[slot].hdr
		h.Iov = &w.iovs[iov]
		h.SetIovlen(group.count)
		for i := group.first; ; i = w.groups.after[i] {
			m := &w.ms[i]
			w.iovs[iov].Base = unsafe.SliceData(m.Buf)
			w.iovs[iov].SetLen(m.N)
			iov++
			if i == group.last {
				break
			}
		}
		w.groups.of[slot] = group
		slot++
	}
	w.groups.count = slot
}

// address writes everything but the payload to a slot.
func (w *writer) address(slot int, group group) error {
	c, m := w.conn, &w.ms[group.first]
	to, local := unmap(m.Addr), m.Local.Unmap()
	nameLen := putSockaddr(w.names[slot][:], c.family, to, &c.zones)
	chosen := local.IsValid() && !c.bound.IsValid()
	if nameLen == 0 || chosen && c.family == unix.AF_INET && !local.Is4() {
		return c.opError("write", net.UDPAddrFromAddrPort(to), unix.EAFNOSUPPORT)
	}
	controls, controlLen := w.controls[slot][:], 0
	if chosen {
		controlLen = putLocal(controls, c.family, local)
	}
	if group.count > 1 {
		controlLen += putSegment(controls[controlLen:], m.N)
	}
	h := &w.hdrs[slot].hdr
	h.Namelen = uint32(nameLen)
	h.SetControllen(controlLen)
	h.Flags = 0
	return nil
}

// step is the callback of RawConn.Write: false means that the send buffer is full.
func (w *writer) step(fd uintptr) bool {
	for w.next < w.groups.count {
		n, errno := w.conn.send(fd, w.hdrs[w.next:w.groups.count])
		group := w.groups.of[w.next]
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			return false
		case errno == 0 && n > 0:
			w.done(n)
		case errno == unix.ECONNREFUSED && !w.retried:
			w.retried = true
		case group.count > 1:
			w.groups.split(w.next)
			w.fill()
			w.suspect = unsegmentable(errno)
		default:
			w.fail(group.first, w.sendError(errno))
			w.advance(1)
		}
	}
	return true
}

// done accounts for n slots that the kernel has taken.
func (w *writer) done(n int) {
	if w.suspect {
		w.conn.whole.Store(true) // alone it goes: it is the segments that this system cannot send
	}
	for _, group := range w.groups.of[w.next : w.next+n] {
		w.sent += group.count
	}
	w.advance(n)
}

func (w *writer) advance(n int) {
	w.next += n
	w.retried, w.suspect = false, false
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

// unsegmentable reports whether errno is how the kernel says that it cannot send segments over a route, or that one
// is too long for it.
func unsegmentable(errno error) bool {
	return errors.Is(errno, unix.EINVAL) || errors.Is(errno, unix.EIO) || errors.Is(errno, unix.EMSGSIZE)
}
