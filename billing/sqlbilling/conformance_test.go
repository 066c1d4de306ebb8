package sqlbilling_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// The suite for back ends holds for this one, behind a Processor where it needs
// one, on every kind of database.
func TestConformance(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		billingtest.TestHandler(t, func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
			dsn, driver, rawDSN := e.create(t)
			under, raw, err := e.conforming(ctx, dsn, driver, rawDSN, func() string { return filepath.Join(t.TempDir(), "again.db") })
			if err != nil {
				return nil, err
			}
			for _, s := range subscribers {
				if _, err := raw.ExecContext(ctx, raw.Rebind(`INSERT INTO radcheck (username, attribute, op, value) VALUES (?, 'Cleartext-Password', ':=', ?)`),
					s.UserName, s.Password); err != nil {
					return nil, errors.Join(err, under.Close())
				}
			}
			return under, nil
		})
	})
}

// conforming opens a database as the suite wants it.
func (e engine) conforming(ctx context.Context, dsn, driver, rawDSN string, next func() string) (*billingtest.Backend, *sqlx.DB, error) {
	b, err := sqlbilling.Open(ctx, dsn, sqlbilling.Options{})
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
		Sessions: func(ctx context.Context) ([]billingtest.Session, error) { return e.sessions(ctx, raw) },
		Close:    closeBoth,
		Stall: func(ctx context.Context) (func(), error) {
			c, err := raw.Connx(ctx)
			if err != nil {
				return nil, err
			}
			for _, s := range e.stall {
				if _, err := c.ExecContext(ctx, s); err != nil {
					return nil, errors.Join(err, c.Close())
				}
			}
			return func() {
				_, _ = c.ExecContext(context.Background(), e.release)
				_ = c.Close()
			}, nil
		},
		Reopen: func(ctx context.Context) (*billingtest.Backend, error) {
			if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
				again := next()
				for _, suffix := range []string{"", "-wal"} { // as the disk is now
					content, err := os.ReadFile(file + suffix)
					if err == nil {
						err = os.WriteFile(again+suffix, content, 0o600)
					}
					if err != nil {
						return nil, err
					}
				}
				dsn, rawDSN = "sqlite:"+again, "file://"+again+"?_pragma=busy_timeout(5000)"
			}
			if err := closeBoth(); err != nil {
				return nil, err
			}
			reopened, _, err := e.conforming(ctx, dsn, driver, rawDSN, next)
			return reopened, err
		},
	}, raw, nil
}

func (e engine) sessions(ctx context.Context, raw *sqlx.DB) ([]billingtest.Session, error) {
	rows, err := e.acctRows(ctx, raw)
	if err != nil {
		return nil, err
	}
	var list []billingtest.Session
	for _, m := range rows {
		text := func(column string) string { s, _ := m[column].(string); return s }
		number := func(column string) int64 { n, _ := m[column].(int64); return n }
		s := billingtest.Session{
			UniqueID: text("acctuniqueid"), SessionID: text("acctsessionid"), UserName: text("username"),
			Start: time.Unix(number("acctstarttime"), 0), SessionTime: time.Duration(number("acctsessiontime")) * time.Second,
			InputOctets: uint64(number("acctinputoctets")), OutputOctets: uint64(number("acctoutputoctets")),
		}
		if m["acctstoptime"] != nil {
			s.Stop = time.Unix(number("acctstoptime"), 0)
		}
		class, err := hex.DecodeString(strings.TrimPrefix(text("class"), "0x"))
		if err != nil {
			return nil, err
		}
		s.Class = string(class)
		for _, id := range []string{"radacctid", "acctuniqueid", "acctsessionid", "class"} {
			delete(m, id) // another one for each session
		}
		s.Detail = fmt.Sprint(m)
		list = append(list, s)
	}
	return list, nil
}
