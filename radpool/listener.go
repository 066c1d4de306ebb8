package radpool

import (
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"layeh.com/radius"

	"github.com/radpool/radpool/internal/udp"
)

const (
	// receiveBuffer is the socket buffer asked for, in octets: some 10,000
	// requests. The system may give less.
	receiveBuffer = 4 << 20

	// buffered is for how many octets of a socket's buffer there is one datagram
	// at most: each takes twice that and more of the kernel's memory, of which a
	// buffer is twice its size.
	buffered = 256
)

// listener is one socket. It has one reader at a time; any number of workers
// write to it.
type listener struct {
	engine   *engine
	conn     udp.Conn
	id       uint32 // in the cache's keys: sockets that share an address have the same
	services Services
	local    netip.AddrPort
	shared   bool // its address, with other sockets of the same device
	device   int
	buffer   int // octets of the receive buffer; 0: not known
	mode     readerMode
	arrivals arrivals // its reader's

	reader   atomic.Pointer[reader]
	stopping chan struct{} // closed by stop
	woken    chan struct{} // closed when the reader can be waiting no more
	ended    chan error    // what serve returns, from the last reader

	toldDrops uint64 // the housekeeper's
}

// newListener makes the listener of a socket that serves nothing yet.
func (e *engine) newListener(pc net.PacketConn, conn udp.Conn, services Services) *listener {
	l := &listener{
		engine: e, conn: conn, services: services, local: conn.LocalAddr(),
		stopping: make(chan struct{}), woken: make(chan struct{}), ended: make(chan error, 1),
	}
	l.device, l.shared = udp.Sharing(pc)
	size, set := e.config.ReceiveBuffer, udp.SetReadBuffer
	if size == 0 {
		size, set = receiveBuffer, udp.GrowReadBuffer
	}
	var err error
	l.buffer, err = set(pc, size)
	if !errors.Is(err, errors.ErrUnsupported) && l.buffer < size {
		e.log.Info("the system grants a smaller receive buffer than asked for: a burst may overflow it",
			zap.Stringer("address", l.local), zap.Int("asked", size), zap.Int("granted", l.buffer), zap.Error(err))
	}
	return l
}

// sharesWith reports whether the kernel may hand what a client sends to one of
// the two to the other as well.
func (l *listener) sharesWith(o *listener) bool {
	return l.shared && o.shared && l.local == o.local && l.device == o.device
}

// serve waits until the last reader is done and, where that is the end of the
// server, for all of the end: a program that returns from main when Serve returns
// must not cut off the replies.
func (l *listener) serve() error {
	l.engine.startReader(l, newBuffers())
	l.engine.readers.Done() // the place that was held since the listener was added
	err := <-l.ended
	if errors.Is(err, ErrServerClosed) {
		<-l.engine.ended
	}
	return err
}

// stop makes the reader return, when it has drained the socket. The socket stays
// open for the replies, unless it is of a kind that knows no deadlines: better that
// replies are lost than that the reader stays. To be called once.
func (l *listener) stop() {
	defer close(l.woken)
	close(l.stopping)
	if err := l.conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		_ = l.conn.Close() // what it says was said already
	}
}

// drain takes what had arrived before the end began: it would be lost with the
// socket. It reads what is there, as much as there can have been and not what comes for
// ever, and nothing if the end is hurried.
func (r *reader) drain() {
	<-r.woken // lest what stop does to the deadline disturbs
	for left := max(r.buffer, receiveBuffer) / buffered; left > 0 && r.engine.base.Err() == nil; {
		n, err := r.conn.ReadReady(r.in[:min(len(r.in), left)])
		if n == 0 || err != nil {
			return // it works no more, or there is no more
		}
		r.receive(r.in[:n], time.Now())
		left -= n
	}
}

func (l *listener) stopped() bool {
	select {
	case <-l.stopping:
		return true
	default:
		return false
	}
}

// pause waits, or until the reader is to stop.
func (l *listener) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.stopping:
	}
}

// serves reports whether a packet of this code may come to this socket.
func (l *listener) serves(c radius.Code) bool {
	switch c {
	case radius.CodeAccessRequest:
		return l.services&Auth != 0
	case radius.CodeAccountingRequest:
		return l.services&Acct != 0
	case radius.CodeCoARequest, radius.CodeDisconnectRequest:
		return l.services&CoA != 0
	case radius.CodeStatusServer:
		return l.services&(Auth|Acct|Status) != 0 // RFC 5997 knows no answer to it on other ports
	}
	return false
}

// usual is what the datagrams are taken to be for that do not say it.
func (l *listener) usual() asked {
	switch {
	case l.services&Auth != 0:
		return askedAccess
	case l.services&Acct != 0:
		return askedAccounting
	}
	return askedOther
}

// send writes the replies, and counts those that the system refuses: they are as
// if lost on the way, and the NAS will ask again.
func (l *listener) send(out []udp.Message) {
	n, err := l.conn.WriteBatch(out)
	if n == len(out) {
		return
	}
	l.engine.elsewhere.writeErrors.Add(uint64(len(out) - n))
	l.engine.drops.writeFailed(time.Now(), l.local, err)
}
