package radpool

import (
	"fmt"
	"time"
)

// MaxWorkers is the largest number of workers that a [Pool] can be given.
const MaxWorkers = 65536

// Fixed is the [Policy] of a constant number of workers, from 1 to [MaxWorkers].
type Fixed int

// Validate returns an error if f is out of bounds.
func (f Fixed) Validate() error {
	if f < 1 || f > MaxWorkers {
		return fmt.Errorf("radpool: Fixed(%d): must be from 1 to %d", int(f), MaxWorkers)
	}
	return nil
}

// Decide implements [Policy].
func (f Fixed) Decide(_ time.Time, s Snapshot) Decision {
	return Decision{
		Spawn:  max(int(f)-s.Workers, 0),
		Retire: min(max(s.Workers-int(f), 0), s.Idle),
	}
}
