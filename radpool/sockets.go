package radpool

import (
	"net/netip"
	"slices"

	"go.uber.org/zap"
)

// SocketDropInfo says what a socket has lost.
type SocketDropInfo struct {
	LocalAddr netip.AddrPort // of the socket
	Datagrams uint64         // that the system has dropped since it was last told; never 0
}

// lookAtSockets tells what the system has dropped since the last look. Called by
// the housekeeper alone.
func (e *engine) lookAtSockets() {
	e.mu.Lock()
	listeners := slices.Clone(e.listeners)
	e.mu.Unlock()
	var all, most uint64
	var worst *listener
	for _, l := range listeners {
		total, _ := l.conn.Drops()
		n := total - l.toldDrops
		if n == 0 {
			continue
		}
		l.toldDrops = total
		all += n
		if n > most {
			most, worst = n, l
		}
		e.tellSocketDrop(SocketDropInfo{LocalAddr: l.local, Datagrams: n})
	}
	if worst != nil {
		e.log.Warn("datagrams were dropped before they could be read: the receive buffer was full, or they were damaged",
			zap.Uint64("datagrams", all), zap.Stringer("most at", worst.local), zap.Int("receive buffer", worst.buffer))
	}
}

func (e *engine) tellSocketDrop(i SocketDropInfo) {
	if hook := e.hooks.SocketDrop; hook != nil {
		defer e.hookPanicked()
		hook(i)
	}
}

// socketStats puts into st what is known of the sockets.
func (e *engine) socketStats(st *Stats) {
	e.mu.Lock()
	defer e.mu.Unlock()
	st.SocketDrops = e.lostBefore
	for _, l := range e.listeners {
		n, ok := l.conn.Drops()
		st.SocketDrops += n
		if !ok {
			st.SocketsUncounted++
		}
		if l.buffer > 0 && (st.ReceiveBuffer == 0 || l.buffer < st.ReceiveBuffer) {
			st.ReceiveBuffer = l.buffer
		}
	}
}
