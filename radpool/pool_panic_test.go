package radpool_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

// A job that panics harms itself alone: it is reported, its worker replaced,
// and the next job runs.
func TestPoolRecoversPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events poolLog
		p := newTestPool(t, radpool.PoolConfig[string]{
			Policy:      radpool.Fixed(1),
			WorkerStart: func(w *radpool.Worker) { events.add("start%d", w.ID) },
			WorkerStop:  func(w *radpool.Worker) { events.add("stop%d", w.ID) },
			Run: func(w *radpool.Worker, jobs []string) {
				events.add("run%d:%s", w.ID, jobs[0])
				switch jobs[0] {
				case "panic":
					panic("boom")
				case "goexit":
					runtime.Goexit()
				}
			},
			Panic: func(w *radpool.Worker, jobs []string, v any, stack []byte) {
				events.add("panic%d:%s:%v", w.ID, jobs[0], v)
				if !bytes.Contains(stack, []byte("pool_panic_test.go")) {
					t.Errorf("the stack does not show the job:\n%s", stack)
				}
			},
		})
		for _, v := range []string{"a", "panic", "b", "goexit", "c"} {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, v)
		}
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		want := "start1 run1:a run1:panic panic1:panic:boom stop1 " +
			"start2 run2:b run2:goexit panic2:goexit:radpool: runtime.Goexit called stop2 " +
			"start3 run3:c stop3"
		if got := events.take(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if s := p.Stats(); s.Panics != 2 || s.Completed != 3 || s.Failed != 2 || s.Recycled != 2 {
			t.Errorf("%+v", s)
		}
		closePool(t, p)
	})
}

func TestPoolRecoversPanicsOfHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events poolLog
		hold := make(chan struct{})
		p := newTestPool(t, radpool.PoolConfig[string]{
			MaxQueueSize: 1,
			Policy:       radpool.Fixed(1),
			WorkerStart:  func(*radpool.Worker) { panic("start") },
			WorkerStop:   func(*radpool.Worker) { panic("stop") },
			Drop:         func(string, radpool.Class, radpool.Drop) { panic("drop") },
			Run:          func(_ *radpool.Worker, jobs []string) { events.add("%s", jobs[0]); <-hold },
			Panic: func(w *radpool.Worker, jobs []string, v any, _ []byte) {
				events.add("%v:%v:%v", v, w != nil, jobs == nil)
				panic("the hook itself")
			},
		})
		_ = p.Submit(radpool.ClassAccess, time.Time{}, "a")
		synctest.Wait()
		_ = p.Submit(radpool.ClassInterim, time.Time{}, "i")
		_ = p.Submit(radpool.ClassAccess, time.Time{}, "b")
		close(hold)
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if got := events.take(); got != "start:true:true a drop:false:true b stop:true:true" {
			t.Error(got)
		}
		if s := p.Stats(); s.Panics != 6 || s.Completed != 2 || s.Evicted != 1 {
			t.Errorf("%+v", s)
		}
		closePool(t, p)
	})
}

// Without a hook a panic is still not silent, and not a flood either.
func TestPoolLogsPanicsWithoutHook(t *testing.T) {
	var out bytes.Buffer
	log.SetOutput(&out)
	defer log.SetOutput(os.Stderr)
	synctest.Test(t, func(t *testing.T) {
		p := newTestPool(t, radpool.PoolConfig[int]{
			Policy: radpool.Fixed(2),
			Run:    func(_ *radpool.Worker, jobs []int) { panic(fmt.Sprint("job ", jobs[0])) },
		})
		for i := range 100 {
			_ = p.Submit(radpool.ClassAccess, time.Time{}, i)
		}
		time.Sleep(time.Second)
		_ = p.Submit(radpool.ClassAccess, time.Time{}, 100)
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		closePool(t, p)
	})
	if n := strings.Count(out.String(), "radpool: panic in a pool: job"); n != 2 {
		t.Errorf("%d panics logged, want one a second:\n%s", n, out.String())
	}
}
