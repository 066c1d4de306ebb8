package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

// both runs a test with a back end that takes batches, and with one that does not.
func both(t *testing.T, f func(t *testing.T, c *core, backend billing.Handler)) {
	t.Run("batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCore()
			f(t, c, batchCore{c})
		})
	})
	t.Run("one by one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCore()
			f(t, c, c)
		})
	})
}

// While the back end is away accounting is acknowledged, and is there within a
// second of its return, in order for each session. It is asked now and then, and not
// for every record.
func TestAwayAndBack(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		j := open(t, newFile(t), backend, journal.Options{})
		account(t, j, record("live", billing.Start, 0))
		if s := j.Stats(); s.Journaled != 0 || s.Queued != 0 || len(c.lines()) != 1 {
			t.Fatalf("while it is there: %+v", s)
		}
		opens(t, j, c)
		began := time.Now()
		const sessions, seconds = 20, 60
		for n := range seconds {
			for s := range sessions {
				account(t, j, record(fmt.Sprint("s", s), billing.InterimUpdate, n))
			}
			time.Sleep(time.Second)
		}
		s := j.Stats()
		if s.Queued != sessions*seconds+journal.OpensAfter || s.Oldest.After(began) || s.QueuedOctets < int64(s.Queued)*50 || !s.AccountAway || s.Absences != 1 {
			t.Errorf("while it is away: %+v", s)
		}
		c.set(func(c *core) {
			if most := int(time.Since(began)/journal.DefaultProbeInterval) + 30; c.calls > most {
				t.Errorf("it was asked %d times in %v", c.calls, time.Since(began))
			}
			c.down = false
		})
		time.Sleep(time.Second)
		stored := c.lines()
		if s := j.Stats(); s.Queued != 0 || s.QueuedOctets != 0 || !s.Oldest.IsZero() || s.AccountAway ||
			s.Replayed != s.Journaled || len(stored) != 1+journal.OpensAfter+sessions*seconds {
			t.Errorf("a second after its return: %+v, %d stored", s, len(stored))
		}
		last := make(map[string]int)
		for _, l := range stored {
			var session, status string
			var n int
			if _, err := fmt.Sscan(l, &session, &status, &n); err != nil {
				t.Fatal(err)
			}
			if before, there := last[session]; there && n != before+1 {
				t.Fatalf("session %s: record %d after %d", session, n, before)
			}
			last[session] = n
		}
		account(t, j, record("s1", billing.Stop, 99))
		if got := c.lines(); got[len(got)-1] != "s1 Stop 99" {
			t.Errorf("after that it has %q last", got[len(got)-1])
		}
	})
}

// A record waits behind older ones of its session, also when the back end would take
// it; so does a restart of the NAS behind its sessions, and these behind that. Others
// do not wait.
func TestNewerWaitBehindOlder(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		j := open(t, newFile(t), backend, journal.Options{Tries: 1000})
		c.set(func(c *core) {
			c.refuse = func(rec *billing.AccountingRecord) error {
				if rec.UserName == "bad" {
					return errors.New("not this one")
				}
				return nil
			}
		})
		bad := record("s1", billing.Start, 1)
		bad.UserName = "bad"
		on := record("", billing.AccountingOn, 3)
		elsewhere := record("s3", billing.Start, 5)
		elsewhere.NASAddr = nas1.Next()
		account(t, j, bad, record("s1", billing.InterimUpdate, 2), elsewhere, record("s2", billing.Start, 2), on, record("s2", billing.Stop, 4))
		time.Sleep(10 * time.Second)
		first := c.lines()
		slices.Sort(first) // these two have nothing to do with each other
		if got, want := fmt.Sprint(first), "[s2 Start 2 s3 Start 5]"; got != want {
			t.Errorf("stored %v, want %v", got, want)
		}
		if s := j.Stats(); s.Queued != 4 {
			t.Errorf("%+v", s)
		}
		c.set(func(c *core) { c.refuse = nil })
		time.Sleep(time.Minute)
		if got, want := fmt.Sprint(c.lines()[2:]), "[s1 Start 1 s1 Interim-Update 2  Accounting-On 3 s2 Stop 4]"; got != want {
			t.Errorf("then stored %v, want %v", got, want)
		}
	})
}

// Sessions that send their records one after the other, through a back end that comes
// and goes, have them stored in that order, each once or more.
func TestOrderUnderLoad(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		j := open(t, newFile(t), backend, journal.Options{})
		n := 0
		c.set(func(c *core) {
			c.refuse = func(*billing.AccountingRecord) error { // called with the lock
				if n++; n/100%2 == 1 {
					return errDown
				}
				return nil
			}
		})
		var wg sync.WaitGroup
		for s := range 32 {
			wg.Go(func() {
				for n := range 50 {
					rec := record(fmt.Sprint("s", s), billing.InterimUpdate, n)
					var err error
					if b, ok := j.Handler().(billing.BatchHandler); ok && n%2 == 0 {
						errs := make([]error, 2)
						b.AccountBatch(t.Context(), []*billing.AccountingRecord{rec, record(fmt.Sprint("x", s), billing.Start, n)}, errs)
						err = errors.Join(errs...)
					} else {
						err = j.Handler().Account(t.Context(), rec)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		c.set(func(c *core) { c.refuse = nil })
		time.Sleep(10 * time.Second)
		if s := j.Stats(); s.Queued != 0 || s.Journaled == 0 || s.Absences == 0 || s.Parkings != 0 {
			t.Errorf("%+v", s)
		}
		next := make(map[string]int)
		for _, l := range c.lines() {
			var session, status string
			var n int
			if _, err := fmt.Sscan(l, &session, &status, &n); err != nil {
				t.Fatal(err)
			}
			if session[0] == 's' && n > next[session] {
				t.Fatalf("session %s: record %d when %d was to come", session, n, next[session])
			}
			next[session] = max(next[session], n+1)
		}
		for s := range 32 {
			if got := next[fmt.Sprint("s", s)]; got != 50 {
				t.Errorf("session s%d has %d records, want 50", s, got)
			}
		}
	})
}

// A back end that hangs costs the first requests its Timeout, and then nobody
// anything; a request that has little time left is acknowledged in that.
func TestHang(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		j := open(t, newFile(t), backend, journal.Options{ProbeInterval: 10 * time.Second})
		c.set(func(c *core) { c.hang = true })
		spend := func(want time.Duration, what string, f func()) {
			t.Helper()
			began := time.Now()
			f()
			if d := time.Since(began); d != want {
				t.Errorf("%s took %v, want %v", what, d, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		spend(time.Second/2, "accounting with a second left", func() {
			if err := j.Handler().Account(ctx, record("short", billing.Start, 0)); err != nil {
				t.Error(err)
			}
		})
		cancel()
		if s := j.Stats(); s.Journaled != 1 {
			t.Errorf("%+v", s)
		}
		for i := range journal.OpensAfter {
			spend(journal.DefaultTimeout, "accounting", func() { account(t, j, record(fmt.Sprint("s", i), billing.Start, 0)) })
			spend(journal.DefaultTimeout, "an Access-Request", func() {
				if _, err := j.Handler().Authorize(t.Context(), access("alice")); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		spend(0, "accounting then", func() { account(t, j, record("s9", billing.Start, 0)) })
		spend(0, "an Access-Request then", func() {
			var away *journal.AwayError
			if _, err := j.Handler().Authorize(t.Context(), access("alice")); !errors.As(err, &away) {
				t.Error(err)
			}
		})
		time.Sleep(20 * time.Second)
		c.set(func(c *core) { c.hang = false })
		if _, err := j.Handler().Authorize(t.Context(), access("alice")); err != nil {
			t.Errorf("after its return: %v", err)
		}
		time.Sleep(30 * time.Second)
		if s := j.Stats(); s.Queued != 0 || s.AccessAway || s.AccountAway {
			t.Errorf("after its return: %+v", s)
		}
	})
}

// Without a file nothing is kept: no answer, at once while it is known to be away.
func TestWithoutFile(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		j := open(t, "", backend, journal.Options{})
		account(t, j, record("s1", billing.Start, 0))
		c.set(func(c *core) { c.down = true })
		for range 2 * journal.OpensAfter {
			if err := j.Handler().Account(t.Context(), record("s1", billing.Stop, 1)); !errors.Is(err, errDown) {
				t.Errorf("%v, want %v", err, errDown)
			}
		}
		c.set(func(c *core) {
			if c.calls != 1+journal.OpensAfter {
				t.Errorf("it was asked %d times", c.calls)
			}
			c.down = false
		})
		time.Sleep(journal.DefaultProbeInterval)
		account(t, j, record("s1", billing.Stop, 1))
		if _, err := j.RetryParked(t.Context()); err == nil {
			t.Error("there is something parked without a file")
		}
	})
}

func TestBoundsOfTheJournal(t *testing.T) {
	for what, o := range map[string]journal.Options{
		"records": {MaxRecords: journal.OpensAfter + 10},
		"octets":  {MaxOctets: 65536},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCore()
				j := open(t, newFile(t), batchCore{c}, o)
				opens(t, j, c)
				acked := journal.OpensAfter
				var err error
				for err == nil {
					rec := record(fmt.Sprint("s", acked), billing.Start, acked)
					rec.ConnectInfo = strings.Repeat("x", 1000)
					if err = j.Handler().Account(t.Context(), rec); err == nil {
						acked++
					}
				}
				if s := j.Stats(); !errors.Is(err, journal.ErrFull) || s.Queued != acked || s.Full != 1 ||
					o.MaxRecords > 0 && acked != o.MaxRecords || o.MaxOctets > 0 && (s.QueuedOctets > o.MaxOctets || s.QueuedOctets < o.MaxOctets-2000) {
					t.Errorf("%v with %d acknowledged: %+v", err, acked, s)
				}
				errs := make([]error, 20)
				recs := slices.Repeat([]*billing.AccountingRecord{record("batch", billing.Start, 0)}, 20)
				j.Handler().(billing.BatchHandler).AccountBatch(t.Context(), recs, errs)
				for _, err := range errs {
					if what == "records" && !errors.Is(err, journal.ErrFull) {
						t.Errorf("a batch: %v", err)
					}
				}
				c.set(func(c *core) { c.down = false })
				time.Sleep(2 * time.Second)
				if s := j.Stats(); s.Queued != 0 || len(c.lines()) < acked {
					t.Errorf("after its return: %+v, %d stored", s, len(c.lines()))
				}
				account(t, j, record("batch", billing.Stop, 1)) // nothing of what was refused is waited for
				if got := c.lines(); got[len(got)-1] != "batch Stop 1" {
					t.Errorf("%q is the last", got[len(got)-1])
				}
			})
		})
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]journal.Options{
		"Timeout is 1ns, must be 10ms to 1m0s":                  {Timeout: 1},
		"ProbeInterval is -1ns, must be 1ms":                    {ProbeInterval: -1},
		"MaxRecords is -1, must be 1 to":                        {MaxRecords: -1},
		"MaxOctets is 1, must be 65536 to":                      {MaxOctets: 1},
		"MaxBatch is 65537, must be 1 to 65536":                 {MaxBatch: 65537},
		"ReplayRate is -5, must be":                             {ReplayRate: -5},
		"MaxParked is 2000000, must be":                         {MaxParked: 2_000_000},
		"Tries is 1001, must be 1 to 1000":                      {Tries: 1001},
		"GrantAge is -1ns, must be 0s to":                       {GrantAge: -1},
		"MaxGrants is -1, must be 1 to 16777216":                {MaxGrants: -1},
		"Tries is -1, must be 1 to 1000\njournal: MaxGrants is": {Tries: -1, MaxGrants: -1},
	} {
		if _, err := journal.Open(t.Context(), "", newCore(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := journal.Open(t.Context(), "", nil, journal.Options{}); err == nil {
		t.Error("opened without a back end")
	}
}

// The Handler takes batches only if the back end does, or a Processor would give it
// some that are then stored one by one; what PostAuth says is handed on.
func TestKindsOfHandler(t *testing.T) {
	c := newCore()
	if _, ok := open(t, "", c, journal.Options{}).Handler().(billing.BatchHandler); ok {
		t.Error("it takes batches, and the back end does not")
	}
	j := open(t, "", batchCore{c}, journal.Options{})
	b, ok := j.Handler().(billing.BatchHandler)
	if !ok {
		t.Fatal("it takes no batches, and the back end does")
	}
	b.(billing.PostAuther).PostAuth(&billing.AuthResult{})
	if c.results != 1 {
		t.Errorf("%d results came to the back end", c.results)
	}
	open(t, "", struct{ billing.Handler }{c}, journal.Options{}).Handler().(billing.PostAuther).PostAuth(&billing.AuthResult{})
	closeJournal(t, j)
	grants, errs := make([]billing.Grant, 1), make([]error, 1)
	b.AuthorizeBatch(t.Context(), []*billing.AccessRequest{access("alice")}, grants, errs)
	if !errors.Is(errs[0], journal.ErrClosed) {
		t.Errorf("closed: %v", errs[0])
	}
	b.AccountBatch(t.Context(), []*billing.AccountingRecord{record("s1", billing.Start, 0)}, errs)
	if !errors.Is(errs[0], journal.ErrClosed) {
		t.Errorf("closed: %v", errs[0])
	}
}

// What was acknowledged before Close is replayed after the next Open, also when the
// back end is away at first.
func TestCloseAndOpenAgain(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		file := newFile(t)
		j := open(t, file, backend, journal.Options{})
		opens(t, j, c)
		for n := range 3000 {
			account(t, j, record(fmt.Sprint("s", n%700), billing.InterimUpdate, n))
		}
		closeJournal(t, j)
		if err := j.Handler().Account(t.Context(), record("s1", billing.Stop, 0)); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if _, err := j.Parked(t.Context(), 1); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		j = open(t, file, backend, journal.Options{})
		account(t, j, record("s1", billing.Stop, 9999)) // behind what there is
		if s := j.Stats(); s.Queued != 3000+journal.OpensAfter+1 || s.Oldest.IsZero() {
			t.Errorf("%+v", s)
		}
		time.Sleep(10 * time.Second)
		c.set(func(c *core) { c.down = false })
		time.Sleep(5 * time.Second)
		got := c.lines()
		if len(got) != 3000+journal.OpensAfter+1 || got[slices.Index(got, "s1 Interim-Update 1")] == "" ||
			slices.Index(got, "s1 Stop 9999") < slices.Index(got, "s1 Interim-Update 2801") {
			t.Errorf("%d are stored", len(got))
		}
	})
}
