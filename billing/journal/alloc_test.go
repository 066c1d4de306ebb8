//go:build !race

package journal_test

import (
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

// What a request costs more than without a journal: a context with a timeout, mostly.
func TestAllocations(t *testing.T) {
	c := newCore()
	h := open(t, newFile(t), c, journal.Options{GrantAge: 1}).Handler()
	rec, req := record("s1", billing.InterimUpdate, 1), access("alice")
	for what, f := range map[string][2]func(){
		"Authorize": {func() { _, _ = h.Authorize(t.Context(), req) }, func() { _, _ = c.Authorize(t.Context(), req) }},
		"Account":   {func() { _ = h.Account(t.Context(), rec) }, func() { _ = c.Account(t.Context(), rec) }},
	} {
		n := testing.AllocsPerRun(200, f[0]) - testing.AllocsPerRun(200, f[1])
		t.Logf("%s: %v allocations", what, n)
		if n > 6 {
			t.Errorf("%s: %v allocations more than without a journal", what, n)
		}
	}
	buf := journal.Encode(nil, full(t))
	if n := testing.AllocsPerRun(200, func() { buf = journal.Encode(buf[:0], rec) }); n != 0 {
		t.Errorf("encoding allocates %v times", n)
	}
}
