package radclient_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/radpool/radpool/radclient"
)

// naiveWaits is the text of RFC 5080 section 2.2.1, word by word, in seconds.
func naiveWaits(irt, mrt float64, draws []float64) []float64 {
	var waits []float64
	for i, r := range draws {
		var rt float64
		if i == 0 {
			rt = irt + r*irt
		} else {
			rt = 2*waits[i-1] + r*waits[i-1]
		}
		if rt > mrt {
			rt = mrt + r*mrt
		}
		waits = append(waits, rt)
	}
	return waits
}

func TestScheduleIsThatOfRFC5080(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		irt := time.Duration(1+random.IntN(5000)) * time.Millisecond
		r := radclient.Retransmission{
			IRT: irt, MRT: irt + time.Duration(random.IntN(30000))*time.Millisecond,
			MRC: 1 + random.IntN(12), MRD: time.Duration(1+random.IntN(120)) * time.Second,
		}
		draws := make([]float64, r.MRC)
		for i := range draws {
			draws[i] = 0.2*random.Float64() - 0.1
		}
		want := naiveWaits(r.IRT.Seconds(), r.MRT.Seconds(), draws)
		began := time.Duration(random.Int64N(1e12))
		var s radclient.Schedule
		s.Begin(began)
		now, ideal := began, began.Seconds()
		for i := range r.MRC {
			if s.Over(&r, now) {
				t.Fatalf("%+v: over after %d copies and %v", r, i, now-began)
			}
			due := s.Next(&r, now, draws[i])
			ideal = min(ideal+want[i], (began + r.MRD).Seconds())
			if diff := due.Seconds() - ideal; diff > 1e-5 || diff < -1e-5 {
				t.Fatalf("%+v: after copy %d the next is due at %v, want %v s", r, i+1, due, ideal)
			}
			now = due
			if now-began >= r.MRD {
				break
			}
		}
		if !s.Over(&r, now) {
			t.Fatalf("%+v: not over at %v", r, now-began)
		}
	}
}

func TestScheduleWithoutBounds(t *testing.T) {
	r := radclient.Retransmission{IRT: time.Second, MRT: 4 * time.Second, MRC: radclient.Unlimited, MRD: radclient.Unlimited}
	var s radclient.Schedule
	now := time.Duration(0)
	for i, want := range []time.Duration{1, 3, 7, 11, 15, 19} {
		if now = s.Next(&r, now, 0); now != want*time.Second || s.Over(&r, now) {
			t.Errorf("copy %d: the next is due at %v, want %v s", i+1, now, int(want))
		}
	}
	if s.Over(&r, 1000*time.Hour) {
		t.Error("over, without a bound")
	}
}

// The allocator beside a map that is searched through.
func TestIdentifiersBesideAMap(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const long, short = 1000, 100
	ids := radclient.NewIdentifiers(long, short)
	ready := map[int]time.Duration{} // what is not in use
	var used []int
	var now time.Duration
	available := func() bool {
		for _, at := range ready {
			if at <= now {
				return true
			}
		}
		return false
	}
	sockets := 0
	for range 60_000 {
		switch n := random.IntN(100); {
		case n == 0:
			now += time.Duration(random.IntN(400))
		case n == 1 && sockets < 3:
			for i := range 256 {
				ready[sockets*256+i] = 0
			}
			sockets++
			ids.Grow()
		case n < 55:
			want := available()
			id, ok := ids.Take(now)
			if ok != want {
				t.Fatalf("at %d: Take said %v, want %v", now, ok, want)
			}
			if at := ids.ReadyAt(); !ok && at <= now {
				t.Fatalf("at %d: nothing to take, but one is ready at %d", now, at)
			}
			if !ok {
				continue
			}
			if at, free := ready[id]; !free || at > now {
				t.Fatalf("at %d: took %d, which is in use or rests until %d", now, id, at)
			}
			delete(ready, id)
			used = append(used, id)
		case len(used) > 0:
			i := random.IntN(len(used))
			id, settled := used[i], random.IntN(3) > 0
			used[i] = used[len(used)-1]
			used = used[:len(used)-1]
			ids.Give(now, id, settled)
			ready[id] = now + long
			if settled {
				ready[id] = now + short
			}
		}
	}
	if sockets != 3 || len(used)+len(ready) != 3*256 {
		t.Fatalf("the test has lost Identifiers: %d used, %d free, %d sockets", len(used), len(ready), sockets)
	}
}

func failover(t *testing.T) *radclient.Failover {
	t.Helper()
	cfg, err := radclient.Config{Servers: []radclient.Server{{Addr: serverA, Secret: []byte("x")}}}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return &cfg.Failover
}

func TestHealth(t *testing.T) {
	const s = time.Second
	f := failover(t)
	h := radclient.NewHealth(false)
	// Two waits in vain and one reply: it lives.
	h.Unanswered(f, 2*s, 0)
	h.Unanswered(f, 2*s, 0)
	h.Replied(3 * s)
	if h.Unanswered(f, 4*s, 2*s) {
		t.Error("dead by a copy that is older than its last reply")
	}
	for i, want := range []bool{false, false, true} {
		if got := h.Unanswered(f, 10*s, 5*s); got != want {
			t.Errorf("wait %d in vain: dead %v, want %v", i+1, got, want)
		}
	}
	if h.Next(f) != 10*s || !h.Probe(f, 10*s, 0) || h.Probe(f, 39*s, 0) || !h.Probe(f, 40*s, 0) {
		t.Error("probes are due at once, and each ProbeInterval after that")
	}
	// The answers must come in a row; after one the next probe does not wait for long.
	steps := []struct {
		answered, alive bool
	}{{true, false}, {true, false}, {false, false}, {true, false}, {true, false}, {true, true}}
	for i, step := range steps {
		if got := h.ProbeEnded(f, 41*s, step.answered); got != step.alive {
			t.Errorf("probe %d: alive %v, want %v", i+1, got, step.alive)
		}
	}
	if h.State() != radclient.Alive || h.Next(f) != radclient.Never {
		t.Errorf("%v, with something to do at %v", h.State(), h.Next(f))
	}
}

func TestHealthRevivesByTimeWhereProbesTellNothing(t *testing.T) {
	const s = time.Second
	f := failover(t)
	for _, c := range []struct {
		name            string
		noProbes, knows bool
		next, revived   time.Duration
	}{
		{"never probed", true, false, 120 * s, 120 * s},
		{"never answered a probe", false, false, 0, 120 * s},
		{"answers probes", false, true, 0, radclient.Never},
	} {
		h := radclient.NewHealth(c.noProbes)
		for range 3 {
			h.Unanswered(f, 0, 0)
		}
		if c.knows {
			h.ProbeEnded(f, 1, true)
			h.ProbeEnded(f, 2, false)
		}
		if got := h.Next(f); got != c.next {
			t.Errorf("%s: next at %v, want %v", c.name, got, c.next)
		}
		if h.Revive(f, 120*s-1) || h.Revive(f, 120*s) != (c.revived == 120*s) {
			t.Errorf("%s: does not revive at %v alone", c.name, c.revived)
		}
	}
}
