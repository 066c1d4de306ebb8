package radpool_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// exits is a Handler that ends its goroutine for the user "exit", and takes five
// seconds for "blocks".
func exits(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	switch rfc2865.UserName_GetString(req.Packet) {
	case "exit":
		runtime.Goexit()
	case "blocks":
		time.Sleep(5 * time.Second)
	case "10ms":
		time.Sleep(10 * time.Millisecond)
	}
	accept(ctx, req, resp)
}

// A handler that ends the reader's goroutine costs its own request, not the
// replies that were ready, nor what came with it.
func TestExitInAReaderLosesNoOther(t *testing.T) {
	inBatches(t, withReaders(radpool.Config{}, exits), func(_ *testing.T, b *batches) {
		for i := range byte(10) {
			b.send(i*10, "a", "b", "exit", "c", "d")
			b.answered("at once", i*10, i*10+1, i*10+3, i*10+4)
			time.Sleep(time.Second)
		}
	})
}

// A lent worker that is replaced does not keep what waits from the idle ones for
// as long as that takes.
func TestReplacementOfALentWorkerHoldsUpNobody(t *testing.T) {
	for _, most := range []int{1, 2} {
		s := withReaders(radpool.Config{MaxRequestsPerServer: most, StartServers: 8, MinSpareServers: 8}, exits)
		s.Hooks.WorkerStop = func(int) { time.Sleep(time.Second) }
		inBatches(t, s, func(_ *testing.T, b *batches) {
			b.send(0, "a", "b", "c", "d", "e")
			b.answered("at once", 0, 1, 2, 3, 4)
		})
	}
}

// Also when the server has begun to end, a handler that blocks holds up nobody.
func TestShutdownWhileAReaderIsHeldUp(t *testing.T) {
	s := withReaders(radpool.Config{}, exits)
	s.Policy = radpool.Fixed(4) // so that no worker that is being started helps
	inBatches(t, s, func(t *testing.T, b *batches) {
		b.send(0, "before", "blocks", "with", "with")
		synctest.Wait()
		ended := make(chan error, 1)
		go func() { ended <- s.Shutdown(context.Background()) }()
		time.Sleep(holdUpLimit)
		b.answered("after 15 ms", 0, 2, 3)
		if err := <-ended; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		b.answered("at the end", 0, 1, 2, 3)
	})
}

// A Drop hook that ends its goroutine, as t.FailNow does, is misuse, and yet the
// server ends.
func TestExitInDropHookLosesNoWorker(t *testing.T) {
	s := withReaders(radpool.Config{MaxQueueSize: 2}, exits)
	s.Hooks.Drop = func(i radpool.DropInfo) {
		if i.Outcome == radpool.QueueFull {
			runtime.Goexit()
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s.Clients = clients(t, radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(testSecret)})
		b := newBatches(t, authAddr.Port())
		served := serveBatches(s, b, radpool.Auth)
		time.Sleep(time.Second)
		b.send(0, "a", "b", "c", "d", "e")
		b.answered("at once", 0, 1)
		b.send(10, "a")
		b.answered("afterwards", 10)
		_ = s.Close()
		if err := <-served; !errors.Is(err, radpool.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

// Readers that are held up hold no memory for datagrams: who takes over has it.
func TestDeposedReadersHoldNoBuffers(t *testing.T) {
	inBatches(t, withReaders(radpool.Config{}, exits), func(t *testing.T, b *batches) {
		for i := range byte(20) {
			b.send(i*10, "before", "blocks", "with")
			time.Sleep(holdUpLimit)
			b.answered("after 15 ms", i*10, i*10+2)
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		if len(b.buffers) != 1 {
			t.Errorf("%d readers have memory of their own", len(b.buffers))
		}
		b.answered("at the end", 1, 11, 191)
	})
}

// What one reader runs of the requests to another's socket is answered by that.
func TestReaderAnswersOnTheRightSocket(t *testing.T) {
	s := withReaders(radpool.Config{MaxServers: 1}, func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		if req.LocalAddr.Port() != authAddr.Port() != (req.Identifier >= 100) {
			resp.Fail(errors.New("at the wrong socket"))
			return
		}
		time.Sleep(100 * time.Microsecond)
		accept(ctx, req, resp)
	})
	inBatches(t, s, func(t *testing.T, a *batches) {
		b := newBatches(t, authAddr.Port()+1)
		a.wants = func(id byte) bool { return id < 100 }
		b.wants = func(id byte) bool { return id >= 100 }
		served := serveBatches(s, b, radpool.Auth)
		for i := range byte(9) {
			a.send(i*10, "a", "b", "c", "d", "e")
			b.send(100+i*10, "a", "b", "c", "d", "e")
			time.Sleep(20 * time.Millisecond)
			a.answered("on the first", i*10, i*10+1, i*10+2, i*10+3, i*10+4)
			b.answered("on the second", 100+i*10, 101+i*10, 102+i*10, 103+i*10, 104+i*10)
		}
		if len(a.bad)+len(b.bad) > 0 {
			t.Errorf("on the wrong socket: %v %v", a.bad, b.bad)
		}
		b.close() // by its owner
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

// manyAtOnce counts the requests that came in batches.
type manyAtOnce struct {
	radpool.HandlerFunc
	batched atomic.Int32
}

func (m *manyAtOnce) BatchSize() int { return 0 }

func (m *manyAtOnce) HandleBatch(batch []*radpool.Exchange) {
	m.batched.Add(int32(len(batch)))
	exit := false
	for _, x := range batch {
		exit = exit || rfc2865.UserName_GetString(x.Request.Packet) == "exit"
		accept(x.Ctx, x.Request, x.Response)
	}
	if exit {
		runtime.Goexit()
	}
}

func TestReaderRunsBatches(t *testing.T) {
	h := &manyAtOnce{HandlerFunc: accept}
	s := &radpool.Server{Handler: h, Config: radpool.Config{RunInReader: radpool.Yes, MaxRequestsPerServer: 7}}
	inBatches(t, s, func(t *testing.T, b *batches) {
		for i := range byte(12) {
			b.send(i*10, "a", "b", "c", "d", "e")
			b.answered("at once", i*10, i*10+1, i*10+2, i*10+3, i*10+4)
			b.send(i*10+5, "a", "exit", "c")
			synctest.Wait()
			time.Sleep(time.Second)
		}
		if st := s.Stats(); h.batched.Load() < 60 || st.RunInReader < 60 || st.Failed == 0 || st.Replied+st.Failed != 12*8 {
			t.Errorf("%d in batches: %+v", h.batched.Load(), st)
		}
	})
}

// The socket is closed by its owner while a handler holds its reader up.
func TestSocketClosedUnderAReader(t *testing.T) {
	for _, wait := range []time.Duration{0, 9 * time.Millisecond, holdUpLimit} {
		s := withReaders(radpool.Config{}, exits)
		inBatches(t, s, func(t *testing.T, _ *batches) {
			b := newBatches(t, authAddr.Port()+1)
			served := serveBatches(s, b, radpool.Auth)
			b.send(0, "before", "blocks", "with")
			synctest.Wait()
			time.Sleep(wait)
			b.close()
			if err := <-served; !errors.Is(err, net.ErrClosed) {
				t.Errorf("Serve: %v", err)
			}
			time.Sleep(10 * time.Second)
			b.answered("before the end", 0, 1, 2)
		})
	}
}

// A handler that blocks begins at the moment in which the watchdog, having seen
// nothing for a while, goes to sleep.
func TestHandlerBlocksAsTheWatchdogSleeps(t *testing.T) {
	s := withReaders(radpool.Config{}, exits)
	s.Policy = radpool.Fixed(40)
	inBatches(t, s, func(_ *testing.T, b *batches) {
		for i := range byte(30) {
			id := i * 8
			b.send(id, "a") // wakes it, and for 20 looks it sees nothing more
			synctest.Wait()
			time.Sleep(21 * 5 * time.Millisecond)
			b.send(id+1, "before", "blocks", "with")
			time.Sleep(holdUpLimit)
			b.answered("after 15 ms", id, id+1, id+3)
			time.Sleep(10 * time.Second)
		}
	})
}

// A handler comes back in the very moment in which the watchdog finds that it has
// held its reader up, and the next one blocks: whoever was first, there is one
// reader, and nobody is held up.
func TestHandlerComesBackAsItsReaderIsDeposed(t *testing.T) {
	s := withReaders(radpool.Config{}, exits)
	s.Policy = radpool.Fixed(40)
	inBatches(t, s, func(_ *testing.T, b *batches) {
		for i := range byte(25) {
			id := i * 10
			b.send(id, "before", "10ms", "blocks", "with")
			b.send(id+4, "blocks", "with")
			time.Sleep(10*time.Millisecond + holdUpLimit)
			b.answered("in time", id, id+1, id+3, id+5)
			time.Sleep(20 * time.Second)
		}
	})
}
