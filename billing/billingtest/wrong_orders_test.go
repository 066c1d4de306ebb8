package billingtest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// However many orders end in something else, any-order tells the first three, a line each,
// and how many more there are.
func TestWrongOrdersAreToldShortly(t *testing.T) {
	const (
		natural = "Start twice, Interim 1 twice, Interim 2 twice, Stop twice: InputOctets is 7, must be 500000"
		sixth   = "Start twice, Stop twice, Interim 2 twice, Interim 1 twice: InputOctets is 7, must be 500000"
	)
	for _, c := range []struct {
		wrong []int // the orders that are, of 36; nil: all
		first string
		lines int
		last  string
	}{
		{[]int{5}, sixth, 1, sixth},
		{[]int{0, 4, 5}, natural, 3, sixth},
		{[]int{0, 4, 5, 35}, natural, 4, "and 1 more"},
		{nil, natural, 4, "and 33 more"},
	} {
		f := fault{make: func(w *wrong) {
			w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) {
				var order int
				if n, _ := fmt.Sscanf(rec.SessionID, "order-%d", &order); n == 1 && (c.wrong == nil || slices.Contains(c.wrong, order)) {
					e.InputOctets = 7
				}
			})
		}}
		errs := billingtest.Check(t.Context(), f.factory, "any-order")
		if len(errs) != 1 {
			t.Errorf("%v: %d failures, must be one: %v", c.wrong, len(errs), errors.Join(errs...))
			continue
		}
		head, rest, _ := strings.Cut(errs[0].Error(), ":\n\t")
		lines := strings.Split(rest, "\n\t")
		if !strings.HasSuffix(head, "of 36 orders some do not end as its records say") || len(lines) != c.lines || lines[0] != c.first || lines[len(lines)-1] != c.last {
			t.Errorf("%v: %v", c.wrong, errs[0])
		}
	}
}

// What is kept of several Starts and Stops is the back end's to say: the others are compared with
// the first order, which is named.
func TestWrongTimesAreToldShortly(t *testing.T) {
	for i := range accountFaults {
		f := &accountFaults[i]
		if f.name != "of two Stops the last to arrive wins" {
			continue
		}
		err := errors.Join(billingtest.Check(t.Context(), f.factory, "any-order")...)
		if err == nil || strings.Count(err.Error(), "\n") != 4 || !strings.HasSuffix(err.Error(), "\n\tand 9 more") ||
			!strings.Contains(err.Error(), "do not end as after Start, Start 2 s later, Stop, Stop 2 s later:\n\tStart, Start 2 s later, Stop 2 s later, Stop: Stop is ") {
			t.Errorf("%v", err)
		}
		return
	}
	t.Fatal("there is no such back end any more")
}
