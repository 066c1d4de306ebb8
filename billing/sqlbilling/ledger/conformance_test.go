package ledger_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/sqlbilling/internal/sqltest"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// The suite for back ends holds for this one, on every kind of database. What
// sessions cost is among what must not depend on the order of records.
func TestConformance(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		sqltest.Suite{
			Open: func(ctx context.Context, dsn string) (sqltest.Backend, error) {
				return ledger.Open(ctx, dsn, ledger.Options{})
			},
			Subscribe: subscribe, Sessions: sessions, Stall: e.stall, Release: e.release,
		}.Test(t, e.Engine)
	})
}

// subscribe adds subscribers on a tariff on which everything costs.
func subscribe(ctx context.Context, raw *sqlx.DB, subscribers []billingtest.Subscriber) (err error) {
	exec := func(query string, args ...any) {
		if err == nil {
			_, err = raw.ExecContext(ctx, raw.Rebind(query), args...)
		}
	}
	exec("INSERT INTO radpool_tariff (name, price_output_mb, price_hour, price_day) VALUES ('t', 12345, 678901, 5)")
	for _, s := range subscribers {
		exec("INSERT INTO radpool_subscriber (username, password, tariff, credit) VALUES (?, ?, 't', 1000000000000000)", s.UserName, s.Password)
	}
	return err
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
