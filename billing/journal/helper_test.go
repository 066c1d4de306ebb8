package journal_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(asVictim); file != "" {
		victim(file)
	}
	goleak.VerifyTestMain(m)
}

var errDown = errors.New("connection refused")

// A core is a back end that does as it is told: it is there, away, or hangs.
type core struct {
	mu      sync.Mutex
	down    bool
	hang    bool                                      // until ctx ends
	refuse  func(rec *billing.AccountingRecord) error // of records; nil: none
	grant   func(user string) (billing.Grant, error)
	stored  []string // "session status", in order
	calls   int
	access  int
	results int
	again   chan struct{} // closed and replaced when something was stored
}

func newCore() *core { return &core{again: make(chan struct{})} }

func (c *core) set(f func(c *core)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

func (c *core) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	c.mu.Lock()
	c.access++
	down, hang, grant := c.down, c.hang, c.grant
	c.mu.Unlock()
	switch {
	case hang:
		<-ctx.Done()
		return billing.Grant{}, ctx.Err()
	case down:
		return billing.Grant{}, errDown
	case grant != nil:
		return grant(req.UserName)
	}
	return billing.Grant{Password: billing.Cleartext("pw")}, nil
}

func (c *core) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.hang {
		c.mu.Unlock()
		<-ctx.Done()
		c.mu.Lock()
		return ctx.Err()
	}
	if c.down {
		return errDown
	}
	if c.refuse != nil {
		if err := c.refuse(rec); err != nil {
			return err
		}
	}
	c.stored = append(c.stored, line(rec))
	close(c.again)
	c.again = make(chan struct{})
	return nil
}

func (c *core) PostAuth(*billing.AuthResult) { c.set(func(c *core) { c.results++ }) }

// wait returns when what is stored satisfies f.
func (c *core) wait(f func(stored []string) bool) []string {
	for {
		c.mu.Lock()
		stored, again := slices.Clone(c.stored), c.again
		c.mu.Unlock()
		if f(stored) {
			return stored
		}
		<-again
	}
}

func (c *core) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.stored)
}

func line(rec *billing.AccountingRecord) string {
	return fmt.Sprintf("%s %v %d", rec.SessionID, rec.Status, rec.InputOctets)
}

// A batchCore is one that takes batches.
type batchCore struct{ *core }

func (c batchCore) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	billing.AuthorizeAll(ctx, c.core, reqs, grants, errs)
}

func (c batchCore) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	billing.AccountAll(ctx, c.core, recs, errs)
}

func open(tb testing.TB, file string, backend billing.Handler, o journal.Options) *journal.Journal {
	tb.Helper()
	j, err := journal.Open(tb.Context(), file, backend, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { closeJournal(tb, j) })
	return j
}

func closeJournal(tb testing.TB, j *journal.Journal) {
	tb.Helper()
	if err := j.Close(); err != nil {
		tb.Error(err)
	}
}

func newFile(tb testing.TB) string { return filepath.Join(tb.TempDir(), "journal.db") }

var nas1 = netip.MustParseAddr("192.0.2.1")

// record is a record of a session; n tells it from others.
func record(session string, status billing.StatusType, n int) *billing.AccountingRecord {
	sum := md5.Sum([]byte(session))
	return &billing.AccountingRecord{
		Status: status, SessionID: session, UniqueID: hex.EncodeToString(sum[:]), UserName: "alice",
		Time: time.Unix(1_700_000_000+int64(n), 0), NASAddr: nas1, InputOctets: uint64(n),
	}
}

// account stores a record that must be acknowledged.
func account(tb testing.TB, j *journal.Journal, recs ...*billing.AccountingRecord) {
	tb.Helper()
	for _, rec := range recs {
		if err := j.Handler().Account(tb.Context(), rec); err != nil {
			tb.Fatalf("%s: %v", line(rec), err)
		}
	}
}

// opens makes the back end fail until it is taken for away.
func opens(tb testing.TB, j *journal.Journal, c *core) {
	tb.Helper()
	c.set(func(c *core) { c.down = true })
	for i := range journal.OpensAfter {
		account(tb, j, record(fmt.Sprintf("opening-%d", i), billing.Start, i))
	}
	if !j.Stats().AccountAway {
		tb.Fatal("the back end is not taken for away")
	}
}

func access(user string) *billing.AccessRequest {
	return &billing.AccessRequest{
		UserName: user, Method: billing.MethodPAP, NASAddr: nas1, CallingStationID: "02-00-00-00-00-01", NASPort: 7, NASPortID: "eth1",
	}
}
