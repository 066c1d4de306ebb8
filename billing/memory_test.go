package billing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
)

var nas1 = netip.MustParseAddr("192.0.2.1")

func rec(id string, status billing.StatusType, at time.Time, sessionTime time.Duration, octets uint64) *billing.AccountingRecord {
	return &billing.AccountingRecord{
		Status: status, UniqueID: id, SessionID: id, UserName: "alice", NASAddr: nas1, Time: at,
		SessionTime: sessionTime, InputOctets: octets, OutputOctets: 2 * octets,
	}
}

// TestMemoryCommutes stores the records of a session in every order, each twice.
func TestMemoryCommutes(t *testing.T) {
	t0 := someTime()
	records := []*billing.AccountingRecord{
		rec("s", billing.Start, t0, 0, 0),
		rec("s", billing.InterimUpdate, t0.Add(60*time.Second), 60*time.Second, 100),
		rec("s", billing.InterimUpdate, t0.Add(120*time.Second), 120*time.Second, 300),
		rec("s", billing.Stop, t0.Add(130*time.Second), 130*time.Second, 310),
	}
	records[3].TerminateCause = 1
	want := billing.MemorySession{
		UniqueID: "s", SessionID: "s", UserName: "alice", NASAddr: nas1,
		Started: t0, Updated: t0.Add(130 * time.Second), Stopped: t0.Add(130 * time.Second),
		SessionTime: 130 * time.Second, InputOctets: 310, OutputOctets: 620, TerminateCause: 1,
	}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		m := billing.NewMemory(0)
		twice := append(append([]*billing.AccountingRecord(nil), records...), records...)
		rnd.Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
		for _, r := range twice {
			if err := m.Account(context.Background(), r); err != nil {
				t.Fatal(err)
			}
		}
		got, ok := m.Session("s")
		if kept, open := m.Sessions(); !ok || got != want || kept != 1 || open != 0 {
			t.Fatalf("seed %d: %+v, %d kept, %d open\nwant %+v", seed, got, kept, open, want)
		}
	}
}

// TestMemoryRestart ends the sessions of a NAS that restarts, also those of which
// the Start comes late.
func TestMemoryRestart(t *testing.T) {
	m := billing.NewMemory(0)
	t0, ctx := someTime(), context.Background()
	other := rec("elsewhere", billing.Start, t0, 0, 0)
	other.NASAddr = netip.MustParseAddr("192.0.2.2")
	on := &billing.AccountingRecord{Status: billing.AccountingOn, NASAddr: nas1, Time: t0.Add(time.Minute)}
	for _, r := range []*billing.AccountingRecord{
		rec("before", billing.Start, t0, 0, 0), other, on,
		rec("late", billing.Start, t0, 0, 0), rec("after", billing.Start, t0.Add(time.Hour), 0, 0),
		{Status: 9, UniqueID: "tunnel"},
	} {
		if err := m.Account(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for id, stopped := range map[string]bool{"before": true, "late": true, "after": false, "elsewhere": false} {
		s, ok := m.Session(id)
		if !ok || s.Stopped.IsZero() == stopped || stopped && (s.TerminateCause != 11 || !s.Stopped.Equal(on.Time)) {
			t.Errorf("%s: %+v", id, s)
		}
	}
	if _, ok := m.Session("tunnel"); ok {
		t.Error("a session of a status that is not kept")
	}
}

// TestMemoryRestarts ends a session at the first of several restarts after its
// start, whatever comes when.
func TestMemoryRestarts(t *testing.T) {
	t0 := someTime()
	restart := func(status billing.StatusType, after time.Duration) *billing.AccountingRecord {
		return &billing.AccountingRecord{Status: status, NASAddr: nas1, Time: t0.Add(after)}
	}
	records := []*billing.AccountingRecord{
		restart(billing.AccountingOn, -time.Hour),
		rec("s", billing.Start, t0, 0, 0),
		rec("s", billing.InterimUpdate, t0.Add(30*time.Second), 30*time.Second, 100),
		restart(billing.AccountingOff, 50*time.Second),
		restart(billing.AccountingOn, 55*time.Second),
	}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		m := billing.NewMemory(0)
		twice := append(append([]*billing.AccountingRecord(nil), records...), records...)
		rnd.Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
		for _, r := range twice {
			if err := m.Account(context.Background(), r); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := m.Session("s"); !got.Stopped.Equal(t0.Add(50*time.Second)) || got.TerminateCause != 11 {
			t.Fatalf("seed %d: ends at %v by %d, want %v by 11", seed, got.Stopped, got.TerminateCause, t0.Add(50*time.Second))
		}
	}
}

// TestMemoryBound forgets ended sessions, and refuses when all are open.
func TestMemoryBound(t *testing.T) {
	m := billing.NewMemory(3)
	ctx, t0 := context.Background(), someTime()
	for _, r := range []*billing.AccountingRecord{
		rec("1", billing.Stop, t0, 0, 0), rec("2", billing.Start, t0, 0, 0), rec("3", billing.Stop, t0, 0, 0),
		rec("4", billing.Start, t0, 0, 0), rec("5", billing.Start, t0, 0, 0),
	} {
		if err := m.Account(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Account(ctx, rec("6", billing.Start, t0, 0, 0)); !errors.Is(err, billing.ErrMemoryFull) {
		t.Errorf("%v", err)
	}
	if err := m.Account(ctx, rec("5", billing.InterimUpdate, t0, 0, 7)); err != nil {
		t.Errorf("a session that is known: %v", err)
	}
	var left []string
	for s := range m.All() {
		left = append(left, s.UniqueID)
	}
	if slices.Sort(left); !slices.Equal(left, []string{"2", "4", "5"}) {
		t.Errorf("%v are kept", left)
	}
	if kept, open := m.Sessions(); kept != 3 || open != 3 {
		t.Errorf("%d kept, %d open", kept, open)
	}
	defer func() {
		if recover() == nil {
			t.Error("NewMemory(-1) does not panic")
		}
	}()
	billing.NewMemory(-1)
}

func TestMemoryAuthorize(t *testing.T) {
	m := billing.NewMemory(0)
	ctx := context.Background()
	ask := func(user string) billing.Grant {
		g, err := m.Authorize(ctx, &billing.AccessRequest{UserName: user})
		if err != nil {
			t.Error(err)
		}
		return g
	}
	if g := ask("alice"); g.Reason != billing.ReasonUnknownUser {
		t.Errorf("%+v", g)
	}
	m.Put("alice", billing.Grant{SimultaneousUse: 5})
	if err := m.Account(ctx, rec("1", billing.Start, someTime(), 0, 0)); err != nil {
		t.Error(err)
	}
	if g := ask("alice"); g.OpenSessions != 1 {
		t.Errorf("%+v", g)
	}
	m.Delete("alice")
	if g := ask("alice"); g.Reason != billing.ReasonUnknownUser {
		t.Errorf("%+v", g)
	}
}

// TestMemoryAll stores and ends sessions while it looks at them, over several pages.
func TestMemoryAll(t *testing.T) {
	const n = 1000
	m := billing.NewMemory(n)
	for range m.All() {
		t.Fatal("a session of an empty Memory")
	}
	store := func(id int, status billing.StatusType) {
		if err := m.Account(t.Context(), rec(fmt.Sprint(id), status, someTime(), 0, 1)); err != nil {
			t.Error(err)
		}
	}
	for i := range n {
		store(i, []billing.StatusType{billing.Start, billing.Stop}[i%2])
	}
	seen := make(map[string]billing.MemorySession)
	for s := range m.All() {
		if want, ok := m.Session(s.UniqueID); !ok || s != want {
			t.Errorf("%+v, is %+v", s, want)
		}
		seen[s.UniqueID] = s
	}
	if len(seen) != n || !seen["0"].Stopped.IsZero() || seen["1"].Stopped.IsZero() {
		t.Errorf("%d of %d sessions", len(seen), n)
	}
	times, replaced := make(map[string]int), n
	for s := range m.All() {
		if times[s.UniqueID]++; replaced < n+300 {
			store(replaced, billing.Start) // forgets one that has ended
			replaced++
		}
	}
	for i := 0; i < n; i += 2 {
		if id := fmt.Sprint(i); times[id] != 1 {
			t.Errorf("session %s, open all the while, was there %d times", id, times[id])
		}
	}
	for s := range m.All() {
		if s.UniqueID != "0" {
			t.Errorf("the first is %s", s.UniqueID)
		}
		break
	}
}

// TestMemoryConcurrent is for the race detector.
func TestMemoryConcurrent(t *testing.T) {
	m := billing.NewMemory(100)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 500 {
				user := fmt.Sprint("u", i%10)
				m.Put(user, billing.Grant{SimultaneousUse: 1})
				_, _ = m.Authorize(t.Context(), &billing.AccessRequest{UserName: user})
				_ = m.Account(t.Context(), rec(fmt.Sprint(w, i), billing.Stop, someTime(), 0, 1))
				m.Sessions()
				if i%50 == 0 {
					for s := range m.All() {
						_ = s.UserName
					}
				}
			}
		})
	}
	wg.Wait()
}
