package ledger_test

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
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// The suite for back ends holds for this one, on every kind of database. What
// sessions cost is among what must not depend on the order of records.
func TestConformance(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		billingtest.TestHandler(t, func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
			dsn, driver, rawDSN := e.create(t)
			under, raw, err := e.conforming(ctx, dsn, driver, rawDSN, func() string { return filepath.Join(t.TempDir(), "again.db") })
			if err != nil {
				return nil, err
			}
			exec := func(query string, args ...any) {
				if err == nil {
					_, err = raw.ExecContext(ctx, raw.Rebind(query), args...)
				}
			}
			exec("INSERT INTO radpool_tariff (name, price_output_mb, price_hour, price_day) VALUES ('t', 12345, 678901, 5)")
			for _, s := range subscribers {
				exec("INSERT INTO radpool_subscriber (username, password, tariff, credit) VALUES (?, ?, 't', 1000000000000000)", s.UserName, s.Password)
			}
			if err != nil {
				return nil, errors.Join(err, under.Close())
			}
			return under, nil
		})
	})
}

// conforming opens a database as the suite wants it.
func (e engine) conforming(ctx context.Context, dsn, driver, rawDSN string, next func() string) (*billingtest.Backend, *sqlx.DB, error) {
	b, err := ledger.Open(ctx, dsn, ledger.Options{})
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
		Sessions: func(ctx context.Context) ([]billingtest.Session, error) { return sessions(ctx, raw) },
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

// sessions shows sessions with what their entries add up to.
func sessions(ctx context.Context, raw *sqlx.DB) ([]billingtest.Session, error) {
	rows, err := raw.QueryxContext(ctx, `SELECT s.*, (SELECT COALESCE(SUM(l.amount), 0) FROM radpool_ledger l
		WHERE l.username = s.account AND l.reference LIKE CONCAT('session:', s.unique_id, ':%')) AS paid FROM radpool_session s`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []billingtest.Session
	for rows.Next() {
		m := make(map[string]any)
		if err := rows.MapScan(m); err != nil {
			return nil, err
		}
		text := func(column string) string {
			if b, ok := m[column].([]byte); ok {
				return string(b)
			}
			return fmt.Sprint(m[column])
		}
		number := func(column string) int64 { n, _ := m[column].(int64); return n }
		class, err := hex.DecodeString(strings.TrimPrefix(text("class"), "0x"))
		if err != nil {
			return nil, err
		}
		if paid := text("paid"); paid != fmt.Sprint(-number("charged")) {
			return nil, fmt.Errorf("session %s: the entries add up to %s, charged are %d", text("session_id"), paid, number("charged"))
		}
		s := billingtest.Session{
			UniqueID: text("unique_id"), SessionID: text("session_id"), UserName: text("username"), Class: string(class),
			Start: time.Unix(number("start_time"), 0), SessionTime: time.Duration(number("session_time")) * time.Second,
			InputOctets: uint64(number("input_octets")), OutputOctets: uint64(number("output_octets")),
			Detail: fmt.Sprintf("%s %s %s %s %d %d", text("account"), text("tariff"), text("calling_station_id"), text("terminate_cause"), number("charged"), number("counted_octets")),
		}
		if stop := number("stop_time"); stop != 0 {
			s.Stop = time.Unix(stop, 0)
		}
		list = append(list, s)
	}
	return list, rows.Err()
}
