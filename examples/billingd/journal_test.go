package main

import (
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"layeh.com/radius/rfc2866"
)

// Accounting is acknowledged while the database cannot be written, and is in it at
// the end, also when billingd was killed meanwhile.
func TestJournalKeepsAccounting(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "radpool.db")
	args := []string{"-db", "sqlite:" + file, "-journal", filepath.Join(dir, "journal.db")}
	b := start(t, args...)
	other := openDB(t, file)
	other.SetMaxOpenConns(1)
	other.MustExec("BEGIN IMMEDIATE")
	n := dial(t, b.acct)
	for i, status := range []rfc2866.AcctStatusType{1, 3, 2} {
		n.send(accountingRequest(byte(i), "kept", status))
		if n.receive(time.Minute) == nil {
			t.Fatalf("no answer\n%s", b.log)
		}
	}
	b.end(syscall.SIGKILL)
	other.MustExec("ROLLBACK")

	b = start(t, args...)
	for stopped := 0; stopped == 0; runtime.Gosched() {
		if err := other.Get(&stopped, "SELECT count(*) FROM radacct WHERE acctsessionid = 'kept' AND acctstoptime IS NOT NULL"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-b.exited:
			t.Fatalf("billingd ended: %v\n%s", err, b.log)
		default:
		}
	}
}
