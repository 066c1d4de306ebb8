package status_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source is a server that has counted what a test says.
type source struct {
	mu      sync.Mutex
	stats   radpool.Stats
	waiting []radpool.WaitingNAS
}

func (s *source) Stats() radpool.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *source) Waiting(n int) []radpool.WaitingNAS { return s.waiting[:min(n, len(s.waiting))] }

func (s *source) count(f func(*radpool.Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// serving is a server that serves.
func serving() *source { return &source{stats: radpool.Stats{Started: time.Now()}} }

func newPage(t *testing.T, s status.Source, o status.Options) *status.Page {
	t.Helper()
	p, err := status.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// ask asks for a path as a browser on this machine does.
func ask(p http.Handler, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:8812"
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

// snapshot is what status.json gives.
func snapshot(t *testing.T, p http.Handler) (s status.Snapshot) {
	t.Helper()
	if err := json.Unmarshal(ask(p, "/status.json").Body.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// add counts n replies to Access-Requests that took d.
func add(st *radpool.Stats, n uint64, d time.Duration) {
	st.Received += n
	st.Replied += n
	i := 0
	for radpool.ResponseTimeBound(i) < d {
		i++
	}
	st.AccessTimes.Buckets[i] += n
	st.AccessTimes.Sum += time.Duration(n) * d
}
