package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"layeh.com/radius/rfc2866"
)

// FreeRADIUS's tables are served, taken over with one command, and served as
// radpool's own; a kill -9 under load then loses nothing of the ledger.
func TestMigrateAndServeOwnSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "isp.db")
	b := start(t, "-db", "sqlite:"+file, "-demo", "20")
	b.end(syscall.SIGTERM)
	migrate := func(want int, args ...string) string {
		t.Helper()
		var out strings.Builder
		cmd := command(t.Context(), append([]string{"migrate"}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("migrate %v: exit status %d, want %d\n%s", args, got, want, &out)
		}
		return out.String()
	}
	if out := migrate(0, "-db", "sqlite:"+file, "-from", "standard", "-to", "radpool"); !strings.Contains(out, "taken over: 20 subscribers, 1 tariffs, 60 attributes of replies") {
		t.Errorf("the report is %q", out)
	}
	if out := migrate(1, "-db", "sqlite:"+file); !strings.Contains(out, "subscribers already") {
		t.Errorf("again: %q", out)
	}
	if out := migrate(2, "-from", "x"); !strings.HasPrefix(out, "billingd: migrate: -from x") {
		t.Errorf("from x: %q", out)
	}

	db := openDB(t, file)
	db.MustExec("UPDATE radpool_tariff SET price_input_mb = 1234567, price_hour = 7654321, price_day = 11")
	b = start(t, "-db", "sqlite:"+file, "-schema", "radpool")
	n := dial(t, b.auth)
	n.send(accessRequest(1, "user1", "pass1"))
	if n.receive(time.Minute) == nil {
		t.Error("user1 got no answer")
	}
	acked := load(t, b, 1)
	var sessions []struct {
		ID      string `db:"session_id"`
		Octets  int64  `db:"input_octets"`
		Stop    int64  `db:"stop_time"`
		Account string `db:"account"`
		Charged int64  `db:"charged"`
		Paid    int64  `db:"paid"`
	}
	if err := db.Select(&sessions, `SELECT session_id, input_octets, stop_time, account, charged, (SELECT COALESCE(-SUM(amount), 0) FROM radpool_ledger
		WHERE reference LIKE 'session:' || unique_id || ':%') AS paid FROM radpool_session`); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, s := range sessions {
		seen[s.ID] = true
		if s.Charged != s.Paid {
			t.Errorf("session %s: the entries add up to %d, charged are %d", s.ID, s.Paid, s.Charged)
		}
		if acked[s.ID] == rfc2866.AcctStatusType_Value_Stop && s.Stop == 0 || acked[s.ID] == rfc2866.AcctStatusType_Value_InterimUpdate && s.Octets < 3000 {
			t.Errorf("session %s: what was acknowledged is lost", s.ID)
		}
	}
	for id := range acked {
		if !seen[id] {
			t.Errorf("session %s: acknowledged, and not in the database", id)
		}
	}
	var balance, sum int64
	if err := db.Get(&balance, "SELECT COALESCE(SUM(balance), 0) FROM radpool_balance"); err != nil {
		t.Fatal(err)
	}
	if err := db.Get(&sum, "SELECT COALESCE(SUM(amount), 0) FROM radpool_ledger"); err != nil {
		t.Fatal(err)
	}
	if balance != sum || sum == 0 {
		t.Errorf("the balances add up to %d, the ledger to %d", balance, sum)
	}
}
