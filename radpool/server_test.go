package radpool_test

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radpool"
)

func TestServerAnswers(t *testing.T) {
	h := func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		if got := rfc2865.UserName_GetString(req.Packet); got != "ivan" {
			t.Errorf("User-Name is %q", got)
		}
		if req.RemoteAddr != nasAddr || req.LocalAddr != authAddr || req.Client.Name != "192.0.2.0/24" || req.Received != time.Now() {
			t.Errorf("wrong surroundings: %+v", req)
		}
		resp.Code = radius.CodeAccessAccept
		resp.AddString(rfc2865.ReplyMessage_Type, "hello")
		resp.AddUint32(rfc2865.SessionTimeout_Type, 3600)
		resp.AddAddr(rfc2865.FramedIPAddress_Type, netip.MustParseAddr("10.0.0.1"))
		resp.Add(rfc2865.ProxyState_Type, []byte("mine")) // not a handler's to give
		if err := rfc2865.FilterID_SetString(resp.Packet, "by layeh's helper"); err != nil {
			t.Error(err)
		}
	}
	inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(h)}, func(w *world) {
		p := w.nas(nasAddr).ask(access(1, 1, "ivan", avp(rfc2865.ProxyState_Type, "a"), avp(rfc2865.ProxyState_Type, "b")))
		if p == nil || p.Code != radius.CodeAccessAccept {
			t.Fatalf("got %v, want an Access-Accept", p)
		}
		if p.Attributes[0].Type != rfc2869.MessageAuthenticator_Type {
			t.Errorf("the first attribute is %d, want Message-Authenticator", p.Attributes[0].Type)
		}
		if m, s, a := rfc2865.ReplyMessage_GetString(p), rfc2865.SessionTimeout_Get(p), rfc2865.FramedIPAddress_Get(p); m != "hello" || s != 3600 || a.String() != "10.0.0.1" {
			t.Errorf("got %q, %d, %v", m, s, a)
		}
		if states, _ := rfc2865.ProxyState_GetStrings(p); len(states) != 2 || states[0] != "a" || states[1] != "b" {
			t.Errorf("Proxy-State is %q, want those of the request, in order", states)
		}
		if got := rfc2865.FilterID_GetString(p); got != "by layeh's helper" {
			t.Errorf("Filter-Id is %q", got)
		}
	})
}

func TestAccountingIsAnswered(t *testing.T) {
	inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(accept)}, func(w *world) {
		n := w.nas(nasAddr)
		for id, status := range []rfc2866.AcctStatusType{1, 3, 2, 7, 8} {
			if p := n.ask(accounting(byte(id), status, "s1")); p == nil || p.Code != radius.CodeAccountingResponse || len(p.Attributes) != 0 {
				t.Errorf("Acct-Status-Type %v: got %v, want a bare Accounting-Response", status, p)
			}
		}
		if st := w.server.Stats(); st.AccountingRequests != 5 || st.AccountingResponses != 5 {
			t.Errorf("got %+v", st)
		}
	})
}

func TestStatusServerNeedsNoWorker(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) {
		t.Error("the handler was called")
	})}
	inWorld(t, s, func(w *world) {
		acct := netip.MustParseAddrPort("192.0.2.1:1813")
		w.serve(acct, radpool.Acct)
		n := w.nas(nasAddr)
		req := encode(&radius.Packet{Code: radius.CodeStatusServer, Identifier: 7, Attributes: radius.Attributes{avp(rfc2865.ProxyState_Type, "p")}}, testSecret)
		if p := n.ask(req); p == nil || p.Code != radius.CodeAccessAccept || rfc2865.ProxyState_GetString(p) != "p" {
			t.Errorf("authentication port: got %v", p)
		}
		n.sendTo(req, acct)
		if p := n.reply(req); p == nil || p.Code != radius.CodeAccountingResponse {
			t.Errorf("accounting port: got %v", p)
		}
		if st := w.server.Stats(); st.StatusServer != 2 || st.AccessRequests != 0 || st.Cache.InFlight != 0 || st.Cache.Retained != 0 {
			t.Errorf("Status-Server counts as traffic, or is remembered: %+v", st)
		}
	})
}

// Silence, failure, a panic and an impossible reply look the same to the NAS,
// but a retransmission of the first stays unanswered and the others run again.
func TestWithoutReply(t *testing.T) {
	for name, c := range map[string]struct {
		handle  func(*radpool.Response)
		runs    int32
		counter func(radpool.Stats) uint64
	}{
		"silence":   {func(*radpool.Response) {}, 1, func(st radpool.Stats) uint64 { return st.Unanswered }},
		"failure":   {func(r *radpool.Response) { r.Code = 2; r.Fail(nil) }, 2, func(st radpool.Stats) uint64 { return st.Failed / 2 }},
		"panic":     {func(*radpool.Response) { panic("oh") }, 2, func(st radpool.Stats) uint64 { return min(st.Failed, st.Panics) / 2 }},
		"goexit":    {func(*radpool.Response) { runtime.Goexit() }, 2, func(st radpool.Stats) uint64 { return st.Failed / 2 }},
		"too long":  {func(r *radpool.Response) { r.Code = 2; r.Add(18, make([]byte, 254)) }, 2, func(st radpool.Stats) uint64 { return st.Failed / 2 }},
		"no packet": {func(r *radpool.Response) { r.Packet = nil }, 1, func(st radpool.Stats) uint64 { return st.Unanswered }},
	} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int32
			s := &radpool.Server{Handler: radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
				runs.Add(1)
				c.handle(resp)
			})}
			inWorld(t, s, func(w *world) {
				n := w.nas(nasAddr)
				for range 2 {
					if p := n.ask(access(1, 1, "ivan")); p != nil {
						t.Errorf("got %v, want no reply", p)
					}
				}
				if got := runs.Load(); got != c.runs {
					t.Errorf("the handler ran %d times, want %d", got, c.runs)
				}
				if st := w.server.Stats(); c.counter(st) != 1 {
					t.Errorf("not counted: %+v", st)
				}
			})
		})
	}
}

func TestContextEndsAtMaxRequestTimeFromArrival(t *testing.T) {
	var ended []time.Duration
	s := &radpool.Server{
		Config: radpool.Config{MaxRequestTime: 2 * time.Second, MaxServers: 1},
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			<-ctx.Done()
			ended = append(ended, time.Since(req.Received))
			resp.Fail(ctx.Err())
		}),
	}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		n.send(access(1, 1, "ivan"))
		time.Sleep(500 * time.Millisecond)
		n.send(access(2, 2, "ivan")) // waits 1.5 s, runs for 0.5 s
		time.Sleep(time.Second)
		n.send(access(3, 3, "ivan"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(ended) != 3 || ended[0] != 2*time.Second || ended[1] != 2*time.Second || ended[2] != 2*time.Second {
			t.Errorf("contexts ended at %v, want 2s after each arrival", ended)
		}
	})
}

// A request whose time is over before a worker is free is not run, and what is
// answered too late is not sent, but kept for the retransmission.
func TestTooLate(t *testing.T) {
	var runs atomic.Int32
	s := &radpool.Server{
		Config: radpool.Config{MaxRequestTime: 2 * time.Second, MaxServers: 1},
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			runs.Add(1)
			time.Sleep(3 * time.Second) // takes no notice of ctx
			accept(ctx, req, resp)
		}),
	}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		first, second := access(1, 1, "ivan"), access(2, 2, "olga")
		n.send(first)
		synctest.Wait()
		n.send(second)
		time.Sleep(2500 * time.Millisecond)
		if st := w.server.Stats(); st.Unresponsive != 1 {
			t.Errorf("Unresponsive is %d while a handler overruns, want 1", st.Unresponsive)
		}
		n.send(first) // a tombstone: no second run beside the one that overruns
		time.Sleep(time.Second)
		if p := n.receive(); p != nil {
			t.Error("a late reply was sent")
		}
		if st := w.server.Stats(); st.Expired != 2 || st.Duplicate != 1 || runs.Load() != 1 || st.Unresponsive != 1 && st.InFlight != 0 {
			t.Errorf("ran %d times: %+v", runs.Load(), st)
		}
		if p := n.ask(first); p == nil || runs.Load() != 1 {
			t.Errorf("the retransmission got %v after %d runs, want the kept reply", p, runs.Load())
		}
	})
}

func TestShutdownAnswersWhatWaits(t *testing.T) {
	s := &radpool.Server{
		Config: radpool.Config{MaxServers: 2},
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			time.Sleep(100 * time.Millisecond)
			accept(ctx, req, resp)
		}),
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simnet.Config{}, s)
		n := w.nas(nasAddr)
		for i := range byte(10) {
			n.send(access(i, uint64(i), "ivan"))
		}
		synctest.Wait()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		w.close() // and Close after it is harmless
		if st := s.Stats(); st.Replied != 10 || st.InFlight != 0 {
			t.Errorf("got %+v, want 10 replies", st)
		}
	})
}

// A program that ends when Serve returns must not cut off the replies.
func TestServeReturnsWhenAllIsAnswered(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		time.Sleep(time.Second)
		accept(ctx, req, resp)
	})}
	inWorld(t, s, func(w *world) {
		w.nas(nasAddr).send(access(1, 1, "ivan"))
		synctest.Wait()
		go func() { _ = s.Shutdown(context.Background()) }()
		synctest.Wait()
		if len(w.served) != 0 {
			t.Error("Serve has returned with a request unanswered")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(w.served) != 1 || s.Stats().Replied != 1 {
			t.Errorf("Serve has not returned: %+v", s.Stats())
		}
	})
}

func TestShutdownGivesUpWithItsContext(t *testing.T) {
	testEnd(t, func(s *radpool.Server) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v, want the context's error", err)
		}
	})
}

func TestCloseAborts(t *testing.T) {
	testEnd(t, func(s *radpool.Server) {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// testEnd ends a server whose handlers wait for their contexts, with more
// requests in the queue.
func testEnd(t *testing.T, end func(*radpool.Server)) {
	s := &radpool.Server{
		Config: radpool.Config{MaxServers: 2},
		Handler: radpool.HandlerFunc(func(ctx context.Context, _ *radpool.Request, resp *radpool.Response) {
			<-ctx.Done()
			resp.Fail(ctx.Err())
		}),
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simnet.Config{}, s)
		n := w.nas(nasAddr)
		for i := range byte(10) {
			n.send(access(i, uint64(i), "ivan"))
		}
		synctest.Wait()
		end(s)
		if st := s.Stats(); st.Failed != 2 || st.Aborted != 8 || st.InFlight != 0 {
			t.Errorf("got %+v, want 2 failed, 8 aborted", st)
		}
		w.close()
	})
}

func TestServeAfterTheEnd(t *testing.T) {
	inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(accept)}, func(w *world) {
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		conn, err := w.net.Listen(netip.MustParseAddrPort("192.0.2.1:9999"))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.server.Serve(conn); !errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("Serve after Close: %v", err)
		}
	})
}

func TestServerNeedsItsParts(t *testing.T) {
	h := radpool.HandlerFunc(accept)
	for want, s := range map[string]*radpool.Server{
		"radpool: Server.Handler is nil":                                         {Clients: new(radpool.Clients)},
		"radpool: Server.Clients is nil":                                         {Handler: h},
		"radpool: MaxServers is -1: must be 1 to 65536":                          {Handler: h, Clients: new(radpool.Clients), Config: radpool.Config{MaxServers: -1}},
		"radpool: PoolConfig.Policy: radpool: Fixed(0): must be from 1 to 65536": {Handler: h, Clients: new(radpool.Clients), Policy: radpool.Fixed(0)},
	} {
		network, err := simnet.New(simnet.Config{})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := network.Listen(authAddr)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Serve(conn); err == nil || err.Error() != want {
			t.Errorf("Serve: %v, want %s", err, want)
		}
		if _, err := network.Listen(authAddr); err != nil {
			t.Errorf("Serve left its socket open: %v", err)
		}
	}
}

func TestConfigErrorsNameFieldAndBound(t *testing.T) {
	for want, c := range map[string]radpool.Config{
		"": {},
		"radpool: MaxRequestTime is 3m0s: must be 1ms to 2m0s":                                            {MaxRequestTime: 3 * time.Minute},
		"radpool: MaxRequestTime is -1s: must be 1ms to 2m0s":                                             {MaxRequestTime: -time.Second},
		"radpool: CleanupDelay is 31s: must be 1ms to 30s":                                                {CleanupDelay: 31 * time.Second},
		"radpool: MaxRequests is -1: must be 1 to 16777216":                                               {MaxRequests: -1},
		"radpool: MaxServers is 65537: must be 1 to 65536":                                                {MaxServers: 65537},
		"radpool: StartServers is 11: must be 1 to 10 (MaxServers)":                                       {StartServers: 11, MaxServers: 10},
		"radpool: MaxSpareServers is 11: must be 1 to 10 (MaxServers)":                                    {MaxSpareServers: 11, MaxServers: 10},
		"radpool: MinSpareServers is 6: must be 1 to 5 (MaxSpareServers)":                                 {MinSpareServers: 6, MaxSpareServers: 5},
		"radpool: MaxQueueSize is 1: must be 2 to 1048576":                                                {MaxQueueSize: 1},
		"radpool: MaxBatch is 4097: must be 1 to 4096":                                                    {MaxBatch: 4097},
		"radpool: Readers is 257: must be 1 to 256":                                                       {Readers: 257},
		"radpool: Readers is -1: must be 1 to 256":                                                        {Readers: -1},
		"radpool: ReceiveBuffer is 4095: must be 4096 to 1073741823":                                      {ReceiveBuffer: 4095},
		"radpool: ReceiveBuffer is 1073741824: must be 4096 to 1073741823":                                {ReceiveBuffer: 1 << 30},
		"radpool: MaxAttributes is 2039: must be 1 to 2038":                                               {MaxAttributes: 2039},
		"radpool: MaxRequestsPerServer is -1: must be 0 to 2147483647":                                    {MaxRequestsPerServer: -1},
		"radpool: MaxQueueSize is 1: must be 2 to 1048576\nradpool: MaxServers is -5: must be 1 to 65536": {MaxQueueSize: 1, MaxServers: -5},
	} {
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%+v: got %q, want %q", c, got, want)
		}
	}
}
