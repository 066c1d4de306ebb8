package billingtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
)

// A Subscriber is one that a back end under test must know. It has no limits: no
// quota, balance, end of the subscription, number of sessions, device or hours. The
// suite stores many sessions of 6 GB each, some of them open, and asks again.
type Subscriber struct {
	UserName string
	Password string // in cleartext; the back end may store it in any form
}

// A Session is what a back end knows of a session, as a [Backend] shows it. Times
// are compared in whole seconds.
type Session struct {
	UniqueID  string // AccountingRecord.UniqueID
	SessionID string // Acct-Session-Id
	UserName  string // as the NAS sent it: what the back end escapes to store it is undone

	Start time.Time // when it began: of a session whose Start has not come, the time of a record less its SessionTime
	Stop  time.Time // when it ended; the zero Time: it is open

	SessionTime               time.Duration
	InputOctets, OutputOctets uint64

	// Class is the Class attribute, where the back end keeps it.
	Class string

	// Detail is anything else of the session that must not depend on the order
	// and number of its records, nor be lost in a crash. It is compared and never
	// interpreted.
	Detail string
}

// A Backend is a billing.Handler under test, with ways to look behind it. Only the
// Handler is required: what cannot be looked at is not checked, and the test of it
// skipped. Most of what goes wrong in accounting is seen with Sessions and Reopen
// alone, so these should be there whenever the back end stores anything.
type Backend struct {
	// Handler alone is enough for unknown-user, known-user, stable-grant,
	// strange-users, cancelled-authorize, arguments, and for as much of other-status
	// and concurrent as its answers tell. If it is a billing.BatchHandler, there is
	// batch-authorize as well.
	Handler billing.Handler

	// Sessions returns all sessions that the back end knows, in any order. It is
	// called between calls of the Handler, and sees what was acknowledged by then.
	//
	// It enables sessions, repeated, any-order, octets, strange-records, nas-restart,
	// cancelled-account and memory, the part of other-status and concurrent that
	// concerns what was stored, and if the Handler is a billing.BatchHandler
	// batch-account, batch-repeated, batch-one-bad and batch-cancelled.
	Sessions func(ctx context.Context) ([]Session, error)

	// Reopen ends the back end as a crash does, without writing what is not
	// written yet, and opens another on what is left. The Backend is not used
	// after that. The one that it returns has Handler and Sessions at least.
	//
	// With Sessions it enables durable. Then also sessions, repeated, any-order,
	// octets, strange-records, other-status, nas-restart, memory, concurrent,
	// batch-account, batch-repeated, batch-one-bad and batch-cancelled end with a
	// crash, and all that Sessions showed before must be there after it as it was,
	// Class and Detail included.
	Reopen func(ctx context.Context) (*Backend, error)

	// Stall makes what is behind the back end, such as its database, hang, as a lock
	// or a dead network does, until resume is called. With Sessions it enables
	// stalled.
	Stall func(ctx context.Context) (resume func(), err error)

	// Close releases what the back end holds.
	Close func() error
}

// A Factory makes a back end that knows these subscribers and no others, and has
// no sessions. None of them may have a limit (see [Subscriber]): a back end with
// quotas gives them none here, or one that is never reached. It is called once for each check, after the back end before has
// been closed.
type Factory func(ctx context.Context, subscribers []Subscriber) (*Backend, error)

// TestHandler runs every check of the suite against the back end that factory
// makes, each as a subtest with the name of the check. The package comment lists
// the checks.
func TestHandler(t *testing.T, factory Factory) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			errs := c.run(t.Context(), factory)
			for _, err := range errs {
				if skip, ok := errors.AsType[*SkipError](err); ok {
					t.Skip(skip.Needs)
				}
				t.Error(err)
			}
		})
	}
}

// Check runs the checks with these names, or all if there are none, and returns
// what is wrong: a [Failure] for each rule that was seen broken, and a [SkipError]
// for each check that needs what the Backend does not have. It panics when there
// is no check of a name. [TestHandler] is Check for tests.
func Check(ctx context.Context, factory Factory, names ...string) []error {
	var errs []error
	if len(names) == 0 {
		names = CheckNames()
	}
	for _, name := range names {
		c := checkNamed(name)
		if c == nil {
			panic(fmt.Sprintf("billingtest: Check: there is no check %q", name))
		}
		errs = append(errs, c.run(ctx, factory)...)
	}
	return errs
}

// CheckNames are the names of all checks, in the order in which they run.
func CheckNames() []string {
	names := make([]string, len(checks))
	for i, c := range checks {
		names[i] = c.name
	}
	return names
}

// A Failure is a rule of billing.Handler that a back end breaks.
type Failure struct {
	Check  string // the name of the check
	Method string // of the back end, the one to blame
	Rule   string // what must be
	Detail string // what was instead
}

// Error names the check, the method, the rule and what was instead.
func (f *Failure) Error() string {
	return fmt.Sprintf("%s: %s: %s: %s", f.Check, f.Method, f.Rule, f.Detail)
}

// A SkipError says that a check was not made.
type SkipError struct {
	Check string // the name of the check
	Needs string // what it needs that the Backend does not have
}

// Error names the check and what it needs.
func (e *SkipError) Error() string { return e.Check + ": skipped: " + e.Needs }

// check is one check of the suite.
type check struct {
	name        string
	needs       need
	perform     func(*suite)
	lasting     bool         // what it has stored must outlive a crash
	subscribers []Subscriber // besides those of all checks
}

// need is what a check needs of a Backend besides its Handler.
type need uint8

const (
	needSessions need = 1 << iota
	needReopen
	needBatch
	needStall
)

// checks is the suite. It begins with what the others build on.
var checks = []check{
	{name: "unknown-user", perform: checkUnknownUser},
	{name: "known-user", perform: checkKnownUser},
	{name: "stable-grant", perform: checkStableGrant},
	{name: "strange-users", perform: checkStrangeUsers, subscribers: strangeSubscribers()},
	{name: "cancelled-authorize", perform: checkCancelledAuthorize},
	{name: "sessions", needs: needSessions, perform: checkSessions, lasting: true},
	{name: "repeated", needs: needSessions, perform: checkRepeated, lasting: true},
	{name: "any-order", needs: needSessions, perform: checkAnyOrder, lasting: true},
	{name: "octets", needs: needSessions, perform: checkOctets, lasting: true},
	{name: "strange-records", needs: needSessions, perform: checkStrangeRecords, lasting: true},
	{name: "other-status", perform: checkOtherStatus, lasting: true},
	{name: "nas-restart", needs: needSessions, perform: checkNASRestart, lasting: true},
	{name: "cancelled-account", needs: needSessions, perform: checkCancelledAccount},
	{name: "stalled", needs: needSessions | needStall, perform: checkStalled},
	{name: "durable", needs: needSessions | needReopen, perform: checkDurable},
	{name: "arguments", perform: checkArguments},
	{name: "memory", needs: needSessions, perform: checkMemory, lasting: true},
	{name: "batch-authorize", needs: needBatch, perform: checkBatchAuthorize},
	{name: "batch-account", needs: needBatch | needSessions, perform: checkBatchAccount, lasting: true},
	{name: "batch-repeated", needs: needBatch | needSessions, perform: checkBatchRepeated, lasting: true},
	{name: "batch-one-bad", needs: needBatch | needSessions, perform: checkBatchOneBad, lasting: true},
	{name: "batch-cancelled", needs: needBatch | needSessions, perform: checkBatchCancelled, lasting: true},
	{name: "concurrent", perform: checkConcurrent, lasting: true},
}

func checkNamed(name string) *check {
	for i := range checks {
		if checks[i].name == name {
			return &checks[i]
		}
	}
	return nil
}
