package radpool

import (
	"context"
	"errors"
	"net"
	"sync"

	"layeh.com/radius"
)

// FromRadius makes a [Handler] of one that was written for layeh.com/radius's
// own server. It runs unchanged: its Request is a copy on the heap that it may
// keep, and its context is the Handler's. Only its first Write before it returns
// counts; one after that is an error. If it writes nothing, silence is the
// answer.
//
// The copy costs allocations that a native Handler does not have.
func FromRadius(h radius.Handler) Handler {
	return HandlerFunc(func(ctx context.Context, req *Request, resp *Response) {
		r := (&radius.Request{
			LocalAddr:  net.UDPAddrFromAddrPort(req.LocalAddr),
			RemoteAddr: net.UDPAddrFromAddrPort(req.RemoteAddr),
			Packet:     clonePacket(req.Packet),
		}).WithContext(ctx)
		w := &responseWriter{resp: resp}
		defer w.close()
		h.ServeRADIUS(w, r)
	})
}

var (
	errWritten  = errors.New("radpool: the response was already written")
	errReturned = errors.New("radpool: the handler has returned, its request is over")
)

// responseWriter lets a handler write from another goroutine than its own, as
// layeh's does, as long as it has not returned.
type responseWriter struct {
	mu      sync.Mutex
	resp    *Response // nil once the handler has returned
	written bool
}

func (w *responseWriter) Write(p *radius.Packet) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.resp == nil:
		return errReturned
	case w.written:
		return errWritten
	case p == nil || p.Code == 0:
		return errors.New("radpool: a response needs a Code")
	}
	w.written = true
	c := clonePacket(p) // the handler may go on changing its own
	w.resp.Code, w.resp.Attributes = c.Code, c.Attributes
	return nil
}

func (w *responseWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resp = nil
}
