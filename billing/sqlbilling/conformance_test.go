package sqlbilling_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/internal/sqltest"
)

// The suite for back ends holds for this one, behind a Processor where it needs
// one, on every kind of database.
func TestConformance(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		sqltest.Suite{
			Open: func(ctx context.Context, dsn string) (sqltest.Backend, error) {
				return sqlbilling.Open(ctx, dsn, sqlbilling.Options{})
			},
			Subscribe: func(ctx context.Context, raw *sqlx.DB, subscribers []billingtest.Subscriber) error {
				for _, s := range subscribers {
					if _, err := raw.ExecContext(ctx, raw.Rebind(`INSERT INTO radcheck (username, attribute, op, value) VALUES (?, 'Cleartext-Password', ':=', ?)`),
						s.UserName, s.Password); err != nil {
						return err
					}
				}
				return nil
			},
			Sessions: e.sessions, Stall: e.stall, Release: e.release,
		}.Test(t, e.Engine)
	})
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
