package sqlbilling_test

import (
	"fmt"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// Two Backends on one database, as two processes have, make the same rows as one.
func TestTwoBackendsOnOneDatabase(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f, alone := e.open(t, sqlbilling.Options{}), e.open(t, sqlbilling.Options{})
		other := f.again(sqlbilling.Options{MustExist: true})
		var wg sync.WaitGroup
		for i := range 10 {
			recs := story(fmt.Sprintf("s%d", i))
			alone.account(recs...)
			for j, rec := range append(recs, recs...) {
				b := f.Backend
				if (i+j)%2 == 0 {
					b = other.Backend
				}
				wg.Go(func() {
					if err := b.Account(t.Context(), rec); err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		if got, want := f.dump(), alone.dump(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
}

// A database that was created here lacks nothing, so there is nothing to log, nor
// is there when it is opened again.
func TestNewDatabaseLacksNothing(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		core, logs := observer.New(zap.DebugLevel)
		f := e.open(t, sqlbilling.Options{Logger: zap.New(core)})
		f.account(record("s", billing.Start, 0))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f.again(sqlbilling.Options{Logger: zap.New(core), MustExist: true})
		for _, e := range logs.All() {
			t.Error(e.Message, e.ContextMap())
		}
	})
}
