package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/rating"
)

// killsEnv says how often the tests with kill -9 on a database server kill; 2 without it.
const killsEnv = "RADPOOL_TEST_KILLS"

func kills(t *testing.T) int {
	t.Helper()
	s := os.Getenv(killsEnv)
	if s == "" {
		return 2
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, must be a number from 1 on", killsEnv, s)
	}
	return n
}

// killTariff is what the sessions of these tests cost.
var killTariff = rating.Tariff{Prices: rating.Prices{InputMB: 1_234_567, OutputMB: 89, Hour: 7_654_321}, Day: 11, MB: 1_000_000}

// killLedger runs a billingd with a journal on radpool's own schema, kills it or the
// database server at random under load, and looks whether the ledger is right to the last
// millionth.
func killLedger(t *testing.T, server *dbServer, killDatabase bool) {
	t.Helper()
	args := []string{
		"-db", server.dsn, "-schema", "radpool", "-demo", "20", "-journal", filepath.Join(t.TempDir(), "journal.db"),
	}
	b := start(t, args...)
	db := server.open()
	db.MustExec(db.Rebind("UPDATE radpool_tariff SET price_input_mb = ?, price_output_mb = ?, price_hour = ?, price_day = ?, mb_octets = ?"),
		int64(killTariff.InputMB), int64(killTariff.OutputMB), int64(killTariff.Hour), int64(killTariff.Day), killTariff.MB)
	acked := newAcknowledged()
	for round := range kills(t) {
		end := sendAccounting(t, b, fmt.Sprint("round", round), acked)
		acked.await(t, 100+rand.N(400))
		if !killDatabase {
			b.end(syscall.SIGKILL)
			end()
			b = start(t, args...)
			continue
		}
		server.kill()
		acked.await(t, 100) // into the journal
		server.start()
		acked.await(t, 200)
		end()
	}
	eventually(t, func() string { return missing(db, acked) })
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("billingd ended with status %d\n%s", status, b.log)
	}
	checkLedger(t, db)
	t.Logf("%d records of %d sessions were acknowledged over %d kills", acked.records, len(acked.sessions), kills(t))
}

func TestKillBillingdOnMariaDB(t *testing.T) { killLedger(t, &startMariaDB(t).dbServer, false) }

func TestKillMariaDB(t *testing.T) { killLedger(t, &startMariaDB(t).dbServer, true) }

func TestKillPostgreSQL(t *testing.T) { killLedger(t, startPostgreSQL(t), true) }

// missing says what was acknowledged and is not in the database.
func missing(db *sqlx.DB, acked *acknowledged) string {
	var rows []struct {
		ID     string `db:"session_id"`
		Octets int64  `db:"input_octets"`
		Stop   int64  `db:"stop_time"`
	}
	if err := db.Select(&rows, "SELECT session_id, input_octets, stop_time FROM radpool_session"); err != nil {
		return err.Error()
	}
	stored := make(map[string]usage, len(rows))
	for _, r := range rows {
		stored[r.ID] = usage{r.Octets, r.Stop != 0}
	}
	acked.mu.Lock()
	defer acked.mu.Unlock()
	for id, want := range acked.sessions {
		if got := stored[id]; got.octets < want.octets || want.stopped && !got.stopped {
			return fmt.Sprintf("session %s: acknowledged are %+v, stored are %+v", id, *want, got)
		}
	}
	if n, m := len(stored), len(acked.sessions); n < m {
		return fmt.Sprintf("%d sessions are acknowledged, %d stored", m, n)
	}
	return ""
}

// checkLedger computes all again from the sessions: what each costs, and what each
// subscriber owes.
func checkLedger(t *testing.T, db *sqlx.DB) {
	t.Helper()
	var sessions []struct {
		ID      string `db:"unique_id"`
		Account string `db:"account"`
		First   int64  `db:"start_time"`
		Last    int64  `db:"update_time"`
		Seconds int64  `db:"session_time"`
		Input   uint64 `db:"input_octets"`
		Output  uint64 `db:"output_octets"`
		Booked  int64  `db:"booked"`
	}
	if err := db.Select(&sessions, `SELECT unique_id, account, start_time, update_time, session_time, input_octets, output_octets,
		(SELECT COALESCE(-SUM(l.amount), 0) FROM radpool_ledger l WHERE l.username = s.account AND l.reference LIKE CONCAT('session:', s.unique_id, ':%')) AS booked
		FROM radpool_session s`); err != nil {
		t.Fatal(err)
	}
	owed, octets := make(map[string]int64), make(map[string]int64)
	days := make(map[string]map[string]bool)
	for _, s := range sessions {
		price := int64(killTariff.Price(rating.Usage{First: s.First, Last: s.Last, Seconds: s.Seconds, Input: s.Input, Output: s.Output}))
		if s.Booked != price {
			t.Errorf("session %s: it costs %d, and the entries add up to %d", s.ID, price, s.Booked)
		}
		owed[s.Account] += price
		octets[s.Account] += int64(s.Input + s.Output)
		if days[s.Account] == nil {
			days[s.Account] = make(map[string]bool)
		}
	}
	var entries []struct {
		Account   string `db:"username"`
		Reference string `db:"reference"`
		Amount    int64  `db:"amount"`
	}
	if err := db.Select(&entries, "SELECT username, reference, amount FROM radpool_ledger WHERE reference LIKE 'day:%'"); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Amount != -int64(killTariff.Day) || days[e.Account] == nil || days[e.Account][e.Reference] {
			t.Errorf("%s of %s is %d, or there twice", e.Reference, e.Account, e.Amount)
			continue
		}
		days[e.Account][e.Reference] = true
		owed[e.Account] += int64(killTariff.Day)
	}
	for account, want := range owed {
		if len(days[account]) == 0 {
			t.Errorf("%s pays for no day", account)
		}
		var balance, used int64
		if err := db.Get(&balance, db.Rebind("SELECT balance FROM radpool_balance WHERE username = ?"), account); err != nil {
			t.Fatal(err)
		}
		if err := db.Get(&used, db.Rebind("SELECT COALESCE(SUM(octets), 0) FROM radpool_usage WHERE username = ?"), account); err != nil {
			t.Fatal(err)
		}
		if balance != -want || used != octets[account] {
			t.Errorf("%s: the balance is %d, owed are %d; %d octets are counted of %d", account, balance, want, used, octets[account])
		}
	}
	if len(owed) == 0 {
		t.Error("there is no session")
	}
}
