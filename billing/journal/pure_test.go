package journal_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/radpool/radpool/billing/journal"
)

// ordered is the rule, as naively as can be: which two records must stay in order.
type rec struct {
	session, nas uint64
	restart      bool
}

func (a rec) ordered(b rec) bool {
	return a.session == b.session || a.nas == b.nas && (a.restart || b.restart)
}

func randomRecs(rng *rand.Rand) []rec {
	list := make([]rec, rng.IntN(40))
	for i := range list {
		nas := rng.Uint64N(3)
		list[i] = rec{session: nas*100 + rng.Uint64N(6), nas: nas, restart: rng.IntN(8) == 0}
		if list[i].restart {
			list[i].session = nas*100 + 50
		}
	}
	return list
}

func TestWavesAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		list := randomRecs(rng)
		all := make([]journal.Keys, len(list))
		want := make([]int, len(list))
		for i, r := range list {
			all[i] = journal.NewKeys(r.session, r.nas, r.restart)
			for k := range i {
				if list[k].ordered(r) {
					want[i] = max(want[i], want[k]+1)
				}
			}
		}
		got := journal.Waves(all)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v: %v, want %v", list, got, want)
		}
	}
}

func TestWaitingAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		w := journal.NewWaiting()
		var there []rec
		key := func(r rec) journal.Keys { return journal.NewKeys(r.session, r.nas, r.restart) }
		for _, r := range append(randomRecs(rng), randomRecs(rng)...) {
			want := false
			for _, x := range there {
				want = want || x.ordered(r)
			}
			if got := w.Before(key(r)); got != want {
				t.Fatalf("%v before %v: %v, want %v", there, r, got, want)
			}
			if len(there) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(there))
				w.Remove(key(there[i]))
				there = append(there[:i], there[i+1:]...)
			} else {
				w.Add(key(r))
				there = append(there, r)
			}
		}
		for _, x := range there {
			w.Remove(key(x))
		}
		if !w.Empty() {
			t.Fatal("something is left")
		}
	}
}

func TestPace(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	p := journal.NewPace(1000)
	for i, c := range []struct {
		after time.Duration
		n     int
		want  time.Duration
	}{
		{0, 500, 0}, {0, 500, 500 * time.Millisecond}, {time.Second, 100, 0}, {50 * time.Millisecond, 1, 50 * time.Millisecond}, {time.Hour, 1, 0},
	} {
		now = now.Add(c.after)
		if got := p.Wait(now, c.n); got != c.want {
			t.Errorf("step %d: %v, want %v", i, got, c.want)
		}
	}
}
