package radpool_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// withReaders is a server whose readers run handlers.
func withReaders(c radpool.Config, h radpool.HandlerFunc) *radpool.Server {
	c.RunInReader = radpool.Yes
	return &radpool.Server{Config: c, Handler: h}
}

// userHandler has each User-Name take its own time.
func userHandler(times map[string]time.Duration) radpool.HandlerFunc {
	return func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		time.Sleep(times[rfc2865.UserName_GetString(req.Packet)])
		accept(ctx, req, resp)
	}
}

// As long as handlers are quick nobody is woken for them.
func TestReaderRunsQuickHandlers(t *testing.T) {
	s := withReaders(radpool.Config{}, accept)
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for i := range 200 {
			if n.ask(access(byte(i), uint64(i), "quick")) == nil {
				t.Fatalf("request %d was not answered", i)
			}
		}
		// A worker that has just been started may be there first.
		if st := s.Stats(); st.RunInReader < 180 || st.Replied != 200 || st.Pool.Completed != 200 {
			t.Errorf("the reader ran %d of 200: %+v", st.RunInReader, st)
		}
	})
}

func TestReaderThatOnlyReads(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Config: radpool.Config{RunInReader: radpool.No}}
	inWorld(t, s, func(w *world) {
		if w.nas(nasAddr).ask(access(1, 1, "quick")) == nil || s.Stats().RunInReader != 0 {
			t.Errorf("got %+v", s.Stats())
		}
	})
}

// holdUpLimit is what a request may have to wait behind the handler of another:
// the promise is watchInterval + heldUp.
const holdUpLimit = 15 * time.Millisecond

// A handler that blocks delays nobody but its own request: not those that come
// after it, nor those that came with it, nor the replies that were ready before
// it.
func TestBlockedHandlerHoldsUpNobody(t *testing.T) {
	s := withReaders(radpool.Config{}, userHandler(map[string]time.Duration{"blocks": 5 * time.Second}))
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for round := range byte(3) { // later rounds find the reader handing over, or trying again
			id := round * 10
			for i, user := range []string{"before", "blocks", "with", "with"} {
				n.send(access(id+byte(i), uint64(id)+uint64(i), user))
			}
			time.Sleep(holdUpLimit)
			n.send(access(id+5, uint64(id)+5, "after"))
			for _, who := range []string{"before", "with", "with", "after"} {
				if n.receive() == nil {
					t.Errorf("round %d: %q is held up", round, who)
				}
			}
			if n.receive() != nil {
				t.Errorf("round %d: the handler that blocks has answered", round)
			}
			time.Sleep(10 * time.Second)
			if n.receive() == nil {
				t.Errorf("round %d: the handler that blocked did not answer", round)
			}
		}
		if st := s.Stats(); st.ReadersHeldUp < 1 || st.Replied != 15 || st.InFlight != 0 {
			t.Errorf("%d readers were held up, want at least 1: %+v", st.ReadersHeldUp, st)
		}
	})
}

// Whoever runs the handlers, there are never more at once than MaxServers, no
// worker's state is used by two, and a worker is replaced when its time has come.
func TestReadersKeepTheMeaningOfWorkers(t *testing.T) {
	for _, most := range []int{1, 2, 7} {
		var running, highest atomic.Int32
		var starts atomic.Int32
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 0))
		var mu sync.Mutex
		s := withReaders(radpool.Config{MaxServers: most, MaxRequestsPerServer: 10}, func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			highest.Store(max(highest.Load(), running.Add(1)))
			defer running.Add(-1)
			mu.Lock()
			took := time.Duration(0)
			if rng.IntN(20) == 0 {
				took = time.Duration(rng.IntN(30)) * time.Millisecond
			}
			mu.Unlock()
			time.Sleep(took)
			accept(ctx, req, resp)
		})
		s.Hooks.WorkerStart = func(int) { starts.Add(1) }
		inWorld(t, s, func(w *world) {
			n := w.nas(nasAddr)
			for i := range 500 {
				n.send(access(byte(i), uint64(i), "ivan"))
				if i%5 == 0 {
					time.Sleep(time.Millisecond)
				}
				if i%200 == 199 {
					time.Sleep(time.Second) // or the Identifiers would run out
				}
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			st := s.Stats()
			if int(highest.Load()) > most || st.InFlight != 0 || st.RunInReader == 0 || running.Load() != 0 {
				t.Errorf("seed %d: MaxServers %d: %d ran at once, %d in readers: %+v", seed, most, highest.Load(), st.RunInReader, st)
			}
			if ran := int(st.Pool.Completed); int(starts.Load()) < ran/10 {
				t.Errorf("seed %d: %d workers have run %d requests, at most 10 each", seed, starts.Load(), ran)
			}
		})
	}
}

// From quick handlers to slow ones, to blocking ones and back: all is answered,
// and in the end the reader runs quick ones again.
func TestReaderFollowsTheHandler(t *testing.T) {
	var takes atomic.Int64
	s := withReaders(radpool.Config{MaxServers: 512}, func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		time.Sleep(time.Duration(takes.Load()))
		accept(ctx, req, resp)
	})
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		id := uint64(0)
		for _, took := range []time.Duration{0, 5 * time.Millisecond, 0, 5 * time.Second, 0} {
			takes.Store(int64(took))
			before := s.Stats()
			for range 100 {
				n.send(access(byte(id), id, "ivan"))
				id++
				time.Sleep(20 * time.Millisecond)
			}
			time.Sleep(took)
			synctest.Wait()
			st := s.Stats()
			if st.Replied-before.Replied != 100 {
				t.Errorf("handlers of %v: %d of 100 were answered", took, st.Replied-before.Replied)
			}
			if in := st.RunInReader - before.RunInReader; took == 0 && in < 50 || took > 0 && in > 50 {
				t.Errorf("handlers of %v: the reader ran %d of 100", took, in)
			}
			time.Sleep(20 * time.Second)
		}
	})
}

// A handler that ends its goroutine takes the reader with it: another follows.
func TestHandlerEndsTheReadersGoroutine(t *testing.T) {
	s := withReaders(radpool.Config{}, func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		if rfc2865.UserName_GetString(req.Packet) == "exit" {
			runtime.Goexit()
		}
		accept(ctx, req, resp)
	})
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for i := range byte(10) {
			if n.ask(access(2*i, uint64(2*i), "exit")) != nil {
				t.Error("answered")
			}
			if n.ask(access(2*i+1, uint64(2*i+1), "ivan")) == nil {
				t.Fatal("there is no reader any more")
			}
		}
		if st := s.Stats(); st.Failed != 10 || st.Replied != 10 {
			t.Errorf("got %+v", st)
		}
	})
}

// The end comes also when handlers hold readers up.
func TestEndWhileReadersAreHeldUp(t *testing.T) {
	for _, wait := range []time.Duration{0, holdUpLimit} { // before and after another has taken over
		s := withReaders(radpool.Config{}, func(ctx context.Context, _ *radpool.Request, resp *radpool.Response) {
			<-ctx.Done()
			resp.Fail(ctx.Err())
		})
		inWorld(t, s, func(w *world) {
			n := w.nas(nasAddr)
			for i := range byte(5) {
				n.send(access(i, uint64(i), "ivan"))
			}
			synctest.Wait()
			time.Sleep(wait)
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if err := s.Shutdown(ctx); err != context.DeadlineExceeded { //nolint:errorlint // it is returned as it is
				t.Errorf("Shutdown: %v", err)
			}
			if st := s.Stats(); st.InFlight != 0 || st.Replied != 0 {
				t.Errorf("got %+v", st)
			}
		})
	}
}
