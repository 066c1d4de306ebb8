package group

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

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
