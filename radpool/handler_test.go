package radpool_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// A handler written for layeh.com/radius's own server runs unchanged.
func TestHandlerOfLayeh(t *testing.T) {
	var kept *radius.Request
	var second error
	h := radius.HandlerFunc(func(w radius.ResponseWriter, r *radius.Request) {
		kept = r // which its own server allows
		if rfc2865.UserName_GetString(r.Packet) == "nobody" {
			return
		}
		resp := r.Response(radius.CodeAccessAccept)
		_ = rfc2865.ReplyMessage_SetString(resp, "hello")
		if err := w.Write(resp); err != nil {
			t.Error(err)
		}
		_ = rfc2865.ReplyMessage_SetString(resp, "changed after it was written")
		second = w.Write(resp)
	})
	inWorld(t, &radpool.Server{Handler: radpool.FromRadius(h)}, func(w *world) {
		n := w.nas(nasAddr)
		p := n.ask(access(1, 1, "ivan", avp(rfc2865.ProxyState_Type, "p")))
		if p == nil || rfc2865.ReplyMessage_GetString(p) != "hello" || rfc2865.ProxyState_GetString(p) != "p" {
			t.Errorf("got %v", p)
		}
		if second == nil {
			t.Error("a second Write was no error")
		}
		if n.ask(access(2, 2, "nobody")) != nil {
			t.Error("silence was answered")
		}
		n.ask(access(3, 3, "olga"))
		if got := rfc2865.UserName_GetString(kept.Packet); got != "olga" || kept.RemoteAddr.(*net.UDPAddr).Port != 40000 {
			t.Errorf("what the handler kept has changed: %q from %v", got, kept.RemoteAddr)
		}
	})
}

func TestWriteAfterReturnIsAnError(t *testing.T) {
	late := make(chan radius.ResponseWriter, 1)
	h := radius.HandlerFunc(func(w radius.ResponseWriter, _ *radius.Request) { late <- w })
	inWorld(t, &radpool.Server{Handler: radpool.FromRadius(h)}, func(w *world) {
		w.nas(nasAddr).ask(access(1, 1, "ivan"))
		if err := (<-late).Write(radius.New(radius.CodeAccessAccept, nil)); err == nil {
			t.Error("no error")
		}
	})
}

func TestChainRunsOutermostFirst(t *testing.T) {
	var order []string
	named := func(name string) radpool.Middleware {
		return func(next radpool.Handler) radpool.Handler {
			return radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
				order = append(order, name)
				next.Handle(ctx, req, resp)
				order = append(order, "/"+name)
			})
		}
	}
	h := radpool.Chain(radpool.HandlerFunc(accept), named("a"), named("b"))
	req := radpool.NewRequest(radius.New(radius.CodeAccessRequest, []byte("s")), nil)
	h.Handle(t.Context(), req, radpool.NewResponse(req))
	if want := []string{"a", "b", "/b", "/a"}; !slices.Equal(order, want) {
		t.Errorf("ran %v, want %v", order, want)
	}
}

// batcher answers batches and remembers their sizes.
type batcher struct {
	mu    sync.Mutex
	sizes []int
	delay time.Duration
	size  int
}

func (b *batcher) BatchSize() int { return b.size }

func (b *batcher) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	b.HandleBatch([]*radpool.Exchange{{Ctx: ctx, Request: req, Response: resp}})
}

func (b *batcher) HandleBatch(batch []*radpool.Exchange) {
	b.mu.Lock()
	b.sizes = append(b.sizes, len(batch))
	b.mu.Unlock()
	time.Sleep(b.delay)
	for _, x := range batch {
		switch rfc2865.UserName_GetString(x.Request.Packet) {
		case "fail":
			x.Response.Fail(errors.New("not this one"))
		case "panic":
			panic("nor any other")
		default:
			accept(x.Ctx, x.Request, x.Response)
		}
	}
}

// Who has no use for batches is not given any.
func TestBatchSizeOfTheHandlerCounts(t *testing.T) {
	b := &batcher{delay: time.Second, size: 2}
	inWorld(t, &radpool.Server{Handler: b, Config: radpool.Config{MaxServers: 1, MaxBatch: 64}}, func(w *world) {
		n := w.nas(nasAddr)
		for i := range byte(5) {
			n.send(access(i, uint64(i), "ivan"))
			synctest.Wait()
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if want := []int{1, 2, 2}; !slices.Equal(b.sizes, want) {
			t.Errorf("batches of %v, want %v", b.sizes, want)
		}
	})
}

// A worker takes everything that waits, never waits for company, and one
// request's failure is its own.
func TestBatches(t *testing.T) {
	b := &batcher{delay: time.Second}
	s := &radpool.Server{Handler: b, Config: radpool.Config{MaxServers: 1, MaxBatch: 4}}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		n.send(access(0, 0, "ivan"))
		synctest.Wait()
		for i, user := range []string{"ivan", "olga", "fail", "ivan", "olga"} {
			n.send(access(byte(i+1), uint64(i+1), user))
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if want := []int{1, 4, 1}; !slices.Equal(b.sizes, want) {
			t.Errorf("batches of %v, want %v", b.sizes, want)
		}
		if st := w.server.Stats(); st.Replied != 5 || st.Failed != 1 {
			t.Errorf("got %+v", st)
		}
	})
}

func TestPanicFailsItsWholeBatch(t *testing.T) {
	b := &batcher{delay: time.Second}
	s := &radpool.Server{Handler: b, Config: radpool.Config{MaxServers: 1}}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		n.send(access(0, 0, "ivan"))
		synctest.Wait()
		for i, user := range []string{"ivan", "panic", "olga"} {
			n.send(access(byte(i+1), uint64(i+1), user))
		}
		time.Sleep(5 * time.Second)
		if st := w.server.Stats(); st.Replied != 1 || st.Failed != 3 || st.Panics != 1 {
			t.Errorf("got %+v", st)
		}
	})
}

// What a handler keeps by Clone is its own for ever.
func TestClone(t *testing.T) {
	var kept *radpool.Request
	h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		if kept == nil {
			kept = req.Clone()
		}
		accept(ctx, req, resp)
	})
	inWorld(t, &radpool.Server{Handler: h}, func(w *world) {
		n := w.nas(nasAddr)
		n.ask(access(1, 1, "ivan"))
		for i := range byte(20) {
			n.ask(access(i+2, uint64(i+2), "olga"))
		}
		if got := rfc2865.UserName_GetString(kept.Packet); got != "ivan" {
			t.Errorf("User-Name of the clone is %q now", got)
		}
	})
}

// database/sql and others derive contexts from the request's: they must end with
// it, and must not come to life with the next request.
func TestDerivedContextsEndWithTheRequest(t *testing.T) {
	var kept context.Context
	h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		if kept == nil {
			derived, cancel := context.WithCancel(ctx)
			context.AfterFunc(derived, cancel)
			kept = derived
			if deadline, ok := derived.Deadline(); !ok || deadline != req.Received.Add(9*time.Second) {
				t.Errorf("deadline %v, want 9s after %v", deadline, req.Received)
			}
		}
		if ctx.Err() != nil {
			t.Errorf("the context has ended at the start: %v", ctx.Err())
		}
		accept(ctx, req, resp)
	})
	inWorld(t, &radpool.Server{Handler: h, Config: radpool.Config{MaxServers: 1}}, func(w *world) {
		n := w.nas(nasAddr)
		for i := range byte(3) {
			n.ask(access(i, uint64(i), "ivan"))
			if kept.Err() != context.Canceled {
				t.Errorf("after request %d the first one's context says %v", i, kept.Err())
			}
		}
	})
}
