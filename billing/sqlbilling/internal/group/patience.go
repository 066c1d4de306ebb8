package group

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// Attempts is how often a transaction is tried whose connection went away, or that
// another writer was faster than.
const Attempts = 5

// Again calls f until it ends in nil or in an error that is of none of classes, in which
// another attempt may do better at once; up to Attempts times.
func Again(d *dialect.Dialect, f func() error, classes ...dialect.Class) (err error) {
	for range Attempts {
		if err = f(); err == nil || !slices.Contains(classes, d.Classify(err)) {
			break
		}
	}
	return err
}

// Patiently calls f until it ends in nil or in an error that does not pass by
// itself, as a lock does, or until ctx is done. again, if not nil, is told of each
// further attempt.
func Patiently(ctx context.Context, d *dialect.Dialect, again func(), f func() error) error {
	const first, longest = time.Millisecond, 50 * time.Millisecond
	for wait := first; ; wait = min(2*wait, longest) {
		err := f()
		if err == nil || d.Classify(err) != dialect.Busy {
			return err
		}
		if again != nil {
			again()
		}
		timer := time.NewTimer(wait/2 + rand.N(wait/2+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w (%w)", err, ctx.Err())
		}
	}
}
