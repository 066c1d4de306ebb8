//go:build !race

package middleware_test

import (
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/middleware"
)

// What each costs in allocations where it has nothing to do but to let through, or knows the
// answer.
func TestAllocations(t *testing.T) {
	cache, err := middleware.NewCache(middleware.CacheOptions{TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	limit, err := middleware.NewLimit(middleware.LimitOptions{Burst: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	breaker, err := middleware.NewBreaker(middleware.BreakerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	back := granting(good)
	back.calls = make([]int, 0, 10_000)
	req := access("alice")
	for name, h := range map[string]billing.Handler{
		"Cache": cache.Middleware(back), "Limit": limit.Middleware(back), "Breaker": breaker.Middleware(back),
	} {
		_, _ = h.Authorize(t.Context(), req)
		if n := testing.AllocsPerRun(200, func() { _, _ = h.Authorize(t.Context(), req) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
