package sqlbilling_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// Databases of long ago have an index on acctuniqueid that is not unique, so that
// nothing there keeps two transactions from inserting the same session.
var plainIndex = map[string][]string{
	"SQLite":     {"DROP INDEX radacct_acctuniqueid", "CREATE INDEX plain ON radacct (acctuniqueid)"},
	"MariaDB":    {"ALTER TABLE radacct DROP KEY acctuniqueid, ADD KEY plain (acctuniqueid)"},
	"PostgreSQL": {"ALTER TABLE radacct DROP CONSTRAINT radacct_acctuniqueid_key", "CREATE INDEX plain ON radacct (acctuniqueid)"},
}

// A session has one row, also where several of its records come at once to a
// database without a unique index; and the log says that one is missing.
func TestOneRowWithoutUniqueIndex(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		first := e.open(t, sqlbilling.Options{})
		for _, q := range plainIndex[e.Name] {
			first.exec(q)
		}
		core, logs := observer.New(zap.WarnLevel)
		f := first.again(sqlbilling.Options{Logger: zap.New(core), Writers: 4, MaxGroup: 4})
		const sessions = 200
		var wg sync.WaitGroup
		for i := range sessions {
			for _, rec := range story(fmt.Sprint("s", i)) {
				wg.Go(func() {
					if err := f.Account(t.Context(), rec); err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		var n int
		if f.get(&n, "SELECT COUNT(*) FROM radacct"); n != sessions {
			t.Errorf("%d sessions have %d rows", sessions, n)
		}
		var logged []string
		for _, l := range logs.All() {
			logged = append(logged, fmt.Sprint(l.Message, l.ContextMap()))
		}
		if n := strings.Count(strings.Join(logged, "\n"), "index:UNIQUE (acctuniqueid)"); n != 1 {
			t.Errorf("the missing index is logged %d times: %q", n, logged)
		}
	})
}
