package middleware_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/middleware"
)

func limited(t *testing.T, o middleware.LimitOptions, h billing.Handler) (*middleware.Limit, billing.BatchHandler) {
	t.Helper()
	l, err := middleware.NewLimit(o)
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Middleware(h).(billing.BatchHandler)
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := granting(good)
		l, h := limited(t, middleware.LimitOptions{Burst: 2, Interval: time.Minute}, back)
		p := &billing.Processor{Handler: h}
		outcomes := func(reqs ...billingtest.Request) string {
			var all []string
			for _, r := range billingtest.RunBatch(t, p, reqs...) {
				all = append(all, strings.TrimPrefix(r.Outcome(), "Access-"))
			}
			return strings.Join(all, " ")
		}
		alice, wrong, bob := billingtest.PAP("alice", "pw"), billingtest.PAP("Alice ", "guess"), billingtest.PAP("bob", "pw")
		for i, c := range []struct {
			after time.Duration
			reqs  []billingtest.Request
			want  string
		}{
			{0, []billingtest.Request{alice, wrong, alice, bob}, "Accept Reject Reject Accept"},
			{30 * time.Second, []billingtest.Request{alice, bob}, "Reject Accept"},
			{30 * time.Second, []billingtest.Request{alice}, "Accept"},
			{0, []billingtest.Request{alice}, "Reject"},
			{time.Hour, []billingtest.Request{alice, alice, alice}, "Accept Accept Reject"},
		} {
			time.Sleep(c.after)
			if got := outcomes(c.reqs...); got != c.want {
				t.Errorf("step %d: %s, want %s", i, got, c.want)
			}
		}
		if s := l.Stats(); s.Limited != 4 || s.Keys != 2 || s.Evicted != 0 {
			t.Errorf("%+v", s)
		}
		if calls, asked := back.asked(); asked != 7 || calls != 4 {
			t.Errorf("the back end was asked %d times about %d", calls, asked)
		}
		if n := p.Stats().Rejected[billing.ReasonTooManyAttempts]; n != 4 {
			t.Errorf("%d are counted as limited", n)
		}
	})
}

func TestLimitByStationAndSilent(t *testing.T) {
	_, h := limited(t, middleware.LimitOptions{Burst: 1, By: middleware.ByCallingStation, Silent: true}, granting(good))
	for i, c := range []struct {
		user, station string
		err           error
	}{
		{"alice", "02-00-00-00-00-01", nil}, {"bob", "02-00-00-00-00-01", middleware.ErrLimited}, {"bob", "02-00-00-00-00-02", nil},
		{"alice", "", nil}, {"alice", "", nil},
	} {
		req := &billing.AccessRequest{UserName: c.user, CallingStationID: c.station}
		if _, err := h.Authorize(t.Context(), req); !errors.Is(err, c.err) {
			t.Errorf("%d: %v, want %v", i, err, c.err)
		}
	}
}

// What is out of its bounds is named.
func TestOptions(t *testing.T) {
	for want, err := range map[string]error{
		"Burst is -1, must be 1 to 1000000": second(middleware.NewLimit(middleware.LimitOptions{Burst: -1})),
		"Interval is 1ns":                   second(middleware.NewLimit(middleware.LimitOptions{Interval: 1})),
		"MaxKeys is -1":                     second(middleware.NewLimit(middleware.LimitOptions{MaxKeys: -1})),
		"TTL is 2h0m0s":                     second(middleware.NewCache(middleware.CacheOptions{TTL: 2 * time.Hour})),
		"NegativeTTL is -1ns":               second(middleware.NewCache(middleware.CacheOptions{NegativeTTL: -1})),
		"MaxGrants is -1":                   second(middleware.NewCache(middleware.CacheOptions{MaxGrants: -1})),
		"Failures is 1001":                  second(middleware.NewBreaker(middleware.BreakerOptions{Failures: 1001})),
		"ProbeInterval is 2m0s":             second(middleware.NewBreaker(middleware.BreakerOptions{ProbeInterval: 2 * time.Minute})),
		"Timeout is -1ns":                   second(middleware.NewBreaker(middleware.BreakerOptions{Timeout: -1})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
