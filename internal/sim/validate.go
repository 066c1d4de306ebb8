package sim

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The longest simulation, and the most of anything that is counted in one.
const (
	maxTime  = 24 * time.Hour
	maxCount = 1 << 16
)

// outside is the error of a field that is out of its bounds.
func outside(field string, value any, bound string) error {
	return fmt.Errorf("sim: %s is %v: must be %s", field, value, bound)
}

// within checks that a duration is from least to maxTime.
func within(field string, d, least time.Duration) error {
	if d < least || d > maxTime {
		return outside(field, d, fmt.Sprintf("from %v to %v", least, maxTime))
	}
	return nil
}

// ratio checks that a number is from 0 to most.
func ratio(field string, v, most float64) error {
	if math.IsNaN(v) || v < 0 || v > most {
		return outside(field, v, fmt.Sprintf("from 0 to %v", most))
	}
	return nil
}

// count checks that a number is from least to maxCount.
func count(field string, n, least int) error {
	if n < least || n > maxCount {
		return outside(field, n, fmt.Sprintf("from %d to %d", least, maxCount))
	}
	return nil
}

func (b *Backend) validate() error {
	errs := []error{
		count("Backend.Parallel", b.Parallel, 1),
		ratio("Backend.Contention", b.Contention, 10),
		within("Backend.Latency", b.Latency, 0),
	}
	if b.Service == nil {
		errs = append(errs, errors.New("sim: Backend.Service is nil"))
	}
	before := time.Duration(0)
	for i, c := range b.Changes {
		field := fmt.Sprintf("Backend.Changes[%d].", i)
		errs = append(errs,
			within(field+"At", c.At, before),
			count(field+"Parallel", c.Parallel, 0),
			ratio(field+"Slower", c.Slower, 1e6),
		)
		before = c.At
	}
	return errors.Join(errs...)
}

// validatePolicy asks a policy that can tell whether it is a right one.
func validatePolicy(policy any) error {
	if policy == nil {
		return errors.New("sim: Policy is nil")
	}
	if v, ok := policy.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

func (s *Saturation) validate() error {
	errs := []error{
		validatePolicy(s.Policy),
		s.Backend.validate(),
		within("WorkerStart", s.WorkerStart, 0),
		within("Until", s.Until, 1),
		within("Step", s.Step, time.Millisecond),
	}
	before := time.Duration(0)
	for i, times := range s.Idle {
		field := fmt.Sprintf("Idle[%d]", i)
		errs = append(errs, within(field+"[0]", times[0], before), within(field+"[1]", times[1], times[0]))
		before = times[1]
	}
	return errors.Join(errs...)
}
