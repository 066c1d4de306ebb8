package radpool_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// What a handler may do to what it is given, and what becomes of the reply.
func TestHandlerMishandlesItsPackets(t *testing.T) {
	type handler = func(req *radpool.Request, resp *radpool.Response)
	own := func(c radius.Code) *radius.Packet {
		return &radius.Packet{Code: c, Identifier: 200, Secret: []byte("mine")}
	}
	for name, c := range map[string]struct {
		handle handler
		want   radpool.Outcome
		code   radius.Code
	}{
		"its own packet": {func(_ *radpool.Request, resp *radpool.Response) { resp.Packet = own(radius.CodeAccessReject) }, radpool.Replied, radius.CodeAccessReject},
		"layeh's Response": {func(req *radpool.Request, resp *radpool.Response) {
			resp.Packet = req.Response(radius.CodeAccessAccept)
		}, radpool.Replied, radius.CodeAccessAccept},
		"the request as the reply":  {func(req *radpool.Request, resp *radpool.Response) { resp.Packet = req.Packet }, radpool.Failed, 0},
		"the request, another code": {func(req *radpool.Request, resp *radpool.Response) { req.Code = 2; resp.Packet = req.Packet }, radpool.Replied, radius.CodeAccessAccept},
		"a changed header": {func(_ *radpool.Request, resp *radpool.Response) {
			resp.Code, resp.Identifier, resp.Secret = 2, 77, nil
			clear(resp.Authenticator[:])
		}, radpool.Replied, radius.CodeAccessAccept},
		"a changed request": {func(req *radpool.Request, resp *radpool.Response) { scribble(req); resp.Code = 2 }, radpool.Replied, radius.CodeAccessAccept},
		"no request":        {func(req *radpool.Request, resp *radpool.Response) { *req = radpool.Request{}; resp.Code = 2 }, radpool.Replied, radius.CodeAccessAccept},
		"a response of its own": {func(_ *radpool.Request, resp *radpool.Response) {
			*resp = radpool.Response{Packet: own(2)}
			resp.AddString(18, "x")
		}, radpool.Replied, radius.CodeAccessAccept},
		"no response": {func(_ *radpool.Request, resp *radpool.Response) { *resp = radpool.Response{} }, radpool.Unanswered, 0},
		"a nil attribute": {func(_ *radpool.Request, resp *radpool.Response) {
			resp.Code = 2
			resp.Attributes = radius.Attributes{nil}
		}, radpool.Failed, 0},
		"an attribute out of bounds": {func(_ *radpool.Request, resp *radpool.Response) { resp.Code = 2; resp.Attributes.Add(300, nil) }, radpool.Failed, 0},
		"code of another question":   {func(_ *radpool.Request, resp *radpool.Response) { resp.Code = radius.CodeAccountingResponse }, radpool.Failed, 0},
		"code out of bounds":         {func(_ *radpool.Request, resp *radpool.Response) { resp.Code = math.MinInt }, radpool.Failed, 0},
		"too many attributes": {func(_ *radpool.Request, resp *radpool.Response) {
			resp.Code = 2
			for range 300 {
				resp.Add(18, make([]byte, 253))
			}
		}, radpool.Failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &radpool.Server{Handler: radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) { c.handle(req, resp) })}
			inWorld(t, s, func(w *world) {
				n := w.nas(nasAddr)
				req := access(7, 7, "ivan", avp(rfc2865.ProxyState_Type, "p"))
				for range 2 { // the second time from the cache, or from a second run
					p := n.ask(req)
					if (p != nil) != (c.code != 0) || p != nil && (p.Code != c.code || p.Identifier != 7 || rfc2865.ProxyState_GetString(p) != "p") {
						t.Errorf("got %v, want code %v", p, c.code)
					}
				}
				if st := w.server.Stats(); st.Outcome(c.want) == 0 || st.Panics != 0 {
					t.Errorf("not %v: %+v", c.want, st)
				}
			})
		})
	}
}

func scribble(req *radpool.Request) {
	for _, a := range req.Attributes {
		clear(a.Attribute)
		a.Type = 1
	}
	req.Identifier, req.Code = 99, 4
	clear(req.Authenticator[:])
	req.Attributes = append(req.Attributes[:0], req.Attributes[1:]...)
}

// tangle is a BatchHandler that answers and then takes its batch apart.
type tangle struct{ batcher }

func (h *tangle) HandleBatch(batch []*radpool.Exchange) {
	h.batcher.HandleBatch(batch)
	for _, x := range batch {
		*x = radpool.Exchange{}
	}
	clear(batch)
}

func TestBatchHandlerMishandlesItsBatch(t *testing.T) {
	s := &radpool.Server{Handler: &tangle{batcher{delay: time.Second}}, Config: radpool.Config{MaxServers: 1}}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for i := range byte(20) {
			n.send(access(i, uint64(i), "ivan"))
		}
		time.Sleep(5 * time.Second)
		for i := range byte(20) {
			if n.reply(access(i, uint64(i), "ivan")) == nil {
				t.Errorf("no reply to request %d", i)
			}
		}
	})
}

// nonsense is a policy that says anything.
type nonsense struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (p *nonsense) Decide(now time.Time, _ radpool.Snapshot) radpool.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	number := func() int {
		return [...]int{0, 1, 2, -1, math.MinInt, math.MaxInt, 3}[p.rng.IntN(7)]
	}
	d := radpool.Decision{
		Spawn: min(number(), 3), Retire: number(), IdleLow: number(), IdleHigh: number(),
		Next: [...]time.Time{{}, now, now.Add(-time.Hour), time.Unix(0, 0), now.Add(time.Second)}[p.rng.IntN(5)],
	}
	if p.rng.IntN(10) == 0 {
		panic("I cannot decide")
	}
	return d
}

// A policy that talks nonsense slows the server down and breaks nothing.
// Such a policy may let nobody work for as long as it likes, but what was received
// is accounted for.
func TestPolicyThatTalksNonsense(t *testing.T) {
	seed := rand.Uint64()
	var runs atomic.Uint32
	s := &radpool.Server{Handler: counting(&runs), Policy: &nonsense{rng: rand.New(rand.NewPCG(seed, 0))}}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for i := range 200 {
			n.send(access(byte(i), uint64(i), "ivan"))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if st := w.server.Stats(); st.Replied+st.Expired+st.InFlight != 200 || st.Pool.Workers > radpool.MaxWorkers {
			t.Errorf("seed %d: %d of 200 replied, %d expired, %d in flight; %d workers", seed, st.Replied, st.Expired, st.InFlight, st.Pool.Workers)
		}
	})
}

// One worker, replaced after each request, with its hooks.
func TestOneWorkerForOneRequest(t *testing.T) {
	var starts, stops atomic.Int32
	s := &radpool.Server{
		Config: radpool.Config{MaxServers: 1, MaxRequestsPerServer: 1},
		Hooks: radpool.Hooks{
			WorkerStart: func(int) {
				if starts.Add(1) != stops.Load()+1 {
					t.Error("two workers at the same time")
				}
			},
			WorkerStop: func(int) { stops.Add(1) },
		},
	}
	b := &batcher{delay: time.Millisecond}
	s.Handler = b
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for i := range 100 {
			n.send(access(byte(i), uint64(i), "ivan"))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if st := w.server.Stats(); st.Replied != 100 || st.Pool.Recycled != 100 || starts.Load() != 101 || len(b.sizes) != 100 {
			t.Errorf("%d starts, %d batches: %+v", starts.Load(), len(b.sizes), st)
		}
	})
	if starts.Load() != stops.Load() {
		t.Errorf("%d workers started, %d stopped", starts.Load(), stops.Load())
	}
}

// Clients come, go and change their secrets while their requests are on the way:
// each request is answered under the secret that it came with, or not at all.
func TestClientsChangeUnderLoad(t *testing.T) {
	secrets := [][]byte{[]byte(testSecret), []byte("another")}
	s := &radpool.Server{Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		time.Sleep(15 * time.Millisecond)
		accept(ctx, req, resp)
	})}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		var want radpool.Stats
		for i := range 255 {
			var list []radpool.Client
			if i%3 < 2 {
				list = []radpool.Client{{Prefix: nasSubnet, Secret: secrets[i%3]}}
			}
			if err := s.Clients.Replace(list); err != nil {
				t.Fatal(err)
			}
			switch n.send(accounting(byte(i), 1, strconv.Itoa(i))); i % 3 {
			case 0:
				want.Replied++
			case 1:
				want.Unauthentic++
			case 2:
				want.UnknownClient++
			}
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		got := uint64(0)
		for b := n.receive(); b != nil; b = n.receive() {
			parseReply(t, b, accounting(b[1], 1, strconv.Itoa(int(b[1]))))
			got++
		}
		st := s.Stats()
		if st.Replied != want.Replied || st.Unauthentic != want.Unauthentic || st.UnknownClient != want.UnknownClient || got != want.Replied {
			t.Errorf("%d replies: %+v", got, st)
		}
	})
}

// After hours without a request nothing is left of the one before, and the next
// is answered.
func TestRequestsHoursApart(t *testing.T) {
	var runs atomic.Uint32
	inWorld(t, &radpool.Server{Handler: counting(&runs)}, func(w *world) {
		n := w.nas(nasAddr)
		req := access(1, 1, "ivan")
		for i := range uint32(5) {
			p := n.ask(req)
			if p == nil || binary.BigEndian.Uint32(rfc2865.Class_Get(p)) != i+1 {
				t.Errorf("after %d hours: %v", i, p)
			}
			time.Sleep(time.Hour)
		}
		if st := w.server.Stats(); st.Cache.Retained != 0 || st.Unresponsive != 0 {
			t.Errorf("something is left: %+v", st)
		}
	})
}
