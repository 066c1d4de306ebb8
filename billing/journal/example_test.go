package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/journal"
)

// flaky is a back end that can be away.
type flaky struct {
	*billing.Memory
	away   atomic.Bool
	stored chan string
}

func (f *flaky) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	if f.away.Load() {
		return errors.New("the database does not answer")
	}
	err := f.Memory.Account(ctx, rec)
	f.stored <- rec.SessionID
	return err
}

func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	backend := &flaky{Memory: billing.NewMemory(0), stored: make(chan string, 1)}
	j, err := journal.Open(ctx, filepath.Join(dir, "journal.db"), backend, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = j.Close() }()
	processor := &billing.Processor{Handler: j.Handler()}

	backend.away.Store(true)
	reply, err := billingtest.Do(ctx, processor, billingtest.Start("alice", "s1"))
	fmt.Println(reply.Outcome(), err)
	fmt.Println("queued:", j.Stats().Queued)

	backend.away.Store(false)
	fmt.Println("stored:", <-backend.stored)
	// Output:
	// Accounting-Response <nil>
	// queued: 1
	// stored: s1
}
