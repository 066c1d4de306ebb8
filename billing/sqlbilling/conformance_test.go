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
// one.
func TestConformance(t *testing.T) {
	dir := t.TempDir()
	files := 0
	next := func() string {
		files++
		return filepath.Join(dir, fmt.Sprintf("%d.db", files))
	}
	billingtest.TestHandler(t, func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		file := next()
		under, raw, err := conforming(ctx, file, next)
		if err != nil {
			return nil, err
		}
		for _, s := range subscribers {
			if _, err := raw.ExecContext(ctx, `INSERT INTO radcheck (username, attribute, op, value) VALUES (?, 'Cleartext-Password', ':=', ?)`,
				s.UserName, s.Password); err != nil {
				return nil, errors.Join(err, under.Close())
			}
		}
		return under, nil
	})
}

// conforming opens a file as the suite wants it.
func conforming(ctx context.Context, file string, next func() string) (*billingtest.Backend, *sqlx.DB, error) {
	b, err := sqlbilling.Open(ctx, "sqlite:"+file, sqlbilling.Options{})
	if err != nil {
		return nil, nil, err
	}
	raw, err := sqlx.Open("sqlite", "file://"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	raw.SetMaxOpenConns(1)
	closeBoth := func() error { return errors.Join(b.Close(), raw.Close()) }
	return &billingtest.Backend{
		Handler:  b,
		Sessions: func(ctx context.Context) ([]billingtest.Session, error) { return sessions(ctx, raw) },
		Close:    closeBoth,
		Stall: func(ctx context.Context) (func(), error) {
			if _, err := raw.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
				return nil, err
			}
			return func() { _, _ = raw.Exec("ROLLBACK") }, nil
		},
		Reopen: func(ctx context.Context) (*billingtest.Backend, error) {
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
			if err := closeBoth(); err != nil {
				return nil, err
			}
			reopened, _, err := conforming(ctx, again, next)
			return reopened, err
		},
	}, raw, nil
}

func sessions(ctx context.Context, raw *sqlx.DB) ([]billingtest.Session, error) {
	rows, err := raw.QueryxContext(ctx, "SELECT * FROM radacct")
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
	return list, rows.Err()
}
