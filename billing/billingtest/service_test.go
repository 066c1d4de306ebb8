package billingtest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/radpool"
)

// small is a server that fits a test.
var small = radpool.Config{MaxRequests: 4096, MaxServers: 8}

func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back billingtest.Recorder
		back.Handler = newShop()
		nas := billingtest.Serve(t, &billing.Processor{Handler: &back}, billingtest.ServiceConfig{Config: small})
		if reply := nas.Run(t, billingtest.MSCHAPv2("alice", "wonderland")); !reply.Accepted() || reply.Tries != 1 {
			t.Errorf("%v after %d tries", reply, reply.Tries)
		}
		other, err := nas.Service.NewClient()
		if err != nil {
			t.Fatal(err)
		}
		if reply := other.Run(t, billingtest.Start("alice", "1")); !reply.Acknowledged() {
			t.Errorf("%v", reply)
		}
		if rec := back.Records(); len(rec) != 1 || rec[0].NASAddr != other.Addr() || other.Addr() == nas.Addr() {
			t.Errorf("records %v, NASes %v and %v", rec, nas.Addr(), other.Addr())
		}
		if n := nas.Service.Server.Stats().Received; n != 2 {
			t.Errorf("the server received %d", n)
		}
	})
}

// Whatever the network does, each request is answered, and each is run once.
func TestServeOnABadNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nases, each = 4, 60
		var runs sync.Map // user name: how often
		h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			n, _ := runs.LoadOrStore(string(req.Get(1)), new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
			time.Sleep(20 * time.Millisecond)
			accept(ctx, req, resp)
		})
		first := billingtest.Serve(t, h, billingtest.ServiceConfig{
			Config:  small,
			Network: billingtest.NetworkConfig{Seed: 1, Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, MinDelay: time.Millisecond, MaxDelay: 40 * time.Millisecond},
			Timeout: time.Second, Tries: 12,
		})
		var wg sync.WaitGroup
		for i := range nases {
			nas := first
			if i > 0 {
				var err error
				if nas, err = first.Service.NewClient(); err != nil {
					t.Fatal(err)
				}
			}
			for j := range each {
				wg.Go(func() {
					user := fmt.Sprintf("user-%d-%d", i, j)
					req := billingtest.PAP(user, "w")
					if j%2 == 1 {
						req = billingtest.Start(user, "1")
					}
					reply, err := nas.Do(t.Context(), req)
					if err != nil || !reply.Accepted() && !reply.Acknowledged() {
						t.Errorf("%s: %v, %v", user, reply, err)
					}
				})
			}
		}
		wg.Wait()
		count := 0
		runs.Range(func(user, n any) bool {
			if count++; n.(*atomic.Int64).Load() != 1 {
				t.Errorf("%v was run %d times", user, n.(*atomic.Int64).Load())
			}
			return true
		})
		if count != nases*each {
			t.Errorf("%d requests were run, want %d", count, nases*each)
		}
		if s := first.Service.Network.Stats(); s.Lost == 0 || s.Duplicated == 0 || s.Reordered == 0 ||
			s.Sent+s.Duplicated != s.Delivered+s.Lost+s.Overflowed+s.Unreachable+s.InFlight {
			t.Errorf("the network: %+v", s)
		}
	})
}

// A failure is tried again, silence is not, and from outside they look the same.
func TestClientRetransmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			n := calls.Add(1)
			switch user := string(req.Get(1)); {
			case user == "silence":
			case user == "failure" || n == 1:
				resp.Fail(errors.New("the database is away"))
			default:
				accept(ctx, req, resp)
			}
		})
		nas := billingtest.Serve(t, h, billingtest.ServiceConfig{Config: small, Timeout: time.Second, Tries: 4})
		if reply := nas.Run(t, billingtest.PAP("second time lucky", "w")); !reply.Accepted() || reply.Tries != 2 {
			t.Errorf("%v after %d tries", reply, reply.Tries)
		}
		for user, want := range map[string]int64{"failure": 4, "silence": 1} {
			calls.Store(10)
			reply := nas.Run(t, billingtest.PAP(user, "w"))
			if !errors.Is(reply.Err, billingtest.ErrNoReply) || reply.Tries != 4 || reply.Outcome() != "no reply" || fmt.Sprint(reply) != "no reply" {
				t.Errorf("%s: %v after %d tries", user, reply, reply.Tries)
			}
			if n := calls.Load() - 10; n != want {
				t.Errorf("%s was run %d times, want %d", user, n, want)
			}
		}
		// A NAS with the wrong secret is not answered.
		if reply := nas.Run(t, billingtest.Start("alice", "1").Secret("wrong")); reply.Outcome() != "no reply" {
			t.Errorf("with a wrong secret: %v", reply)
		}
	})
}

// A reply that comes too late is not the next request's, though it has its
// Identifier: the client has used all others meanwhile.
func TestClientIgnoresLateReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			if string(req.Get(1)) == "slow" {
				time.Sleep(2 * time.Second)
			}
			accept(ctx, req, resp)
		})
		nas := billingtest.Serve(t, h, billingtest.ServiceConfig{Config: small, Timeout: time.Second, Tries: 1})
		if reply := nas.Run(t, billingtest.PAP("slow", "w")); reply.Outcome() != "no reply" {
			t.Errorf("%v", reply)
		}
		time.Sleep(2 * time.Second)
		if n := nas.Ignored(); n != 1 {
			t.Errorf("%d datagrams were ignored, want the late reply", n)
		}
		for i := range 600 {
			if reply := nas.Run(t, billingtest.PAP("quick", "w")); !reply.Accepted() {
				t.Fatalf("request %d: %v", i, reply)
			}
		}
	})
}

func TestClientIgnoresOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nas := billingtest.Serve(t, accept, billingtest.ServiceConfig{Config: small})
		mallory, err := nas.Service.Network.Listen(netip.MustParseAddrPort("203.0.113.66:1812"))
		if err != nil {
			t.Fatal(err)
		}
		defer mallory.Close()
		to := net.UDPAddrFromAddrPort(netip.AddrPortFrom(nas.Addr(), 49152))
		for _, b := range [][]byte{nil, {2, 0}, make([]byte, 20), append([]byte{2, 0, 0, 20}, make([]byte, 16)...)} {
			if _, err := mallory.WriteTo(b, to); err != nil {
				t.Fatal(err)
			}
		}
		if reply := nas.Run(t, billingtest.PAP("alice", "w")); !reply.Accepted() {
			t.Errorf("%v", reply)
		}
		if n := nas.Ignored(); n != 4 {
			t.Errorf("%d datagrams were ignored, want 4", n)
		}
	})
}

func TestClientBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			<-release
			accept(ctx, req, resp)
		})
		nas := billingtest.Serve(t, h, billingtest.ServiceConfig{Config: small})
		var wg sync.WaitGroup
		for i := range 256 {
			wg.Go(func() { _, _ = nas.Do(t.Context(), billingtest.PAP(fmt.Sprint(i), "w")) })
		}
		synctest.Wait()
		if _, err := nas.Do(t.Context(), billingtest.PAP("one more", "w")); !errors.Is(err, billingtest.ErrIdentifiers) {
			t.Errorf("the 257th request: %v", err)
		}
		close(release)
		wg.Wait()
		if reply := nas.Run(t, billingtest.PAP("now", "w")); !reply.Accepted() {
			t.Errorf("%v", reply)
		}
		for i := 1; i < billingtest.MaxClients; i++ {
			if _, err := nas.Service.NewClient(); err != nil {
				t.Fatalf("client %d: %v", i, err)
			}
		}
		if _, err := nas.Service.NewClient(); err == nil || !strings.Contains(err.Error(), "250") {
			t.Errorf("one client too many: %v", err)
		}
	})
}

func TestClientGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) {})
		nas := billingtest.Serve(t, h, billingtest.ServiceConfig{Config: small, Tries: 100})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := nas.Do(ctx, billingtest.PAP("alice", "w")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context's end: %v", err)
		}
		if _, err := nas.Do(t.Context(), billingtest.Request{}); err == nil || !strings.Contains(err.Error(), "zero Request") {
			t.Errorf("a request that cannot be sent: %v", err)
		}
		ended := make(chan error)
		go func() {
			_, err := nas.Do(t.Context(), billingtest.PAP("alice", "w"))
			ended <- err
		}()
		synctest.Wait()
		if err := nas.Service.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("the service's end: %v", err)
		}
		if err := nas.Service.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
		if _, err := nas.Service.NewClient(); err == nil {
			t.Error("a closed service has a new client")
		}
		if _, err := nas.Do(t.Context(), billingtest.PAP("alice", "w")); err == nil {
			t.Error("a closed service answers")
		}
	})
}

func TestServiceConfigErrors(t *testing.T) {
	for name, cfg := range map[string]billingtest.ServiceConfig{
		"Timeout":    {Timeout: -1},
		"Tries":      {Tries: 101},
		"Loss":       {Network: billingtest.NetworkConfig{Loss: 2}},
		"MaxServers": {Config: radpool.Config{MaxServers: -1}},
	} {
		if s, err := billingtest.NewService(accept, cfg); s != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := billingtest.NewService(nil, billingtest.ServiceConfig{}); err == nil {
		t.Error("a service without a Handler")
	}
}

func TestNetwork(t *testing.T) {
	n, err := billingtest.NewNetwork(billingtest.NetworkConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	a, err := n.Listen(netip.MustParseAddrPort("192.0.2.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := n.Listen(a.LocalAddr().(*net.UDPAddr).AddrPort()); err == nil || c != nil {
		t.Errorf("a second socket of one address: %v, %v", c, err)
	}
	if _, err := a.WriteTo([]byte("hello"), a.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	var buf [16]byte
	if m, from, err := a.ReadFrom(buf[:]); err != nil || string(buf[:m]) != "hello" || from.String() != a.LocalAddr().String() {
		t.Errorf("%q from %v, %v", buf[:m], from, err)
	}
	if s := n.Stats(); s.Sent != 1 || s.Delivered != 1 {
		t.Errorf("%+v", s)
	}
}
