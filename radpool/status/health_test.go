package status_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			word  = ""
			slow  time.Duration
			calls atomic.Int64
		)
		s := &source{}
		p := newPage(t, s, status.Options{Health: func(ctx context.Context) string {
			calls.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(slow):
			}
			return word
		}})
		want := func(code int, body string) {
			t.Helper()
			w := ask(p, "/healthz")
			if w.Code != code || w.Body.String() != body || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%d %q, want %d %q; %v", w.Code, w.Body, code, body, w.Header())
			}
		}
		want(http.StatusServiceUnavailable, "starting\n")
		if calls.Load() != 0 {
			t.Error("Health is asked before the server serves")
		}
		s.count(func(st *radpool.Stats) { st.Started = time.Now() })
		want(http.StatusOK, "ok\n")
		word = "database"
		want(http.StatusOK, "ok\n") // of the same second
		time.Sleep(time.Second)
		want(http.StatusServiceUnavailable, "database\n")

		// Many ask while the database hangs: one question, and an answer in time.
		time.Sleep(time.Second)
		word, slow = "", time.Hour
		before, began := calls.Load(), time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { want(http.StatusServiceUnavailable, "slow\n") })
		}
		all.Wait()
		if n, took := calls.Load()-before, time.Since(began); n != 1 || took != status.HealthTime {
			t.Errorf("%d questions, answered after %v", n, took)
		}
		time.Sleep(time.Second)
		slow = time.Millisecond
		want(http.StatusOK, "ok\n")
	})
}

// A server without a back end that could be asked is well while it serves.
func TestHealthOfNothing(t *testing.T) {
	if w := ask(newPage(t, serving(), status.Options{}), "/healthz"); w.Code != http.StatusOK || w.Body.String() != "ok\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}
