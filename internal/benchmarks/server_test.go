package benchmarks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

var (
	subscribers = map[string]bool{userName: true}
	framed      = netip.MustParseAddr("10.0.0.1")
)

// native and forLayeh are the same handler: a look-up and three attributes.
func native(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	user, _ := req.Lookup(rfc2865.UserName_Type)
	if !subscribers[string(user)] {
		resp.Code = radius.CodeAccessReject
		return
	}
	resp.Code = radius.CodeAccessAccept
	resp.AddString(rfc2865.ReplyMessage_Type, "hello")
	resp.AddUint32(rfc2865.SessionTimeout_Type, 3600)
	resp.AddAddr(rfc2865.FramedIPAddress_Type, framed)
}

func forLayeh(w radius.ResponseWriter, r *radius.Request) {
	if !subscribers[rfc2865.UserName_GetString(r.Packet)] {
		_ = w.Write(r.Response(radius.CodeAccessReject))
		return
	}
	resp := r.Response(radius.CodeAccessAccept)
	_ = rfc2865.ReplyMessage_SetString(resp, "hello")
	_ = rfc2865.SessionTimeout_Set(resp, 3600)
	_ = rfc2865.FramedIPAddress_Set(resp, framed.AsSlice())
	_ = w.Write(resp)
}

func newServer(b *testing.B, h radpool.Handler) *radpool.Server {
	clients, err := radpool.NewClients(radpool.Client{
		Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(sharedSecret),
	})
	if err != nil {
		b.Fatal(err)
	}
	return &radpool.Server{Handler: h, Clients: clients}
}

// serveRadpool and serveLayeh serve conn until the function returned is called.
func serveRadpool(b *testing.B, conn net.PacketConn, s *radpool.Server) (end func()) {
	served := make(chan error)
	go func() { served <- s.Serve(conn) }()
	return func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, radpool.ErrServerClosed) {
			b.Error(err)
		}
	}
}

func serveLayeh(b *testing.B, conn net.PacketConn, h radius.HandlerFunc) (end func()) {
	var logged bytes.Buffer
	s := &radius.PacketServer{
		Handler:      h,
		SecretSource: radius.StaticSecretSource([]byte(sharedSecret)),
		ErrorLog:     log.New(&logged, "", 0),
	}
	served := make(chan error)
	go func() { served <- s.Serve(conn) }()
	return func() {
		_ = s.Shutdown(context.Background())
		if err := <-served; !errors.Is(err, radius.ErrServerShutdown) {
			b.Error(err, logged.String())
		}
	}
}

// BenchmarkServer is from the datagram to the reply, on a socket in memory, with
// one request at a time or 64: a NAS that sends as many, and the next as many
// when all are answered. radpool-adapter runs layeh's handler unchanged. Of
// radpool's work layeh does not verify or sign Message-Authenticators, keep
// replies for retransmissions, or bound what is in progress.
func BenchmarkServer(b *testing.B) {
	// As many as there are Identifiers, four times with other Authenticators.
	requests := make([][]byte, 1024)
	for i := range requests {
		requests[i] = request(b, radius.CodeAccessRequest, i)
	}
	for _, window := range []int{1, 64} {
		for _, impl := range []struct {
			name  string
			serve func(net.PacketConn) (end func())
		}{
			{"radpool", func(c net.PacketConn) func() {
				return serveRadpool(b, c, newServer(b, radpool.HandlerFunc(native)))
			}},
			{"radpool-adapter", func(c net.PacketConn) func() {
				return serveRadpool(b, c, newServer(b, radpool.FromRadius(radius.HandlerFunc(forLayeh))))
			}},
			{"layeh", func(c net.PacketConn) func() { return serveLayeh(b, c, forLayeh) }},
		} {
			b.Run(fmt.Sprintf("window=%d/impl=%s", window, impl.name), func(b *testing.B) {
				conn := newMemConn()
				conn.sent = func(d []byte) { checkReply(b, d, requests[0]) }
				end := impl.serve(conn)
				defer end()
				conn.in <- datagram{requests[0], &sockets[0]}
				<-conn.out
				conn.sent = nil
				exchange(b, conn, requests, window)
			})
		}
	}
}

// nth is the nth datagram. An Identifier of a socket is used again after 65,536
// others, since layeh drops a request while the goroutine of the last one under
// the same Identifier has not ended, which on a busy machine can be long after
// its reply. And it comes with another Authenticator then, so that it is not a
// retransmission of what radpool remembers.
func nth(requests [][]byte, n int) datagram {
	id, socket, round := n&255, n>>8&255, n>>16
	return datagram{requests[id|(socket+round)&3<<8], &sockets[socket]}
}

// exchange sends the requests one after the other, and waits for the replies
// when window of them are in progress.
func exchange(b *testing.B, conn *memConn, requests [][]byte, window int) {
	next, waiting := 1, 0
	drain := func() {
		seen := 0 // of the Identifiers, their sum says that each came once
		for i := range waiting {
			reply := <-conn.out
			if reply[0] != byte(radius.CodeAccessAccept) {
				b.Fatalf("reply with code %d", reply[0])
			}
			seen += int(reply[1]) - int(byte(next-1-i))
		}
		if seen != 0 {
			b.Fatal("the replies are not to what was sent")
		}
		waiting = 0
	}
	ask := func() {
		conn.in <- nth(requests, next)
		next++
		if waiting++; waiting == window {
			drain()
		}
	}
	for range 1 << 16 { // until all Identifiers have been used
		ask()
	}
	b.ReportAllocs()
	report := measure(b)
	for b.Loop() {
		ask()
	}
	drain()
	report()
}

// checkReply fails the benchmark unless d is the authentic Access-Accept to
// request, with three attributes beside its Message-Authenticator.
func checkReply(b *testing.B, d, request []byte) {
	shape, fault := wire.Parse(d, 0)
	attributes := shape.Attributes
	if shape.HasMessageAuthenticator() {
		attributes--
	}
	if fault != wire.WellFormed || shape.Code != radius.CodeAccessAccept || attributes != 3 ||
		!wire.VerifyResponse(d, &shape, wire.Authenticator(request), wire.NewSecret([]byte(sharedSecret))) {
		b.Errorf("wrong reply %x", d)
	}
}
