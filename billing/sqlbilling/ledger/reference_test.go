package ledger_test

import (
	"testing"
	"time"
)

// Two payments whose references differ in a blank at the end are one to some databases: the
// second would be taken for the first again, and be lost. So neither is booked anywhere.
func TestReferenceThatEndsInABlank(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.priced("alice")
		before := f.number("SELECT COUNT(*) FROM radpool_ledger")
		for _, reference := range []string{"a ", " ", "a\u00a0 "} {
			if err := f.Deposit(t.Context(), "alice", reference, 5, time.Unix(1_800_000_000, 0)); err == nil {
				t.Errorf("%q is booked", reference)
			}
		}
		if n := f.number("SELECT COUNT(*) FROM radpool_ledger"); n != before {
			t.Errorf("%d entries", n-before)
		}
	})
}
