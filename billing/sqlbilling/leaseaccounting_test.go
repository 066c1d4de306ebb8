package sqlbilling_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
)

var leased = netip.MustParseAddr("10.9.0.1")

// leasedAt makes alice's device have the only address since so many seconds.
func (f *fixture) leasedAt(ago int64) {
	f.t.Helper()
	f.exec("DELETE FROM radippool")
	f.fillPool("main", 1)
	expect(f.t, "the lease", f.ask("alice", "alice"), leased.String())
	expr := map[string]string{"SQLite": "datetime(?, 'unixepoch')", "MariaDB": "FROM_UNIXTIME(?)", "PostgreSQL": "to_timestamp(?::bigint)"}[f.e.Name]
	f.exec("UPDATE radippool SET expiry_time = "+expr, time.Now().Unix()-ago+3600)
}

// expiry is when the lease ends, in seconds before what it would be without renewal
// if it were given now.
func (f *fixture) age(now int64) (ago int64) {
	f.t.Helper()
	expr := "CAST(strftime('%s', expiry_time) AS INTEGER)"
	if f.e.Name != "SQLite" {
		expr = f.e.seconds("expiry_time")
	}
	f.get(&ago, "SELECT "+expr+" FROM radippool")
	return now + 3600 - ago
}

// before is a record of alice's session, of so many seconds before now.
func before(now int64, session string, status billing.StatusType, ago int64) *billing.AccountingRecord {
	rec := live(session, "alice", status, leased, 0)
	rec.Time = time.Unix(now-ago, 0)
	return rec
}

// Start, Interim-Update, Interim-Update and Stop, in every order, each twice, on two
// servers: the lease is free in the end, since the same second.
func TestLeaseInEveryOrder(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		one := e.open(t, sqlbilling.Options{})
		servers := []*fixture{one, one.again(sqlbilling.Options{})}
		for n, order := range permutations(4) {
			now := time.Now().Unix()
			one.clear()
			one.leasedAt(1001)
			recs := []*billing.AccountingRecord{before(now, "s", billing.Start, 1000), before(now, "s", billing.InterimUpdate, 700),
				before(now, "s", billing.InterimUpdate, 100), before(now, "s", billing.Stop, 100)}
			for k, i := range order {
				servers[(k+n)%2].account(recs[i])
				servers[k%2].account(recs[i])
			}
			if got := one.age(now); got != 3600+100+1 {
				t.Errorf("%v: the lease ended %d s ago", order, got-3600)
			}
			expect(t, "somebody else", one.ask("bob", "bob"), leased.String())
		}
	})
}

func TestLeaseIsRenewedAndFreed(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for _, c := range []struct {
			what string
			rec  func(now int64) *billing.AccountingRecord
			want int64 // how long ago the lease was given or renewed, as it seems
		}{
			{"Start", func(now int64) *billing.AccountingRecord { return before(now, "s", billing.Start, 90) }, 90},
			{"Interim", func(now int64) *billing.AccountingRecord { return before(now, "s", billing.InterimUpdate, 0) }, 0},
			{"Interim of a clock ahead", func(now int64) *billing.AccountingRecord { return before(now, "s", billing.InterimUpdate, -9000) }, 0},
			{"Interim of a clock of long ago", func(now int64) *billing.AccountingRecord { return before(now, "s", billing.InterimUpdate, 1e9) }, 0},
			{"Stop", func(now int64) *billing.AccountingRecord { return before(now, "s", billing.Stop, 30) }, 3631},
			{"Stop of the session before", func(now int64) *billing.AccountingRecord { return before(now, "s", billing.Stop, 101) }, 100},
			{"Stop in the second of the lease", func(now int64) *billing.AccountingRecord {
				rec := before(now, "s", billing.Stop, 100)
				rec.SessionTime, rec.HasSession = 500*time.Second, true
				return rec
			}, 100},
			{"Stop of another device", func(now int64) *billing.AccountingRecord {
				rec := before(now, "s", billing.Stop, 0)
				rec.CallingStationID = "another"
				return rec
			}, 100},
			{"Stop of another address", func(now int64) *billing.AccountingRecord {
				rec := before(now, "s", billing.Stop, 0)
				rec.FramedAddr = netip.MustParseAddr("10.9.0.2")
				return rec
			}, 100},
			{"Interim without a device, in other letters", func(now int64) *billing.AccountingRecord {
				rec := before(now, "s", billing.InterimUpdate, 50)
				rec.CallingStationID, rec.UserName = "", "ALICE"
				return rec
			}, 50},
			{"Interim without a device, of another NAS", func(now int64) *billing.AccountingRecord {
				rec := before(now, "s", billing.InterimUpdate, 50)
				rec.CallingStationID, rec.NASAddr = "", netip.MustParseAddr("192.0.2.9")
				return rec
			}, 100},
			{"Accounting-On", func(now int64) *billing.AccountingRecord { return before(now, "", billing.AccountingOn, 40) }, 3641},
			{"Accounting-Off before the lease", func(now int64) *billing.AccountingRecord { return before(now, "", billing.AccountingOff, 100) }, 100},
			{"Accounting-On of another NAS", func(now int64) *billing.AccountingRecord {
				rec := before(now, "", billing.AccountingOn, 40)
				rec.NASAddr = netip.MustParseAddr("192.0.2.9")
				return rec
			}, 100},
		} {
			f.clear()
			now := time.Now().Unix()
			f.leasedAt(100)
			f.account(c.rec(now))
			if got := f.age(now); got < c.want-2 || got > c.want { // the clock goes on
				t.Errorf("%s: %d, want %d", c.what, got, c.want)
			}
		}
	})
}

// What comes late of sessions that have ended does not revive a lease.
func TestLeaseIsNotRevived(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for _, end := range []*billing.AccountingRecord{
			before(time.Now().Unix(), "s", billing.Stop, 10), before(time.Now().Unix(), "", billing.AccountingOff, 10),
		} {
			f.clear()
			now := time.Now().Unix()
			f.leasedAt(100)
			f.account(end, before(now, "s", billing.InterimUpdate, 20), before(now, "s", billing.Start, 99))
			if got := f.age(now); got < 3600 {
				t.Errorf("after %v: %d", end.Status, got)
			}
		}
	})
}

// A wider simulation of the rule alone: whatever the order of a session's records, the
// lease ends in the same second.
func TestLeaseCommutes(t *testing.T) {
	const now, lasts = 1_000_000, 3600
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		start := now - 3000 + rnd.Int64N(100)
		given := start - rnd.Int64N(3)
		var recs []acct.Session
		last := start
		for range rnd.IntN(4) {
			last += rnd.Int64N(3)
			recs = append(recs, acct.Session{Start: start, Update: last})
		}
		recs = append(recs, acct.Session{Start: start, Update: start})
		if rnd.IntN(3) > 0 {
			last += rnd.Int64N(3)
			recs = append(recs, acct.Session{Start: start, Update: last, Stop: last})
		}
		want := given + lasts // the naive rule, which knows all records at once
		for _, r := range recs {
			want = max(want, r.Update+lasts)
		}
		if recs[len(recs)-1].Stop != 0 {
			want = last - 1
		}
		recs = append(recs, recs[rnd.IntN(len(recs))])
		rnd.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
		expiry, known := given+lasts, acct.Session{}
		for _, r := range recs {
			expiry, known = sqlbilling.LeaseAfter(expiry, now, lasts, known, r)
		}
		if expiry != want {
			t.Fatalf("%d, want %d, after %s", expiry, want, fmt.Sprintf("%+v", recs))
		}
	}
}
