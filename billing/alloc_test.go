//go:build !race && !radpooldebug

package billing_test

import (
	"context"
	"testing"

	"github.com/radpool/radpool/radpool"
)

// baseline is what it costs to make a Request and a Response by hand: the server
// has them in the arena.
func (h *hot) baseline(tb testing.TB) float64 {
	nothing := *h
	nothing.processor = radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
		resp.Code = h.want
	})
	return testing.AllocsPerRun(200, func() { nothing.run(tb) })
}

// TestAllocations is the budget of the request path: the strings in one piece, and
// the list of the reply's attributes. MS-CHAP pays for DES, MD4 and its keys.
func TestAllocations(t *testing.T) {
	budget := map[string]float64{"PAP": 2, "CHAP": 2, "reject": 2, "Interim": 1, "MS-CHAPv2": 60}
	for name, h := range hotRequests(t) {
		h.run(t)
		if got := testing.AllocsPerRun(200, func() { h.run(t) }) - h.baseline(t); got > budget[name] {
			t.Errorf("%s: %v allocations, at most %v", name, got, budget[name])
		} else {
			t.Logf("%s: %v allocations", name, got)
		}
	}
}
