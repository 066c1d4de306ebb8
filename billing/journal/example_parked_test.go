package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/journal"
)

// picky refuses records of who it does not know.
type picky struct{ *billing.Memory }

func (picky) Account(context.Context, *billing.AccountingRecord) error {
	return fmt.Errorf("%w: no such subscriber", billing.ErrRecord)
}

// A record that can never be stored is acknowledged, and put aside for a human.
func ExampleJournal_Parked() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	j, err := journal.Open(ctx, filepath.Join(dir, "journal.db"), picky{billing.NewMemory(0)}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = j.Close() }()
	reply, err := billingtest.Do(ctx, &billing.Processor{Handler: j.Handler()}, billingtest.Stop("mallory", "s1"))
	fmt.Println(reply.Outcome(), err)

	parked, err := j.Parked(ctx, 10)
	for _, p := range parked {
		fmt.Println(p.Record.UserName, p.Record.Status, p.Reason)
	}
	fmt.Println(len(parked), err)
	// Output:
	// Accounting-Response <nil>
	// mallory Stop billing: the accounting record cannot be stored: no such subscriber
	// 1 <nil>
}

// Who asks a back end that is away through a journal can tell that from a mistake in the request.
func ExampleAwayError() {
	backend := &flaky{Memory: billing.NewMemory(0), stored: make(chan string, 1)}
	backend.away.Store(true)
	j, err := journal.Open(context.Background(), "", backend, journal.Options{}) // without a file
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = j.Close() }()
	for range 10 { // three failures in a row are enough
		err := j.Handler().Account(context.Background(), &billing.AccountingRecord{Status: billing.Start, UniqueID: "1", SessionID: "s1"})
		if away, ok := errors.AsType[*journal.AwayError](err); ok {
			fmt.Printf("no answer to %s: %v\n", away.What, away.Err)
			return
		}
	}
	// Output:
	// no answer to accounting: the database does not answer
}
