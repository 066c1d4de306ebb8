package radpool

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"reflect"
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

// FromPacketServer makes a [Server] of one of layeh.com/radius that has not been started:
//
//	err := radpool.FromPacketServer(&server).ListenAndServe()
//
// Its Handler runs as [FromRadius] says, and ListenAndServe serves Access-Requests and
// Accounting-Requests on its Addr, or on ":1812". With radius.StaticSecretSource
// every address is a client under that secret, as it is there. Any other SecretSource
// leaves [Server.Clients] nil: set it, since here the clients are known before they
// send (see [Clients.Replace] for those that come and go).
//
// InsecureSkipVerify has no counterpart, nor has Network: to serve another than "udp", call
// Serve with a socket. ErrorLog is not used: set [Server.Logger].
func FromPacketServer(old *radius.PacketServer) *Server {
	s := &Server{AuthAddr: old.Addr}
	if s.AuthAddr == "" {
		s.AuthAddr = ":1812"
	}
	s.AcctAddr = s.AuthAddr
	if old.Handler != nil {
		s.Handler = FromRadius(old.Handler)
	}
	static := radius.StaticSecretSource(nil)
	if reflect.TypeOf(old.SecretSource) != reflect.TypeOf(static) {
		return s
	}
	// It gives the same to all, whoever asks.
	if secret, err := old.SecretSource.RADIUSSecret(context.Background(), nil); err == nil && len(secret) > 0 {
		all := Client{Prefix: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Secret: secret}
		all6 := Client{Prefix: netip.PrefixFrom(netip.IPv6Unspecified(), 0), Secret: secret}
		s.Clients, _ = NewClients(all, all6) // both are valid
	}
	return s
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
