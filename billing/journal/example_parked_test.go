package journal_test

import (
	"context"
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
