package radpool_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/radpool"
)

// Panics are one line a second in the log too: a hook that panics for what is
// dropped would otherwise let anybody fill the disk.
func TestPanicsDoNotFloodTheLog(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	s := &radpool.Server{
		Logger:  zap.New(core),
		Handler: radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) { panic("oh") }),
		Hooks: radpool.Hooks{
			Drop:  func(radpool.DropInfo) { panic("oh") },
			Panic: func(radpool.PanicInfo) { panic("oh") },
		},
	}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for range 3 {
			for i := range byte(50) {
				n.send([]byte("not RADIUS"))
				n.send(access(i, uint64(i), "ivan"))
				synctest.Wait()
			}
			time.Sleep(time.Second)
		}
		for _, message := range []string{"the handler panicked", "a hook panicked"} {
			lines := logs.FilterMessage(message).All()
			if len(lines) != 3 {
				t.Errorf("%q: %d lines in 3 s, want 3", message, len(lines))
				continue
			}
			if got := lines[1].ContextMap()["suppressed"]; got == uint64(0) {
				t.Errorf("%q: the second line does not say how many were suppressed", message)
			}
		}
		if st := s.Stats(); st.Panics != 150 || st.HookPanics != 450 {
			t.Errorf("%d and %d panics are counted, want 150 and 450", st.Panics, st.HookPanics)
		}
	})
}

// A handler that leaves a goroutine behind with its context breaks a rule, but the
// requests after it must not pay for that.
func TestContextUsedAfterTheHandlerReturned(t *testing.T) {
	var kept context.Context
	s := &radpool.Server{Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		if err := ctx.Err(); err != nil {
			t.Errorf("a new request's context has ended: %v", err)
		}
		kept = ctx
		accept(ctx, req, resp)
	})}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for i := range byte(50) {
			n.ask(access(i, uint64(i), "ivan"))
			select {
			case <-kept.Done():
			default:
				t.Error("the context of a request that is over has not ended")
			}
		}
	})
}
