package radpool_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// pipe is a socket with one client at its other end, which allocates nothing.
type pipe struct {
	in   chan []byte
	out  chan int // lengths of replies
	stop chan struct{}
}

func newPipe() *pipe {
	return &pipe{in: make(chan []byte, 64), out: make(chan int, 64), stop: make(chan struct{}, 1)}
}

func (p *pipe) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	select {
	case d := <-p.in:
		return copy(b, d), nasAddr, nil
	case <-p.stop:
		return 0, netip.AddrPort{}, os.ErrDeadlineExceeded
	}
}

func (p *pipe) WriteToUDPAddrPort(b []byte, _ netip.AddrPort) (int, error) {
	p.out <- len(b)
	return len(b), nil
}

func (p *pipe) SetReadDeadline(time.Time) error {
	select {
	case p.stop <- struct{}{}:
	default:
	}
	return nil
}

func (p *pipe) ReadFrom([]byte) (int, net.Addr, error) { panic("not to be used") }
func (p *pipe) WriteTo([]byte, net.Addr) (int, error)  { panic("not to be used") }
func (p *pipe) Close() error                           { return nil }
func (p *pipe) LocalAddr() net.Addr                    { return net.UDPAddrFromAddrPort(authAddr) }
func (p *pipe) SetDeadline(time.Time) error            { return nil }
func (p *pipe) SetWriteDeadline(time.Time) error       { return nil }

// native is a handler as the package's own types make it easy: a look-up and
// three attributes, all in the request's arena.
func native(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	user, _ := req.Lookup(rfc2865.UserName_Type)
	if _, known := subscribers[string(user)]; !known {
		resp.Code = radius.CodeAccessReject
		return
	}
	resp.Code = radius.CodeAccessAccept
	resp.AddString(rfc2865.ReplyMessage_Type, "hello")
	resp.AddUint32(rfc2865.SessionTimeout_Type, 3600)
	resp.AddAddr(rfc2865.FramedIPAddress_Type, framed)
}

var (
	subscribers = map[string]bool{"ivan": true}
	framed      = netip.MustParseAddr("10.0.0.1")
)

// servePipe serves one end of a pipe and returns a function that makes one
// exchange at the other, each time with a new request that has a User-Name, a
// Message-Authenticator, and more.
func servePipe(tb testing.TB, h radpool.Handler, more ...*radius.AVP) (exchange func()) {
	list, err := radpool.NewClients(radpool.Client{Prefix: nasSubnet, Secret: []byte(testSecret)})
	if err != nil {
		tb.Fatal(err)
	}
	p := newPipe()
	s := &radpool.Server{Handler: h, Clients: list, Config: radpool.Config{MaxRequests: 1 << 12}}
	served := make(chan error)
	go func() { served <- s.Serve(p) }()
	tb.Cleanup(func() {
		_ = s.Close()
		<-served
	})
	requests := make([][]byte, 1<<14) // more than the cache holds, so that none is a duplicate
	for i := range requests {
		requests[i] = access(byte(i), uint64(i), "ivan", more...)
	}
	next := 0
	return func() {
		p.in <- requests[next%len(requests)]
		next++
		<-p.out
	}
}

func BenchmarkServer(b *testing.B) {
	exchange := servePipe(b, radpool.HandlerFunc(native))
	b.ReportAllocs()
	for b.Loop() {
		exchange()
	}
}

func BenchmarkServerLayehHandler(b *testing.B) {
	h := radius.HandlerFunc(func(w radius.ResponseWriter, r *radius.Request) {
		resp := r.Response(radius.CodeAccessAccept)
		_ = rfc2865.ReplyMessage_SetString(resp, "hello")
		_ = rfc2865.SessionTimeout_Set(resp, 3600)
		_ = w.Write(resp)
	})
	exchange := servePipe(b, radpool.FromRadius(h))
	b.ReportAllocs()
	for b.Loop() {
		exchange()
	}
}
