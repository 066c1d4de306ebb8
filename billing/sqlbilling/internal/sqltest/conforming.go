package sqltest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// A Backend is what is opened on a database.
type Backend interface {
	billing.Handler
	Close() error
}

// A Suite is what the conformance suite has to know of a kind of back end.
type Suite struct {
	Open      func(ctx context.Context, dsn string) (Backend, error)
	Subscribe func(ctx context.Context, raw *sqlx.DB, subscribers []billingtest.Subscriber) error
	Sessions  func(ctx context.Context, raw *sqlx.DB) ([]billingtest.Session, error)
	Stall     []string // begins to hold up whoever writes sessions
	Release   string   // ends that
}

// Test runs the conformance suite on databases of e.
func (s Suite) Test(t *testing.T, e Engine) {
	billingtest.TestHandler(t, func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		dsn, driver, rawDSN := e.Create(t)
		under, raw, err := s.open(ctx, dsn, driver, rawDSN, func() string { return filepath.Join(t.TempDir(), "again.db") })
		if err != nil {
			return nil, err
		}
		if err := s.Subscribe(ctx, raw, subscribers); err != nil {
			return nil, errors.Join(err, under.Close())
		}
		return under, nil
	})
}

// open opens a database as the suite wants it. next names files for copies of it.
func (s Suite) open(ctx context.Context, dsn, driver, rawDSN string, next func() string) (*billingtest.Backend, *sqlx.DB, error) {
	b, err := s.Open(ctx, dsn)
	if err != nil {
		return nil, nil, err
	}
	raw, err := sqlx.Open(driver, rawDSN)
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	closeBoth := func() error { return errors.Join(b.Close(), raw.Close()) }
	return &billingtest.Backend{
		Handler:  b,
		Sessions: func(ctx context.Context) ([]billingtest.Session, error) { return s.Sessions(ctx, raw) },
		Close:    closeBoth,
		Stall:    func(ctx context.Context) (func(), error) { return s.stall(ctx, raw) },
		Reopen: func(ctx context.Context) (*billingtest.Backend, error) {
			if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
				again := next()
				if err := copyAsItIs(again, file); err != nil {
					return nil, err
				}
				dsn, rawDSN = "sqlite:"+again, rawSQLite(again)
			}
			if err := closeBoth(); err != nil {
				return nil, err
			}
			reopened, _, err := s.open(ctx, dsn, driver, rawDSN, next)
			return reopened, err
		},
	}, raw, nil
}

func (s Suite) stall(ctx context.Context, raw *sqlx.DB) (release func(), err error) {
	c, err := raw.Connx(ctx)
	if err != nil {
		return nil, err
	}
	for _, statement := range s.Stall {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return func() {
		_, _ = c.ExecContext(context.Background(), s.Release)
		_ = c.Close()
	}, nil
}

// copyAsItIs copies an SQLite database that is in use, as the disk has it now.
func copyAsItIs(to, from string) error {
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(from + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, content, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
