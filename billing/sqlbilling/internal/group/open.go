package group

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// Open opens the database that dsn names and has start make it ready, both again
// for as long as patience where another process has it locked. ctx bounds the opening
// alone. An error begins with name, and says which database it is once that is
// known; the database is closed then. It is billing.ErrAway where the server is not there
// for now.
func Open(
	ctx context.Context, name, dsn string, patience time.Duration, opts dialect.Options, start func(*dialect.DB, *dialect.Dialect) error,
) error {
	scheme, target, ok := strings.Cut(dsn, ":")
	if !ok {
		return fmt.Errorf(`%s: the DSN does not begin with the kind of the database, as in "sqlite:FILE"`, name)
	}
	kind, err := dialect.Named(scheme)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = Patiently(limit, kind, nil, func() error {
		db, err := kind.Open(ctx, target, opts)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d := kind
		if db.Dialect != nil {
			d = db.Dialect
		}
		if err := start(db, d); err != nil {
			return errors.Join(fmt.Errorf("%s: %s: %w", name, db.Label, err), db.Close())
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		if c := kind.Classify(err); c == dialect.Away || c == dialect.Lost {
			return &awayError{err}
		}
	}
	return err
}

// An awayError is an error of a server that is not there for now.
type awayError struct{ err error }

func (e *awayError) Error() string { return e.err.Error() }

func (e *awayError) Unwrap() []error { return []error{e.err, billing.ErrAway} }
