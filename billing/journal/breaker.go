package journal

import (
	"fmt"
	"time"

	"github.com/radpool/radpool/billing/internal/breaker"
)

// A side is what is known of the back end for one kind of question.
type side struct {
	breaker.Breaker
	what string // what the back end does not do while it is away, for the error
}

// refusal is what those are told who are not let through.
func (s *side) refusal() error { return &AwayError{What: s.what, Since: s.Since(), Err: s.Err()} }

// An AwayError is what is returned without asking the back end, since it has not
// answered lately.
type AwayError struct {
	What  string    // "Access-Requests" or "accounting"
	Since time.Time // when it was first found to be away
	Err   error     // what it said then
}

// Error says what is not answered, since when and why.
func (e *AwayError) Error() string {
	return fmt.Sprintf("journal: the back end does not answer %s since %s: %v", e.What, e.Since.Format(time.RFC3339), e.Err)
}

// Unwrap returns Err.
func (e *AwayError) Unwrap() error { return e.Err }
