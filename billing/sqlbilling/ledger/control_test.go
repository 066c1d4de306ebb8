package ledger_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

const class1, class2, class3 = "radpool-mode=1", "radpool-mode=2", "radpool-mode=3"

// controlled is a fixture whose sessions are changed while they are in progress.
func (e engine) controlled(t testing.TB) *fixture {
	f := e.open(t)
	f.Backend = openWith(t, f.dsn, ledger.Options{Control: true})
	f.speeds()
	f.priced("alice")
	f.exec("UPDATE radpool_tariff SET quota_profile = 'slow', quota_octets = 100000000")
	return f
}

// begin begins a session of alice with a Class, which may be empty.
func (f *fixture) begin(session, class string) {
	f.t.Helper()
	rec := record(session, "alice", billing.Start, 0)
	rec.Class = []byte(class)
	f.account(rec)
}

func (f *fixture) account(rec *billing.AccountingRecord) {
	f.t.Helper()
	if err := f.Account(f.t.Context(), rec); err != nil {
		f.t.Fatal(err)
	}
}

// moved is an Interim-Update after 100 s, with so many octets to the subscriber.
func moved(session string, octets uint64) *billing.AccountingRecord {
	rec := record(session, "alice", billing.InterimUpdate, 100)
	rec.InputOctets, rec.OutputOctets = 0, octets
	return rec
}

// looks is what the two ways to look at sessions find, in words, which must be the same.
func (f *fixture) looks(second int64) string {
	f.t.Helper()
	var found [2]string
	for i, users := range [][]string{{"alice", "nobody"}, nil} {
		items, more, err := f.Sessions(f.t.Context(), at(second), users, "", 10)
		if err != nil || more != "" {
			f.t.Fatal(err, more)
		}
		for _, it := range items {
			if it.State.Applied == it.Want.Mode && users == nil {
				continue // a sweep may leave it out
			}
			words := fmt.Sprintf("%s: %v to %v", it.Session.SessionID, it.State.Applied, it.Want.Mode)
			if it.Want.Relogin {
				words += " by a new login"
			}
			if filter, ok := it.Want.Attributes.Lookup(rfc2865.FilterID_Type); ok {
				words += " " + string(filter)
			}
			if it.State.Applied != it.Want.Mode || len(items) == 1 {
				found[i] += words + "\n"
			}
		}
	}
	if found[0] != found[1] && !strings.Contains(found[0], "full to full") {
		f.t.Errorf("of one subscriber: %sof all: %s", found[0], found[1])
	}
	return strings.TrimSpace(found[0])
}

// Money, quota, expiry and the operator's word change what a session in progress is to have,
// and a payment and a new month change it back.
func TestWhatSessionsAreToHave(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.controlled(t)
		f.begin("s", class1)
		for _, c := range []struct {
			why    string
			do     func()
			second int64
			want   string
		}{
			{"login", func() {}, 1, "s: full to full"},
			{"quota", func() { f.account(moved("s", 100_000_000)) }, 100, "s: full to over quota"},
			{"new month", func() {}, 24 * 3600, "s: full to full"},
			{"money", func() { f.account(moved("s", 1_000_000_000)) }, 100, "s: full to restricted pay"},
			{"money, and no profile", func() { f.exec("UPDATE radpool_tariff SET restricted_profile = ''") }, 100, "s: full to ended"},
			{"paid", func() {
				if err := f.Deposit(t.Context(), "alice", "p", 1_000_000_000, at(101)); err != nil {
					t.Fatal(err)
				}
				f.exec("UPDATE radpool_tariff SET quota_octets = 0, restricted_profile = 'poor'")
			}, 101, "s: full to full"},
			{"blocked", func() { f.exec("UPDATE radpool_subscriber SET blocked = 1") }, 101, "s: full to ended"},
			{"expired just now", func() { f.exec("UPDATE radpool_subscriber SET blocked = 0, expires = ?", epoch+100) }, 101, "s: full to full"},
			{"expired", func() {}, 160, "s: full to ended"},
			{"renewed", func() { f.exec("UPDATE radpool_subscriber SET expires = 0") }, 160, "s: full to full"},
			{"what cannot be understood", func() { f.exec("UPDATE radpool_tariff SET zone = 'Nowhere/Land'") }, 160, ""},
			{"mended", func() { f.exec("UPDATE radpool_tariff SET zone = 'Europe/Berlin'") }, 160, "s: full to full"},
			{"no subscriber any more", func() { f.exec("DELETE FROM radpool_subscriber") }, 160, ""},
		} {
			c.do()
			if got := f.looks(c.second); got != c.want {
				t.Errorf("%s: got %q, want %q", c.why, got, c.want)
			}
		}
	})
}

// What a session was given at login is what its Class says. A CoA-Request cannot take a
// filter away; and where the NAS sends no Class no session is ended that may be right.
func TestWhatSessionsHave(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.controlled(t)
		for session, class := range map[string]string{"full": class1, "over": class2, "poor": class3, "none": "", "other": "radpool-mode=9"} {
			f.begin(session, class)
		}
		got := f.looks(1)
		for _, want := range []string{"over: over quota to full", "poor: restricted to full by a new login", "none: unknown to full"} {
			if !strings.Contains("\n"+got+"\n", "\n"+want+"\n") {
				t.Errorf("%q lacks %q", got, want)
			}
		}
		f.exec("UPDATE radpool_balance SET balance = -1")
		items, _, err := f.Sessions(t.Context(), at(1), nil, "", 10)
		if err != nil || len(items) != 5 {
			t.Fatal(err, items)
		}
		for _, it := range items {
			if w := it.Want; w.Mode != coa.Restricted || w.Relogin || w.Fallback != (it.State.Applied != coa.Unknown) {
				t.Errorf("%s: %+v", it.Session.SessionID, it)
			}
		}
		f.exec("DELETE FROM radpool_profile WHERE attribute = 'Filter-Id'")
		g := f.ask("alice", "192.0.2.1", 1)
		if g.Reason != billing.ReasonNoMoney || g.Restricted != nil {
			t.Errorf("%+v", g)
		}
	})
}

// An Access-Accept says in its first Class what the session is given.
func TestClassOfAccept(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.controlled(t)
		classOf := func(attrs radius.Attributes) string { return string(attrs.Get(rfc2865.Class_Type)) }
		if c := classOf(f.ask("alice", "192.0.2.1", 1).Reply); c != class1 {
			t.Errorf("full: %q", c)
		}
		f.exec("INSERT INTO radpool_usage (username, month, octets) VALUES ('alice', 202606, 100000000)")
		if c := classOf(f.ask("alice", "192.0.2.1", 1).Reply); c != class2 {
			t.Errorf("over the quota: %q", c)
		}
		f.exec("UPDATE radpool_balance SET balance = -1")
		if c := classOf(f.ask("alice", "192.0.2.1", 1).Restricted); c != class3 {
			t.Errorf("restricted: %q", c)
		}
		if g := f.ask("nobody", "192.0.2.1", 1); g.Reply != nil || g.Restricted != nil {
			t.Errorf("nobody: %+v", g)
		}
	})
}

// Of two servers one saves; the state is there after both are gone; and it is forgotten
// when the session's Stop has come, which confirms a Disconnect.
func TestOneServerSaves(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.controlled(t)
		other := openWith(t, f.dsn, ledger.Options{Control: true})
		f.begin("s", class1)
		key := record("s", "alice", billing.Start, 0).UniqueID
		s := coa.State{Applied: coa.Full, Wanted: coa.Ended, Phase: coa.Asking, Tries: 3, Instead: true, Unsure: true, Next: at(60)}
		for s.Version < 3 {
			saved := make([]bool, 2)
			var wg sync.WaitGroup
			for i, b := range []*ledger.Backend{f.Backend, other} {
				wg.Go(func() {
					var err error
					if saved[i], err = b.Save(t.Context(), key, s); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if saved[0] == saved[1] {
				t.Fatalf("version %d: saved by %v", s.Version, saved)
			}
			s.Version++
		}
		again := openAgain(t, f.dsn)
		items, _, err := again.Sessions(t.Context(), at(1), []string{"alice"}, "", 10)
		if err != nil || len(items) != 1 || items[0].State != s {
			t.Fatalf("%+v, %v, want %+v", items, err, s)
		}
		s.Phase = coa.Confirmed
		if saved, err := f.Save(t.Context(), key, s); !saved || err != nil {
			t.Fatal(saved, err)
		}
		f.account(record("s", "alice", billing.Stop, 100))
		if saved, err := f.Save(t.Context(), strings.Repeat("0", 32), coa.State{}); saved || err != nil {
			t.Errorf("a session that is not there: %v, %v", saved, err)
		}
		if items, _, err := f.Sessions(t.Context(), at(1), nil, "", 10); err != nil || len(items) != 0 {
			t.Errorf("%+v, %v", items, err)
		}
		if n := f.number("SELECT COUNT(*) FROM radpool_control"); n != 0 || f.Stats().Confirmed != 1 {
			t.Errorf("%d rows left, %d confirmed", n, f.Stats().Confirmed)
		}
		s.Version = 0
		if saved, err := f.Save(t.Context(), key, s); saved || err != nil {
			t.Errorf("a session that has ended: %v, %v", saved, err)
		}
	})
}

// Pages add up to all sessions, each once.
func TestPagesOfSessions(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.controlled(t)
		for n := range 23 {
			f.begin(fmt.Sprint("s", n), class2)
		}
		for _, users := range [][]string{nil, {"alice"}} {
			seen := make(map[string]bool)
			after := ""
			for pages := 1; ; pages++ {
				items, more, err := f.Sessions(t.Context(), at(1), users, after, 5)
				if err != nil {
					t.Fatal(err)
				}
				for _, it := range items {
					if seen[it.Session.Key] || it.Session.Key <= after {
						t.Errorf("%s twice, or out of order", it.Session.SessionID)
					}
					seen[it.Session.Key] = true
				}
				if after = more; more == "" {
					if pages != 5 || len(seen) != 23 {
						t.Errorf("%d pages with %d sessions", pages, len(seen))
					}
					break
				}
			}
		}
	})
}

// The balance that an Interim-Update uses up has the NAS asked, without a wait for the next
// sweep.
func TestAccountingWakesTheController(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.controlled(t)
		f.begin("s", class1)
		n := &fakeNAS{asked: make(chan string, 10)}
		c, err := coa.Start(coa.Config{Store: f.Backend, NAS: n, Sweep: time.Hour, Linger: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f.Watch(c.Wake)
		now := moved("s", 1_000_000_000)
		now.Time = time.Now()
		f.account(now)
		if got := <-n.asked; got != "change s pay" {
			t.Errorf("the NAS was asked for %q", got)
		}
		f.exec("UPDATE radpool_subscriber SET blocked = 1")
		now.OutputOctets++
		f.account(now) // the same price; more octets
		if got := <-n.asked; got != "disconnect s" {
			t.Errorf("the NAS was asked for %q", got)
		}
		f.Watch(nil)
	})
}
