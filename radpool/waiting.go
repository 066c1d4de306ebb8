package radpool

import (
	"net/netip"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/cache"
)

// origin is where a verified request came from, and what the answer to it needs.
type origin struct {
	listener *listener
	client   *clientEntry
	ticket   cache.Ticket
	remote   netip.AddrPort
	local    netip.Addr // the address that was asked; not valid where the system does not tell
	received int64      // nanoseconds of the engine's epoch
}

// waiting is a request on its way from a reader to a worker. It is as little as
// the request can be run from, since a million of them may wait: the arena and all
// that the handler sees is taken when a worker is there. It is made by the reader,
// and ended exactly once: by the worker that opens it, or by finishWaiting.
type waiting struct {
	origin
	more   *[]byte // the datagram, where it does not fit into inline; kept for the next one
	length uint16
	inline [waitingInline]byte
}

// waitingInline is how many octets a datagram may have to cost nothing beside
// the waiting itself: most Access-Requests. With it a waiting fills a size class of
// Go's allocator, 240 octets.
const waitingInline = 126

// keptMore is how many octets of memory for a long datagram are kept.
const keptMore = 512

func (e *engine) newWaiting(o origin, datagram []byte) *waiting {
	w, ok := e.waitings.Get().(*waiting)
	if !ok {
		w = new(waiting)
	}
	w.origin = o
	w.length = uint16(len(datagram))
	if len(datagram) <= waitingInline {
		copy(w.inline[:], datagram)
		return w
	}
	if w.more == nil {
		w.more = new([]byte)
	}
	*w.more = append((*w.more)[:0], datagram...)
	return w
}

// datagram is what was verified. It is w's memory.
func (w *waiting) datagram() []byte {
	if w.length <= waitingInline {
		return w.inline[:w.length]
	}
	return *w.more
}

// free makes the memory the next request's. That of this one, a password among
// it, is not left in it.
func (e *engine) free(w *waiting) {
	clear(w.datagram())
	if w.more != nil && cap(*w.more) > keptMore {
		w.more = nil
	}
	w.origin = origin{}
	if !arena.Debug {
		e.waitings.Put(w)
	}
}

// finishWaiting ends a request that is not run.
func (e *engine) finishWaiting(w *waiting, o Outcome, c *counters, now time.Time) {
	if !w.ticket.Abandon() {
		o = Superseded // before there was another reason
	}
	b := w.datagram()
	e.count(&w.origin, radius.Code(b[0]), b[1], o, nil, c, now)
	e.free(w)
}

// count is the end of every request that a reader has admitted, exactly once: it
// is counted, and told where it is a drop.
func (e *engine) count(from *origin, code radius.Code, identifier byte, o Outcome, err error, c *counters, now time.Time) {
	what := askedBy(code)
	c.outcomes[what][o].Add(1)
	if isDrop(o) {
		from.client.shown.of[what].dropped.Add(1)
	}
	if o != Replied && o != Unanswered {
		if t, wanted := e.telling(now, o); wanted {
			t.tell(DropInfo{
				Outcome: o, RemoteAddr: from.remote, Client: &from.client.Client, Code: code, Identifier: identifier, Err: err,
			})
		}
	}
	c.ended.Add(1)
}
