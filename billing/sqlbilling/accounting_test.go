package sqlbilling_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// story is the life of one session: each record tells something that others do
// not.
func story(session string) []*billing.AccountingRecord {
	start := record(session, billing.Start, 0)
	start.NASPort, start.NASPortType, start.HasPortType = "ge-1/0/1", 15, true
	start.Authentic, start.ServiceType, start.FramedProtocol = 1, 2, 1
	start.CallingStationID, start.ConnectInfo = "aa:bb:cc:dd:ee:ff", "100M"

	first := record(session, billing.InterimUpdate, 301)
	first.SessionTime, first.HasSession = 300*time.Second, true
	first.InputOctets, first.OutputOctets = 1000, 5<<32
	first.FramedAddr = netip.MustParseAddr("10.0.0.7")

	second := record(session, billing.InterimUpdate, 600)
	second.SessionTime, second.HasSession = 600*time.Second, true
	second.InputOctets, second.OutputOctets = 2000, 6<<32
	second.FramedIPv6Prefix = netip.MustParsePrefix("2001:db8:1::/64")
	second.Class = []byte{0, 1, 0xff}

	stop := record(session, billing.Stop, 900)
	stop.SessionTime, stop.HasSession = 900*time.Second, true
	stop.InputOctets, stop.OutputOctets = 3000, 7<<32
	stop.TerminateCause, stop.ConnectInfo = 1, "bye"
	return []*billing.AccountingRecord{start, first, second, stop}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			q := append(append(append([]int{}, p[:at]...), n-1), p[at:]...)
			all = append(all, q)
		}
	}
	return all
}

// Any order of Start, Interim, Interim and Stop, each twice, one by one, in one
// batch, or over two Backends as two servers have them, makes one and the same row.
func TestEveryOrderMakesTheSameRow(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		other := f.again(sqlbilling.Options{})
		want := ""
		for _, order := range permutations(4) {
			for _, twice := range []string{"each twice in a row", "all, then all again", "one batch", "over two Backends", "over two Backends at once"} {
				f.clear()
				recs := story("s")
				var sent []*billing.AccountingRecord
				for _, i := range order {
					sent = append(sent, recs[i])
					if twice == "each twice in a row" {
						sent = append(sent, recs[i])
					}
				}
				if twice != "each twice in a row" {
					sent = append(sent, sent...)
				}
				switch twice {
				case "one batch":
					errs := make([]error, len(sent))
					f.AccountBatch(t.Context(), sent, errs)
					for _, err := range errs {
						if err != nil {
							t.Fatal(err)
						}
					}
				case "over two Backends":
					for i, rec := range sent { // the second time by the other one
						[]*fixture{f, other}[(i+i/4)%2].account(rec)
					}
				case "over two Backends at once":
					var both sync.WaitGroup
					for i, b := range []*fixture{f, other} {
						for j := i; j < len(sent); j += 2 {
							both.Go(func() {
								if err := b.Account(t.Context(), sent[j]); err != nil {
									t.Error(err)
								}
							})
						}
					}
					both.Wait()
				default:
					f.account(sent...)
				}
				got := f.dump()
				if want == "" {
					want = got
					t.Log(got)
				}
				if got != want {
					t.Fatalf("order %v, %s:\n%s\nwant\n%s", order, twice, got, want)
				}
			}
		}
		for _, part := range []string{
			`"acctstarttime":1700000000`, `"acctupdatetime":1700000900`, `"acctstoptime":1700000900`, `"acctinterval":300`,
			`"acctsessiontime":900`, `"acctinputoctets":3000`, `"acctoutputoctets":30064771072`, `"acctterminatecause":"User-Request"`,
			`"nasporttype":"Ethernet"`, `"acctauthentic":"RADIUS"`, `"servicetype":"Framed-User"`, `"framedprotocol":"PPP"`,
			`"framedipaddress":"10.0.0.7"`, `"framedipv6prefix":"2001:db8:1::/64"`, `"class":"0x0001ff"`,
			`"connectinfo_start":"100M"`, `"connectinfo_stop":"bye"`, `"nasportid":"ge-1/0/1"`, `"nasipaddress":"192.0.2.1"`,
		} {
			if !strings.Contains(want, part) {
				t.Errorf("no %s in %s", part, want)
			}
		}
	})
}

// randomRecords are records of a few sessions on two NASes with restarts among
// them, with times and counters that contradict each other as they like.
func randomRecords(r *rand.Rand) []*billing.AccountingRecord {
	var recs []*billing.AccountingRecord
	for range 3 + r.IntN(12) {
		session := fmt.Sprintf("s%d", r.IntN(3))
		rec := record(session, []billing.StatusType{billing.Start, billing.InterimUpdate, billing.Stop,
			billing.InterimUpdate, billing.AccountingOn, billing.AccountingOff}[r.IntN(6)], int64(r.IntN(20)))
		if session == "s2" || r.IntN(8) == 0 && rec.Status > 3 {
			rec.NASAddr = netip.MustParseAddr("2001:db8::1")
		}
		rec.InputOctets, rec.OutputOctets = uint64(r.IntN(100)), r.Uint64()
		if r.IntN(3) > 0 {
			rec.SessionTime, rec.HasSession = time.Duration(r.IntN(20))*time.Second, true
		}
		rec.TerminateCause = []uint32{0, 1, 11, 2}[r.IntN(4)]
		rec.ConnectInfo = []string{"", "a", "b"}[r.IntN(3)]
		if r.IntN(2) == 0 {
			rec.FramedAddr = netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(3))})
		}
		recs = append(recs, rec)
	}
	return recs
}

// Whatever the order, the batches and the repetitions, the rows are those of the
// naive reference, which looks at all records at once.
func TestRandomOrdersAgreeWithReference(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		f := e.open(t, sqlbilling.Options{})
		rounds := 60
		if testing.Short() {
			rounds = 10
		}
		for round := range rounds {
			recs := randomRecords(r)
			want := reference(recs)
			for range 3 {
				f.clear()
				sent := append(append([]*billing.AccountingRecord{}, recs...), recs[:r.IntN(len(recs)+1)]...)
				r.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
				for len(sent) > 0 {
					n := 1 + r.IntN(min(3, len(sent)))
					errs := make([]error, n)
					f.AccountBatch(t.Context(), sent[:n], errs)
					for _, err := range errs {
						if err != nil {
							t.Fatal(err)
						}
					}
					sent = sent[n:]
				}
				if got := f.referenceRows(); got != want {
					for _, rec := range recs {
						t.Logf("%v %s at %d after %v cause %d", rec.Status, rec.SessionID, rec.Time.Unix()-epoch, rec.SessionTime, rec.TerminateCause)
					}
					t.Fatalf("seed %d, round %d:\n%s\nwant\n%s", seed, round, got, want)
				}
			}
		}
	})
}

// A restart of the NAS closes what had started by then, and nothing else, in
// whatever order the news comes.
func TestReload(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		other := netip.MustParseAddr("192.0.2.2")
		older, newer, elsewhere := record("older", billing.Start, 10), record("newer", billing.Start, 60), record("elsewhere", billing.Start, 10)
		elsewhere.NASAddr = other
		late := record("older", billing.InterimUpdate, 40)
		late.SessionTime, late.HasSession, late.InputOctets = 30*time.Second, true, 77
		off, on := record("", billing.AccountingOff, 50), record("", billing.AccountingOn, 55)
		recs := []*billing.AccountingRecord{older, newer, late, off, on}
		want := ""
		f := e.open(t, sqlbilling.Options{})
		for _, order := range permutations(len(recs)) {
			f.clear()
			f.account(elsewhere)
			for _, i := range order {
				f.account(recs[i])
			}
			got := f.dump()
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("order %v:\n%s\nwant\n%s", order, got, want)
			}
		}
		var closed []struct {
			ID    string `db:"acctsessionid"`
			Stop  int64  `db:"acctstoptime"`
			Cause string `db:"acctterminatecause"`
			Input int64  `db:"acctinputoctets"`
		}
		if err := f.raw.Select(&closed, "SELECT acctsessionid, "+e.seconds("acctstoptime")+" AS acctstoptime, acctterminatecause, acctinputoctets FROM radacct WHERE acctstoptime IS NOT NULL"); err != nil {
			t.Fatal(err)
		}
		if len(closed) != 1 || closed[0].ID != "older" || closed[0].Stop != epoch+50 || closed[0].Cause != "NAS-Reboot" || closed[0].Input != 77 {
			t.Errorf("closed: %+v", closed)
		}
		var reload int64
		if err := f.raw.Get(&reload, "SELECT "+e.seconds("reloadtime")+" FROM nasreload"); err != nil || reload != epoch+55 {
			t.Errorf("nasreload is %d (%v), want the newest", reload-epoch, err)
		}
		// The session's own Stop knows better.
		f.account(record("older", billing.Stop, 45))
		var stop int64
		if err := f.raw.Get(&stop, "SELECT "+e.seconds("acctstoptime")+" FROM radacct WHERE acctsessionid = 'older' AND acctterminatecause = ''"); err != nil || stop != epoch+45 {
			t.Errorf("after its own Stop: %d (%v)", stop-epoch, err)
		}
	})
}

// The restarts that are remembered are bounded.
func TestReloadsAreBounded(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for i := range int64(50) {
			f.account(record("", billing.AccountingOn, i))
		}
		var n, oldest int64
		if err := f.raw.QueryRow("SELECT COUNT(*), MIN(reloadtime) FROM radpool_reload WHERE nasipaddress <> ''").Scan(&n, &oldest); err != nil || n != 32 || oldest != epoch+18 {
			t.Errorf("%d restarts from %d on (%v), want 32 from 18 on", n, oldest-epoch, err)
		}
	})
}

func TestInterimFirstMakesTheRow(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		rec := record("s", billing.InterimUpdate, 1000)
		rec.SessionTime, rec.HasSession = 400*time.Second, true
		f.account(rec)
		var start int64
		if err := f.raw.Get(&start, "SELECT "+e.seconds("acctstarttime")+" FROM radacct WHERE acctstoptime IS NULL"); err != nil || start != epoch+600 {
			t.Errorf("starts at %d (%v), want 600", start-epoch, err)
		}
	})
}

// A status that the schema has no place for is answered, or the NAS would send it
// for ever; it makes no row.
func TestStatusWithoutAPlaceIsIgnored(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for _, status := range []billing.StatusType{0, 4, 9, 15} { // 9: Tunnel-Start
			if err := f.Account(t.Context(), record("s", status, 1)); err != nil {
				t.Errorf("status %d: %v", status, err)
			}
		}
		var rows int
		if err := f.raw.Get(&rows, "SELECT COUNT(*) FROM radacct"); err != nil || rows != 0 || f.Stats().Ignored != 4 {
			t.Errorf("%d rows, %d ignored (%v), want 0 and 4", rows, f.Stats().Ignored, err)
		}
	})
}

func TestBadRecordsAreNamed(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	for want, change := range map[string]func(*billing.AccountingRecord){
		"UniqueID has 3":          func(r *billing.AccountingRecord) { r.UniqueID = "abc" },
		"UniqueID is not hex":     func(r *billing.AccountingRecord) { r.UniqueID = strings.Repeat("x", 32) },
		"Time":                    func(r *billing.AccountingRecord) { r.Time = time.Time{} },
		"NASAddr":                 func(r *billing.AccountingRecord) { r.Status, r.NASAddr = billing.AccountingOn, netip.Addr{} },
		"Time is missing or befo": func(r *billing.AccountingRecord) { r.Status, r.Time = billing.AccountingOff, time.Unix(-1, 0) },
	} {
		bad, good := record("bad", billing.Start, 1), record("good", billing.Start, 1)
		change(bad)
		errs := make([]error, 2)
		f.AccountBatch(t.Context(), []*billing.AccountingRecord{bad, good}, errs)
		if errs[0] == nil || !strings.Contains(errs[0].Error(), want) || errs[1] != nil {
			t.Errorf("%v, want %q and nothing", errs, want)
		}
	}
}

// A Stop ends its session whatever the clock of the NAS says.
func TestStopOfAWrongClock(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		const last = math.MaxUint32 // of Event-Timestamp
		f.account(record("s", billing.Start, 0), record("s", billing.Stop, last-epoch), record("", billing.AccountingOn, last-epoch))
		var n int
		if f.get(&n, "SELECT COUNT(*) FROM radacct WHERE acctstoptime IS NOT NULL"); n != 1 {
			t.Error("the session is open", f.dump())
		}
	})
}
