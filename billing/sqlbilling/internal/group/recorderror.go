package group

import "github.com/radpool/radpool/billing"

// A recordError is what is wrong with one record, where the database is not to
// blame. It is a billing.ErrRecord.
type recordError struct{ err error }

func (e *recordError) Error() string { return e.err.Error() }

func (e *recordError) Unwrap() []error { return []error{e.err, billing.ErrRecord} }

// Refused makes err a billing.ErrRecord: an error of one record.
func Refused(err error) error { return &recordError{err} }
