package radpool_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// A naive reference: the first bound that is not less.
func bucketOf(d time.Duration) int {
	for i := range radpool.NumResponseTimeBuckets - 1 {
		if d <= radpool.ResponseTimeBound(i) {
			return i
		}
	}
	return radpool.NumResponseTimeBuckets - 1
}

func TestResponseTimeBuckets(t *testing.T) {
	var times []time.Duration
	for i := range radpool.NumResponseTimeBuckets - 1 {
		b := radpool.ResponseTimeBound(i)
		times = append(times, b-1, b, b+1)
		if i > 0 && b <= radpool.ResponseTimeBound(i-1) {
			t.Errorf("bound %d, %v, is not above the one before it", i, b)
		}
	}
	for n := range 63 {
		times = append(times, 1<<n-1, 1<<n, 1<<n+1)
	}
	times = append(times, -1, 0, -time.Hour, 1<<63-1)
	for range 10000 {
		times = append(times, time.Duration(rand.Int64()>>rand.IntN(63)))
	}
	for _, d := range times {
		if got, want := radpool.ResponseTimeBucket(d), bucketOf(d); got != want {
			t.Fatalf("%v is counted in bucket %d (up to %v), want %d (up to %v)",
				d, got, radpool.ResponseTimeBound(got), want, radpool.ResponseTimeBound(want))
		}
	}
	if first, last := radpool.ResponseTimeBound(0), radpool.ResponseTimeBound(radpool.NumResponseTimeBuckets-2); first != time.Microsecond || last != 100*time.Second {
		t.Errorf("the bounds go from %v to %v, want 1µs to 100s", first, last)
	}
}

func TestResponseTimeQuantile(t *testing.T) {
	var h radpool.ResponseTimes
	if h.Quantile(0.5) != 0 || h.Mean() != 0 || h.Count() != 0 {
		t.Errorf("without replies: p50 %v, mean %v, count %d, want 0", h.Quantile(0.5), h.Mean(), h.Count())
	}
	var all []time.Duration
	for range 20000 {
		d := time.Duration(rand.ExpFloat64() * float64(20*time.Millisecond))
		all = append(all, d)
		h.Buckets[bucketOf(d)]++
		h.Sum += d
	}
	slices.Sort(all)
	for _, q := range []float64{0.05, 0.5, 0.9, 0.99, 0.999} {
		got, want := h.Quantile(q), all[int(q*float64(len(all)))]
		if ratio := float64(got) / float64(want); ratio < 0.85 || ratio > 1.15 {
			t.Errorf("quantile %v is %v, of the times themselves it is %v", q, got, want)
		}
	}
	if got := h.Quantile(7); got < h.Quantile(0.999) {
		t.Errorf("quantile 7 is %v, want that of 1", got)
	}
	before := h
	h.Buckets[3]++
	h.Sum += 2 * time.Microsecond
	if d := h.Sub(&before); d.Count() != 1 || d.Buckets[3] != 1 || d.Mean() != 2*time.Microsecond {
		t.Errorf("the difference has %d replies of %v, want one of 2µs", d.Count(), d.Mean())
	}
	over := radpool.ResponseTimes{}
	over.Buckets[radpool.NumResponseTimeBuckets-1] = 1
	if got := over.Quantile(0.5); got != 100*time.Second {
		t.Errorf("what is over all bounds is said to be %v, want the greatest, 100s", got)
	}
}

// What a request has waited is part of its response time, what was answered from the
// cache or not at all is none, and each kind has its own.
func TestResponseTimesOfServer(t *testing.T) {
	took := 30 * time.Millisecond
	handler := radpool.HandlerFunc(func(_ context.Context, r *radpool.Request, w *radpool.Response) {
		time.Sleep(took)
		switch {
		case r.Code == radius.CodeAccountingRequest:
			w.Code = radius.CodeAccountingResponse
		case r.Identifier != 99:
			w.Code = radius.CodeAccessAccept
		}
	})
	cfg := radpool.Config{MaxServers: 1, RunInReader: radpool.No}
	inWorld(t, &radpool.Server{Handler: handler, Config: cfg}, func(w *world) {
		began := w.server.Stats().Started
		n := w.nas(nasAddr)
		first := access(1, 1, "ivan")
		n.send(first)
		n.send(access(2, 2, "ivan")) // waits for the first
		time.Sleep(2 * took)
		n.send(first)                 // again: answered from the cache
		n.send(access(99, 3, "ivan")) // silence is the answer
		n.send(accounting(3, 1, "s1"))
		time.Sleep(2 * took)
		synctest.Wait()

		st := w.server.Stats()
		if got := st.AccessTimes.Count(); got != st.AccessAccepts || got != 2 || st.AccessTimes.Sum != 3*took {
			t.Errorf("Access: %d replies in %v, want 2 in %v", got, st.AccessTimes.Sum, 3*took)
		}
		if st.AccessTimes.Buckets[bucketOf(took)] != 1 || st.AccessTimes.Buckets[bucketOf(2*took)] != 1 {
			t.Errorf("Access: counted in the wrong buckets: %v", st.AccessTimes.Buckets)
		}
		if got := st.AccountingTimes.Count(); got != 1 || st.AccountingTimes.Sum != 2*took {
			t.Errorf("accounting: %d replies in %v, want one in %v", got, st.AccountingTimes.Sum, 2*took)
		}
		if st.CoATimes.Count() != 0 {
			t.Errorf("CoA: %d replies, want none", st.CoATimes.Count())
		}
		if !began.Equal(time.Now().Add(-4*took)) || !st.Started.Equal(began) {
			t.Errorf("started at %v and %v, want %v", began, st.Started, time.Now().Add(-4*took))
		}
	})
}
