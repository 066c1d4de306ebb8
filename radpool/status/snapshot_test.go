package status_test

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

// Each number of the snapshot is that of Stats.
func TestSnapshotIsStats(t *testing.T) {
	s := serving()
	s.stats.InFlight, s.stats.SocketDrops, s.stats.SocketsUncounted, s.stats.ReceiveBuffer = 3, 4, 1, 4096
	s.stats.MaxWorkers, s.stats.MinSpare, s.stats.MaxSpare, s.stats.ServiceTime = 128, 8, 32, 50*time.Millisecond
	s.stats.Pool = radpool.PoolStats{Workers: 20, Idle: 12, Busy: 8, WorkersHighWater: 21, BusyHighWater: 19, Queued: 7, MaxQueueSize: 100, QueueHighWater: 50, Spawned: 30}
	s.stats.Pool.Classes[radpool.ClassAccess] = radpool.ClassStats{Queued: 5, Oldest: 2 * time.Second, NewestFirst: true, Submitted: 99, Refused: 1, Evicted: 2, Expired: 3}
	s.stats.Cache = cache.Stats{MaxRequests: 1000, Entries: 10, InFlight: 3, Retained: 7, Bytes: 1700, Evicted: 2}
	s.stats.Arena = arena.Stats{InUse: 3, HighWater: 900, LowWater: 80, P50: 100, P90: 400, P99: 800, ChunkSize: 1024, Overflows: 6}
	s.waiting = []radpool.WaitingNAS{{Addr: netip.MustParseAddr("192.0.2.7"), Client: "bras7", Total: 5, Oldest: 2 * time.Second}}
	sum := s.stats.InFlight
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		setOutcome(&s.stats, o, uint64(100+o))
		sum += uint64(100 + o)
	}
	s.stats.Received = sum

	got := snapshot(t, newPage(t, s, status.Options{Title: "radius1"}))
	if got.Title != "radius1" || got.Received != sum || got.InFlight != 3 || !got.Started.Equal(s.stats.Started) {
		t.Errorf("%q, %d received, %d in flight, since %v", got.Title, got.Received, got.InFlight, got.Started)
	}
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		if g := got.Outcomes[o]; g.Name != o.String() || g.Count != uint64(100+o) || g.Kind == "" || g.Meaning == "" {
			t.Errorf("%v: %+v", o, g)
		}
		sum -= got.Outcomes[o].Count
	}
	if sum != got.InFlight {
		t.Errorf("the outcomes and what is in flight are not all that was received")
	}
	if want := (status.Sockets{Dropped: 4, Uncounted: 1, ReceiveBuffer: 4096}); got.Sockets != want {
		t.Errorf("sockets %+v, want %+v", got.Sockets, want)
	}
	if w := got.Workers; w.Workers != 20 || w.Idle != 12 || w.Busy != 8 || w.Max != 128 || w.MinSpare != 8 || w.MaxSpare != 32 || w.HighWater != 21 || w.BusyHighWater != 19 || w.Spawned != 30 || w.ServiceTime != 0.05 {
		t.Errorf("workers %+v", w)
	}
	if q := got.Queue; q.Waiting != 7 || q.Max != 100 || q.HighWater != 50 || q.OldestSeconds != 2 || len(q.Classes) != radpool.NumClasses {
		t.Errorf("queue %+v", q)
	}
	access := got.Queue.Classes[radpool.ClassAccess]
	access.Meaning = ""
	if want := (status.Class{Name: "access", Waiting: 5, OldestSeconds: 2, NewestFirst: true, Submitted: 99, Refused: 1, Evicted: 2, Expired: 3}); access != want {
		t.Errorf("class %+v, want %+v", access, want)
	}
	if want := (status.Cache{Entries: 10, Max: 1000, InFlight: 3, Retained: 7, Octets: 1700, Evicted: 2}); got.Cache != want {
		t.Errorf("cache %+v, want %+v", got.Cache, want)
	}
	if want := (status.Arena{InUse: 3, ChunkSize: 1024, HighWater: 900, LowWater: 80, P50: 100, P90: 400, P99: 800, Overflows: 6}); got.Arena != want {
		t.Errorf("arena %+v, want %+v", got.Arena, want)
	}
	if want := (status.Waiting{Address: "192.0.2.7", Client: "bras7", Waiting: 5, OldestSeconds: 2}); len(got.Waiting) != 1 || got.Waiting[0] != want {
		t.Errorf("waiting %+v, want %+v", got.Waiting, want)
	}
	if want := s.stats.Advice().Reasons; !slices.Equal(got.Advice, want) {
		t.Errorf("advice %q, want %q", got.Advice, want)
	}
	for i, c := range got.Queue.Classes {
		if c.Name != radpool.Class(i).String() || c.Meaning == "" {
			t.Errorf("class %d is %q, %q", i, c.Name, c.Meaning)
		}
	}
}

// setOutcome sets the counter of o.
func setOutcome(st *radpool.Stats, o radpool.Outcome, n uint64) {
	*[]*uint64{
		&st.Malformed, &st.UnknownClient, &st.WrongCode, &st.Unauthentic, &st.Stale, &st.StatusServer, &st.Duplicate, &st.Replayed,
		&st.TableFull, &st.QueueFull, &st.Shed, &st.Expired, &st.Superseded, &st.Replied, &st.Unanswered, &st.Failed, &st.Aborted,
	}[o] = n
}

// 100 requests a second of 10 ms for a quarter of an hour and more, then 20 of 1 s for
// half a minute: what is of now is of now, and what is kept is bounded.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serving()
		p, err := status.New(s, status.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if got := snapshot(t, p); len(got.History) != 0 || got.Rates != (status.Rates{}) {
			t.Errorf("at first: %+v a second, %d points", got.Rates, len(got.History))
		}
		second := func(n uint64, took time.Duration) {
			s.count(func(st *radpool.Stats) {
				add(st, n, took)
				st.Expired, st.Duplicate, st.Received = st.Expired+2, st.Duplicate+1, st.Received+3
				st.Pool.Queued, st.Pool.Workers, st.Pool.Busy = int(n), 30, 20
			})
			time.Sleep(time.Second)
			synctest.Wait()
		}
		for range 20 * 60 {
			second(100, 10*time.Millisecond)
		}
		got := snapshot(t, p)
		if r := got.Rates; !near(r.Received, 103) || !near(r.Answered, 100) || !near(r.Dropped, 2) || !near(r.Silent, 1) {
			t.Errorf("%+v a second", r)
		}
		if a := got.ResponseTimes[0]; a.Name != "Access-Request" || a.Count < 5900 || a.Count > 6600 || a.P99 < 0.008 || a.P99 > 0.0101 || !near(a.Mean, 0.01) {
			t.Errorf("of the last minute %+v", a)
		}
		if o := got.Outcomes[radpool.Expired]; !near(o.PerSecond, 2) {
			t.Errorf("%+v", o)
		}
		h := got.History
		if len(h) != 180 || got.Time.Sub(h[0].Time) > status.HistoryTime || got.Time.Sub(h[179].Time) > 5*time.Second || got.IntervalSeconds != 5 {
			t.Fatalf("%d points from %v to %v, now is %v", len(h), h[0].Time, h[len(h)-1].Time, got.Time)
		}
		for i, point := range h {
			if !near(point.Received, 103) || !near(point.Answered, 100) || !near(point.Dropped, 2) || point.Waiting != 100 || point.Workers != 30 || point.Busy != 20 ||
				point.AccessP99 < 0.008 || point.AccessP99 > 0.0101 || point.AccountingP99 != 0 || i > 0 && point.Time.Sub(h[i-1].Time) != 5*time.Second {
				t.Fatalf("point %d: %+v", i, point)
			}
		}
		for range 30 {
			second(20, time.Second)
		}
		got = snapshot(t, p)
		if !near(got.Rates.Answered, 20) {
			t.Errorf("later %+v a second", got.Rates)
		}
		if a := got.ResponseTimes[0]; a.P50 > 0.0101 || a.P99 < 0.8 {
			t.Errorf("later, of the last minute %+v", a)
		}
		if last := got.History[len(got.History)-1]; last.AccessP50 < 0.8 || last.Waiting != 20 || len(got.History) != 180 {
			t.Errorf("the last of %d points: %+v", len(got.History), last)
		}
	})
}

func near(got, want float64) bool { return math.Abs(got-want) <= want/100 }

// However many look, the server is asked once a second; and a page that is closed can
// still be asked for.
func TestOnePictureASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		p := newPage(t, serving(), status.Options{Figures: func() []status.Figure { asked++; return nil }})
		for range 10 {
			for range 100 {
				ask(p, "/")
				ask(p, "/status.json")
				p.Snapshot()
			}
			time.Sleep(time.Second)
		}
		if asked != 10 {
			t.Errorf("the back end was asked %d times in 10 s", asked)
		}
		p.Close()
		p.Close()
		time.Sleep(time.Minute)
		if got := snapshot(t, p); got.Alerts == nil || len(got.History) > 3 {
			t.Errorf("closed, it says %v, and has %d points", got.Alerts, len(got.History))
		}
	})
}

func TestFiguresAreBounded(t *testing.T) {
	many := make([]status.Figure, 1000)
	many[0].Value, many[1].Value, many[2].Value = math.NaN(), math.Inf(1), 7
	p := newPage(t, serving(), status.Options{Figures: func() []status.Figure { return many }})
	if got := snapshot(t, p).Figures; len(got) != status.MaxFigures-2 || got[0].Value != 7 {
		t.Errorf("%d figures, the first is %+v", len(got), got[0])
	}
	if !math.IsInf(many[1].Value, 1) {
		t.Error("the list of the back end was changed")
	}
}

// The ten that have asked most, beside a naive sort.
func TestTopClients(t *testing.T) {
	for n := range 30 {
		var list []radpool.Client
		for i := range n {
			list = append(list, radpool.Client{Name: string(rune('a' + i)), Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 32), Secret: []byte("x")})
		}
		clients, err := radpool.NewClients(list...)
		if err != nil {
			t.Fatal(err)
		}
		states := clients.States()
		for i := range states {
			states[i].Requests, states[i].Duplicates, states[i].Dropped = rand.Uint64N(10), rand.Uint64N(3), rand.Uint64N(9)
		}
		var want []string
		sorted := slices.Clone(states)
		slices.SortStableFunc(sorted, func(a, b radpool.ClientState) int {
			return int(b.Requests+b.Duplicates) - int(a.Requests+a.Duplicates)
		})
		for _, s := range sorted[:min(n, status.MaxClients)] {
			want = append(want, s.Name)
		}
		var got []string
		for _, c := range status.TopOf(states) {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
		p := newPage(t, serving(), status.Options{Clients: clients})
		if s := snapshot(t, p); s.ClientsTotal != n || len(s.Clients) != min(n, status.MaxClients) {
			t.Errorf("%d of %d clients are shown", len(s.Clients), s.ClientsTotal)
		}
	}
}
