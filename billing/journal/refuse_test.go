package journal_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

func refuseBad(err error) func(*billing.AccountingRecord) error {
	return func(rec *billing.AccountingRecord) error {
		if rec.UserName == "bad" {
			return err
		}
		return nil
	}
}

func badRecord(session string, n int) *billing.AccountingRecord {
	rec := record(session, billing.InterimUpdate, n)
	rec.UserName = "bad"
	return rec
}

// A record that the back end refuses by name is put aside with its reason, and
// acknowledged, since it is durable. It can be tried again.
func TestRefusedIsParked(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		file := newFile(t)
		o := journal.Options{MaxParked: 3}
		j := open(t, file, backend, o)
		refusal := fmt.Errorf("the name is too long: %w", billing.ErrRecord)
		c.set(func(c *core) { c.refuse = refuseBad(refusal) })
		for n := range 3 {
			account(t, j, badRecord(fmt.Sprint("s", n), n))
		}
		if err := j.Handler().Account(t.Context(), badRecord("s4", 4)); !errors.Is(err, billing.ErrRecord) {
			t.Errorf("with as many parked as may be: %v", err)
		}
		account(t, j, record("s5", billing.Start, 5))
		if s := j.Stats(); s.Parked != 3 || s.Parkings != 3 || s.Queued != 0 || s.AccountAway {
			t.Errorf("%+v", s)
		}
		list, err := j.Parked(t.Context(), 2)
		if err != nil || len(list) != 2 || list[0].Reason != refusal.Error() || list[0].Record.SessionID != "s0" || list[0].At.IsZero() {
			t.Errorf("%+v, %v", list, err)
		}
		closeJournal(t, j)

		j = open(t, file, backend, o)
		if s := j.Stats(); s.Parked != 3 || s.Queued != 0 {
			t.Errorf("after opening again: %+v", s)
		}
		c.set(func(c *core) { c.refuse = nil })
		if n, err := j.RetryParked(t.Context()); n != 3 || err != nil {
			t.Errorf("%d are retried, %v", n, err)
		}
		time.Sleep(time.Second)
		if s := j.Stats(); s.Parked != 0 || s.Queued != 0 || s.Replayed != 3 || len(c.lines()) != 4 {
			t.Errorf("after another try: %+v, stored %q", s, c.lines())
		}
	})
}

// A back end that does not say whose fault it is: what fails while others are stored
// is parked in the end, and holds up nobody.
func TestPoisonIsFoundOut(t *testing.T) {
	for what, refusal := range map[string]error{"by an error": errors.New("internal error"), "by name": billing.ErrRecord, "by a panic": nil} {
		t.Run(what, func(t *testing.T) {
			both(t, func(t *testing.T, c *core, backend billing.Handler) {
				sink, logs := observer.New(zap.InfoLevel)
				j := open(t, newFile(t), backend, journal.Options{Logger: zap.New(sink)})
				opens(t, j, c)
				for n := range 40 {
					account(t, j, record(fmt.Sprint("s", n), billing.Start, n))
					if n%10 == 3 {
						account(t, j, badRecord(fmt.Sprint("p", n), n), record(fmt.Sprint("p", n), billing.Stop, n))
					}
				}
				c.set(func(c *core) {
					c.down = false
					c.refuse = func(rec *billing.AccountingRecord) error {
						if rec.UserName == "bad" && refusal == nil {
							panic("index out of range")
						}
						return refuseBad(refusal)(rec)
					}
				})
				time.Sleep(time.Second)
				// The others are stored, and are stored from now on.
				for n := range 600 {
					account(t, j, record("live", billing.InterimUpdate, n))
					time.Sleep(100 * time.Millisecond)
					if n == 20 {
						if s := j.Stats(); s.Queued != 8 {
							t.Errorf("after 3 seconds: %+v", s)
						}
					}
				}
				s := j.Stats()
				if s.Parked != 4 || s.Queued != 0 || s.AccountAway || s.Refused < 4*journal.DefaultTries {
					t.Errorf("%+v", s)
				}
				stored := c.lines()
				slices.Sort(stored)
				if got := len(slices.Compact(stored)); got != journal.OpensAfter+40+4+600 {
					t.Errorf("%d are stored", got)
				}
				if n := logs.FilterMessageSnippet("was parked").Len(); n != 4 {
					t.Errorf("%d lines in the log", n)
				}
				list, err := j.Parked(t.Context(), 10)
				if err != nil || len(list) != 4 {
					t.Fatalf("%d are parked, %v", len(list), err)
				}
				for _, p := range list {
					if p.Record.UserName != "bad" || refusal != nil && !strings.Contains(p.Reason, refusal.Error()) {
						t.Errorf("parked is %+v", p)
					}
				}
			})
		})
	}
}

// With as many parked as may be, what is refused stays where it is, and still holds
// up nobody else.
func TestParkedIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		j := open(t, newFile(t), batchCore{c}, journal.Options{MaxParked: 2, Tries: 2})
		opens(t, j, c)
		for n := range 10 {
			account(t, j, badRecord(fmt.Sprint("p", n), n), record(fmt.Sprint("s", n), billing.Start, n))
		}
		c.set(func(c *core) { c.down, c.refuse = false, refuseBad(billing.ErrRecord) })
		time.Sleep(time.Minute)
		if s := j.Stats(); s.Parked != 2 || s.Queued != 8 || len(c.lines()) != 10+journal.OpensAfter {
			t.Errorf("%+v", s)
		}
		c.set(func(c *core) { c.refuse = nil })
		time.Sleep(2 * time.Minute)
		if s := j.Stats(); s.Parked != 2 || s.Queued != 0 {
			t.Errorf("when they are taken after all: %+v", s)
		}
	})
}

func TestTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		j := open(t, newFile(t), c, journal.Options{})
		opens(t, j, c)
		large := record("large", billing.Start, 0)
		large.ConnectInfo = strings.Repeat("x", journal.MaxRecord)
		for range 2 {
			if err := j.Handler().Account(t.Context(), large); !errors.Is(err, billing.ErrRecord) || !strings.Contains(err.Error(), "65536 are the most") {
				t.Error(err)
			}
		}
		c.set(func(c *core) { c.down = false })
		time.Sleep(time.Second)
		account(t, j, record("large", billing.Stop, 1))
		if got := c.lines(); got[len(got)-1] != "large Stop 1" {
			t.Errorf("a record waits for one that was not kept: %q", got)
		}
	})
}
