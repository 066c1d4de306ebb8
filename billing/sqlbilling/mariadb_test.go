package sqlbilling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// What somebody has stopped with KILL QUERY is run again.
func TestStatementsKilled(t *testing.T) {
	f := mysqlEngine.open(t, sqlbilling.Options{})
	f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "x"})
	killer := f.again(sqlbilling.Options{}).raw
	f.exec("LOCK TABLES radacct WRITE, radcheck WRITE, radreply WRITE")
	written, read := make(chan error, 1), make(chan error, 1)
	go func() { written <- f.Account(t.Context(), record("s", billing.Start, 0)) }()
	go func() {
		_, err := f.Authorize(t.Context(), &billing.AccessRequest{UserName: "alice", Time: at(0)})
		read <- err
	}()
	var waiting []int64
	until(t, "both wait for the tables", func() bool {
		waiting = nil
		err := killer.Select(&waiting, `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND state = 'Waiting for table metadata lock'`)
		return err == nil && len(waiting) == 2
	})
	for _, id := range waiting {
		killer.MustExec(fmt.Sprintf("KILL QUERY %d", id))
	}
	f.exec("UNLOCK TABLES")
	for _, c := range []chan error{written, read} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}

// A column that every INSERT would have to name is no fault of a record: it must not
// be put aside, but wait until the table is as it should be.
func TestColumnWithoutDefault(t *testing.T) {
	f := mysqlEngine.open(t, sqlbilling.Options{})
	f.exec("ALTER TABLE radacct ADD COLUMN realm2 VARCHAR(64) NOT NULL")
	rec := record("s", billing.Start, 0)
	if err := f.Account(t.Context(), rec); err == nil || errors.Is(err, billing.ErrRecord) || !strings.Contains(err.Error(), "realm2") {
		t.Errorf("got %v, want an error of the database that names the column", err)
	}
	f.exec("ALTER TABLE radacct DROP COLUMN realm2")
	f.account(rec)
}
