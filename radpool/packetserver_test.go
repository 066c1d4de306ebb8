package radpool_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

func helloOfLayeh(w radius.ResponseWriter, r *radius.Request) {
	_ = w.Write(r.Response(radius.CodeAccessAccept))
}

// Whoever knows the secret is a client, of whatever family its address is, and nobody else.
func TestFromPacketServer(t *testing.T) {
	s := radpool.FromPacketServer(&radius.PacketServer{
		Handler: radius.HandlerFunc(helloOfLayeh), SecretSource: radius.StaticSecretSource([]byte(testSecret)),
	})
	if s.AuthAddr != ":1812" || s.AcctAddr != ":1812" {
		t.Errorf("listens on %q and %q", s.AuthAddr, s.AcctAddr)
	}
	for _, addr := range []string{"203.0.113.77", "2001:db8::1"} {
		if c, ok := s.Clients.Lookup(netip.MustParseAddr(addr)); !ok || string(c.Secret) != testSecret {
			t.Errorf("%s is no client", addr)
		}
	}
	inWorld(t, s, func(w *world) {
		if p := w.nas(nasAddr).ask(access(1, 1, "ivan")); p == nil || p.Code != radius.CodeAccessAccept {
			t.Errorf("got %v", p)
		}
	})
}

// byAddress is a SecretSource that looks at who asks.
type byAddress struct{}

func (byAddress) RADIUSSecret(_ context.Context, from net.Addr) ([]byte, error) {
	if from.(*net.UDPAddr).IP.IsLoopback() {
		return []byte("testing123"), nil
	}
	return nil, errors.New("unknown")
}

// What cannot be taken over is missed before anything is served, and never guessed.
func TestFromPacketServerWithoutClients(t *testing.T) {
	handler := radius.HandlerFunc(helloOfLayeh)
	for name, old := range map[string]*radius.PacketServer{
		"a source by address": {Handler: handler, SecretSource: byAddress{}},
		"an empty secret":     {Handler: handler, SecretSource: radius.StaticSecretSource(nil)},
		"no source":           {Handler: handler},
		"no handler":          {SecretSource: radius.StaticSecretSource([]byte("s"))},
	} {
		old.Addr = "127.0.0.1:0"
		if err := radpool.FromPacketServer(old).ListenAndServe(); err == nil || errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server of layeh.com/radius, with the reply cache, the queue and the counters of this one.
func ExampleFromPacketServer() {
	old := radius.PacketServer{
		SecretSource: radius.StaticSecretSource([]byte("testing123")),
		Handler: radius.HandlerFunc(func(w radius.ResponseWriter, r *radius.Request) {
			if err := w.Write(r.Response(radius.CodeAccessAccept)); err != nil {
				fmt.Println(err)
			}
		}),
	}
	server := radpool.FromPacketServer(&old)
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error)
	go func() { served <- server.Serve(pc) }() // in a program: server.ListenAndServe()

	packet := radius.New(radius.CodeAccessRequest, []byte("testing123"))
	if err := rfc2865.UserName_SetString(packet, "ivan"); err != nil {
		fmt.Println(err)
	}
	reply, err := radius.Exchange(context.Background(), packet, pc.LocalAddr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Code)
	if err := server.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-served)
	// Output:
	// Access-Accept
	// radpool: server closed
}
