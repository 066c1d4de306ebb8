package sqlbilling_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// optionalColumns are those that may go and come while there is traffic.
var optionalColumns = []struct{ table, name, kind string }{
	{"radacct", "class", "varchar(64)"},
	{"radacct", "acctupdatetime", ""},
	{"radacct", "framedipv6prefix", "varchar(44)"},
	{"radacct", "acctterminatecause", "varchar(32)"},
	{"radpostauth", "reason", "varchar(64)"},
}

// momentType is the type of a column of time.
func (e engine) momentType() string {
	if e.Name == postgresEngine.Name {
		return "timestamp with time zone"
	}
	return "datetime"
}

// Columns are taken away and put back while there is traffic: no request and no record fails,
// all of it is stored, and each change is one line in the log.
func TestColumnsChangeUnderTraffic(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		core, logs := observer.New(zap.WarnLevel)
		f := e.open(t, sqlbilling.Options{Logger: zap.New(core)})
		f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"})
		var stop atomic.Bool
		var sent [4]int
		var wg sync.WaitGroup
		for i := range sent {
			wg.Go(func() {
				for !stop.Load() {
					f.oneOfEach(fmt.Sprintf("%d-%d", i, sent[i]))
					sent[i]++
				}
			})
		}
		before := logs.Len()
		for _, c := range optionalColumns {
			if c.kind == "" {
				c.kind = e.momentType()
			}
			f.traffic(10)
			known := logs.Len()
			f.alter("ALTER TABLE " + c.table + " DROP COLUMN " + c.name)
			until(t, c.name, func() bool { return logs.Len() > known })
			f.alter("ALTER TABLE " + c.table + " ADD COLUMN " + c.name + " " + c.kind)
			f.Look() // a new column makes no statement fail
			f.traffic(10)
		}
		stop.Store(true)
		wg.Wait()
		total := 0
		for _, n := range sent {
			total += n
		}
		var stored, closed int
		f.get(&stored, "SELECT COUNT(*) FROM radacct")
		f.get(&closed, "SELECT COUNT(*) FROM radacct WHERE acctstoptime IS NOT NULL AND acctinputoctets = 7")
		if stored != total || closed != total {
			t.Errorf("%d sessions, %d stored, %d as they should be", total, stored, closed)
		}
		until(t, "radpostauth", func() bool { s := f.Stats(); return s.PostAuthWritten+s.PostAuthDropped == uint64(total) })
		if s := f.Stats(); s.Failed+s.Unanswered+s.PostAuthFailed > 0 {
			t.Errorf("%+v", s)
		}
		lines := logs.All()[before:]
		for _, line := range lines {
			if line.Message != "tables have changed, and were read again" {
				t.Errorf("in the log: %s %v", line.Message, line.ContextMap())
			}
		}
		if want := 2 * len(optionalColumns); len(lines) != want {
			t.Errorf("%d lines in the log, want %d", len(lines), want)
		}
		t.Logf("%d sessions, %d lines: %v", total, len(lines), lines[0].ContextMap())
	})
}

// oneOfEach is an Access-Request, a Start and a Stop.
func (f *fixture) oneOfEach(session string) {
	req := &billing.AccessRequest{UserName: "alice", Time: at(0)}
	if g, err := f.Authorize(f.t.Context(), req); err != nil || g.Reason != billing.ReasonNone {
		f.t.Error(summary(g, err))
	}
	f.PostAuth(&billing.AuthResult{Access: req, Accepted: true, Time: at(0)})
	stop := record(session, billing.Stop, 9)
	stop.InputOctets, stop.TerminateCause, stop.Class = 7, 1, []byte("c")
	for _, rec := range []*billing.AccountingRecord{record(session, billing.Start, 0), stop} {
		if err := f.Account(f.t.Context(), rec); err != nil {
			f.t.Error(err)
		}
	}
}

// traffic waits until so many more records are stored.
func (f *fixture) traffic(records uint64) {
	records += f.Stats().Records
	until(f.t, "traffic", func() bool { return f.Stats().Records >= records })
}

// alter changes a table, again for as long as it is locked.
func (f *fixture) alter(statement string) {
	f.t.Helper()
	until(f.t, statement, func() bool {
		_, err := f.raw.Exec(statement)
		if err != nil && !strings.Contains(err.Error(), "lock") {
			f.t.Fatal(err)
		}
		return err == nil
	})
}

// What cannot be done without is missed, said, and used again when it is back.
func TestNeededColumnGoesAndComes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		core, logs := observer.New(zap.WarnLevel)
		f := e.open(t, sqlbilling.Options{Logger: zap.New(core)})
		f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"})
		f.exec("ALTER TABLE radcheck RENAME COLUMN value TO val")
		req := &billing.AccessRequest{UserName: "alice", Time: at(0)}
		if g, err := f.Authorize(t.Context(), req); err == nil {
			t.Error("answered without radcheck.value:", summary(g, err))
		}
		if n := logs.FilterMessageSnippet("cannot be used").Len(); n != 1 {
			t.Error(logs.All())
		}
		f.exec("ALTER TABLE radcheck RENAME COLUMN val TO value")
		if g, err := f.Authorize(t.Context(), req); summary(g, err) != cleartext {
			t.Error(summary(g, err))
		}
	})
}
