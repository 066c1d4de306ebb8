package radpool_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/radpool"
)

// realWorld is a server on sockets of the operating system.
type realWorld struct {
	t       *testing.T
	server  *radpool.Server
	addrs   []netip.AddrPort // of its sockets
	served  chan error
	entered chan radpool.Request // a copy of each request that the handler has; its packet is not to be used
	release chan struct{}        // closed: the handlers answer; they also end with their contexts
}

// serveReal serves addresses "auth", "acct" or both with a handler that waits.
func serveReal(t *testing.T, sockets map[string]radpool.Services) *realWorld {
	t.Helper()
	w := &realWorld{t: t, served: make(chan error, len(sockets)), entered: make(chan radpool.Request, 100), release: make(chan struct{})}
	w.server = &radpool.Server{
		Clients: clients(t,
			radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte(testSecret)},
			radpool.Client{Prefix: netip.MustParsePrefix("::1/128"), Secret: []byte(testSecret)},
		),
		Config: radpool.Config{MaxServers: 2},
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			w.entered <- *req
			select {
			case <-w.release:
				accept(ctx, req, resp)
			case <-ctx.Done():
				resp.Fail(ctx.Err())
			}
		}),
	}
	for addr, services := range sockets {
		pc := listenUDP(t, addr)
		w.addrs = append(w.addrs, pc.LocalAddr().(*net.UDPAddr).AddrPort())
		go func() { w.served <- w.server.ServeServices(pc, services) }()
	}
	return w
}

// load sends requests until the workers are busy with some and more wait.
func (w *realWorld) load() {
	w.t.Helper()
	for _, addr := range w.addrs {
		to := addr
		if to.Addr().IsUnspecified() {
			to = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), to.Port())
		}
		n := listenUDP(w.t, netip.AddrPortFrom(to.Addr(), 0).String())
		w.t.Cleanup(func() { _ = n.Close() })
		for i := range byte(10) {
			for _, b := range [][]byte{access(i, uint64(i), "ivan"), accounting(i, 1, string('a'+rune(i)))} {
				if _, err := n.WriteToUDPAddrPort(b, to); err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
	<-w.entered
	<-w.entered
}

func (w *realWorld) left() {
	w.t.Helper()
	for range w.addrs {
		if err := <-w.served; !errors.Is(err, radpool.ErrServerClosed) {
			w.t.Errorf("Serve returned %v", err)
		}
	}
	goleak.VerifyNone(w.t)
	st := w.server.Stats()
	checkIdentity(w.t, st)
	if st.InFlight != 0 || st.Arena.InUse != 0 || st.Cache.InFlight != 0 || st.Pool.Workers != 0 || st.Received == 0 {
		w.t.Errorf("something is left: %+v", st)
	}
}

// Whatever the sockets and however it ends: nothing is left, and what was
// accepted is accounted for.
func TestTheEndOverUDP(t *testing.T) {
	const both = radpool.Auth | radpool.Acct
	shutdown := func(w *realWorld) error {
		go close(w.release)
		return w.server.Shutdown(context.Background())
	}
	for name, sockets := range map[string]map[string]radpool.Services{
		"IPv4":       {"127.0.0.1:0": both},
		"IPv6":       {"[::1]:0": both},
		"dual stack": {"[::]:0": both},
		"several":    {"127.0.0.1:0": radpool.Auth, "127.0.0.1:00": radpool.Acct, "[::1]:0": radpool.Auth, "0.0.0.0:0": both},
	} {
		for kind, end := range map[string]func(*realWorld) error{
			"Shutdown": shutdown,
			"Close":    func(w *realWorld) error { return w.server.Close() },
			"twice": func(w *realWorld) error {
				return errors.Join(shutdown(w), w.server.Shutdown(context.Background()), w.server.Close())
			},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				w := serveReal(t, sockets)
				w.load()
				if err := end(w); err != nil {
					t.Errorf("got %v", err)
				}
				w.left()
				st := w.server.Stats()
				if kind == "Close" && st.Replied != 0 || kind != "Close" && st.Aborted+st.Failed != 0 {
					t.Errorf("wrong outcomes for %s: %+v", kind, st)
				}
			})
		}
	}
}

// All who end a server at once wait for the same end, and the one in a hurry
// hurries it for all.
func TestManyEndsAtOnce(t *testing.T) {
	w := serveReal(t, map[string]radpool.Services{"127.0.0.1:0": radpool.Auth | radpool.Acct})
	w.load()
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			if i == 15 {
				if err := w.server.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				return
			}
			if err := w.server.Shutdown(context.Background()); !errors.Is(err, radpool.ErrServerClosed) {
				t.Errorf("Shutdown cut short: %v, want ErrServerClosed", err)
			}
		})
	}
	group.Wait()
	w.left()
}

// All at once over real sockets: requests good and bad, other clients, a look at
// the statistics, and the end. It is for the race detector.
func TestEverythingAtOnce(t *testing.T) {
	w := serveReal(t, map[string]radpool.Services{"127.0.0.1:0": radpool.Auth | radpool.Acct, "[::]:0": radpool.Auth | radpool.Acct})
	close(w.release)
	var senders, others sync.WaitGroup
	stop := make(chan struct{})
	other := func(f func()) {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		})
	}
	other(func() { <-w.entered })
	other(func() {
		if st := w.server.Stats(); st.InFlight > st.Received {
			t.Errorf("%d in flight of %d received", st.InFlight, st.Received)
		}
	})
	other(func() {
		host := netip.MustParsePrefix("127.0.0.1/32")
		w.server.Clients.States()
		w.server.Clients.Forget(host)
		if err := w.server.Clients.Replace([]radpool.Client{{Prefix: host, Secret: []byte(testSecret)}}); err != nil {
			t.Error(err)
		}
	})
	for sender := range 3 {
		n := listenUDP(t, "127.0.0.1:0")
		defer n.Close()
		senders.Go(func() {
			for i := range 1000 {
				to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), w.addrs[i%2].Port())
				b := access(byte(i), uint64(sender*100+i/3), "ivan")
				if i%7 == 0 {
					b[i%len(b)] ^= 1
				}
				if _, err := n.WriteToUDPAddrPort(b, to); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	if err := w.server.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	w.entered <- radpool.Request{} // for who still waits
	others.Wait()
	w.left()
}

func TestEndBeforeServe(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Clients: new(radpool.Clients), AuthAddr: "127.0.0.1:0", AcctAddr: "127.0.0.1:0"}
	if err := errors.Join(s.Shutdown(t.Context()), s.Close(), s.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	if err := s.ListenAndServe(); !errors.Is(err, radpool.ErrServerClosed) {
		t.Errorf("ListenAndServe after the end: %v", err)
	}
	goleak.VerifyNone(t)
}

// A handler that wants the server to end starts that beside itself.
func TestHandlerEndsTheServer(t *testing.T) {
	var ended chan error
	s := new(radpool.Server)
	s.Handler = radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		go func() { ended <- s.Shutdown(context.Background()) }()
		accept(ctx, req, resp)
	})
	inWorld(t, s, func(w *world) {
		ended = make(chan error, 1) // in the bubble: the end takes time
		if w.nas(nasAddr).ask(access(1, 1, "ivan")) == nil {
			t.Error("the request that ended the server was not answered")
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// On a socket for both families, an IPv4 NAS is one everywhere, and is answered
// from the address that it asked.
func TestIPv4OnADualStackSocket(t *testing.T) {
	w := serveReal(t, map[string]radpool.Services{"[::]:0": radpool.Auth})
	close(w.release)
	server := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), w.addrs[0].Port())
	n, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	req := access(1, 1, "ivan")
	if _, err := n.Write(req); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	size, err := n.Read(b) // connected: from another address it would not be received
	if err != nil {
		t.Fatal(err)
	}
	parseReply(t, b[:size], req)
	if seen := <-w.entered; !seen.RemoteAddr.Addr().Is4() || seen.LocalAddr.Port() != server.Port() || seen.Client.Name != "127.0.0.1" {
		t.Errorf("the handler has seen %v at %v, client %q", seen.RemoteAddr, seen.LocalAddr, seen.Client.Name)
	}
	if err := w.server.Close(); err != nil {
		t.Error(err)
	}
	w.left()
}

func TestListenAndServe(t *testing.T) {
	taken := listenUDP(t, "127.0.0.1:0")
	defer taken.Close()
	for name, c := range map[string]struct {
		auth, acct string
		readers    int
	}{
		"one socket":                 {"127.0.0.1:0", "127.0.0.1:0", 0},
		"two sockets":                {"127.0.0.1:0", "localhost:0", 1},
		"second one taken":           {"127.0.0.1:0", taken.LocalAddr().String(), 0},
		"no such address":            {"192.0.2.1:1812", "127.0.0.1:0", 0},
		"several readers":            {"127.0.0.1:0", "localhost:0", 3},
		"several readers of a taken": {"127.0.0.1:0", taken.LocalAddr().String(), 3},
		"readers without number":     {"127.0.0.1:0", "127.0.0.1:0", -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &radpool.Server{
				Handler: radpool.HandlerFunc(accept), Clients: new(radpool.Clients),
				AuthAddr: c.auth, AcctAddr: c.acct, Config: radpool.Config{Readers: c.readers},
			}
			started := make(chan struct{}, 100)
			s.Hooks.WorkerStart = func(int) { started <- struct{}{} }
			served := make(chan error, 1)
			go func() { served <- s.ListenAndServe() }()
			select {
			case <-started:
				if err := s.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, radpool.ErrServerClosed) {
					t.Errorf("got %v", err)
				}
			case err := <-served:
				var op *net.OpError
				var config *radpool.ConfigError
				switch {
				case errors.As(err, &config) && config.Field == "Readers" && (c.readers < 0 || runtime.GOOS != "linux"):
				case errors.As(err, &op) && op.Op == "listen" && !strings.Contains(name, "socket") && name != "several readers":
				default:
					t.Errorf("got %v", err)
				}
			}
			goleak.VerifyNone(t)
		})
	}
}
