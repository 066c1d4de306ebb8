package radpool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/radpool"
)

// A server that is asked far more than it can answer answers as much as it can, all
// of it to NASes that still wait; and when it is asked less again, it answers that at
// once, whatever it has been left with.
func TestOverloadAndRecovery(t *testing.T) {
	for times, least := range map[int]float64{2: 0.97, 10: 0.97} {
		t.Run(fmt.Sprintf("%dx", times), func(t *testing.T) {
			if (testing.Short() || arena.Debug) && times > 2 {
				t.Skip("it takes long")
			}
			const overload, end = 10 * time.Second, 14 * time.Second
			inStorm(t, end+time.Second, radpool.Config{}, []stormSource{
				{addr: "192.0.2.10", rate: times * stormCapacity, end: overload},
				{addr: "192.0.2.10", rate: stormCapacity / 2, begin: overload, end: end},
			}, func(t *testing.T, s *storm, server *radpool.Server) {
				good := s.answeredIn(0, overload)
				share := float64(good) / (float64(stormCapacity) * overload.Seconds())
				after := s.figures(1, overload+time.Second, end)
				st := server.Stats()
				t.Logf("goodput %.3f of capacity, %d late replies; after it %d of %d, p99 %v; %d expired, most waiting %d",
					share, s.late, after.answered, after.offered, after.p99, st.Expired, st.Pool.QueueHighWater)
				if share < least {
					t.Errorf("goodput %.3f of capacity, want at least %.2f", share, least)
				}
				if after.share() < 0.99 || after.p99 >= 2*stormService {
					t.Errorf("after it %d of %d were answered, p99 %v", after.answered, after.offered, after.p99)
				}
				if all := s.figures(1, overload, end); all.share() < 0.99 {
					t.Errorf("from the first second after it %d of %d were answered", all.answered, all.offered)
				}
				if s.late > good/100 {
					t.Errorf("%d replies that nobody waited for", s.late)
				}
			})
		})
	}
}

// flood is one that asks for ten times what there is, and one that asks for a tenth.
var flood = []stormSource{
	{addr: "192.0.2.10", rate: 10 * stormCapacity, end: floodEnd},
	{addr: "192.0.2.11", rate: stormCapacity / 10, end: floodEnd},
}

const floodEnd = 8 * time.Second

func checkFlood(t *testing.T, s *storm) {
	small := s.figures(1, 0, floodEnd)
	if small.share() < 0.99 || small.p99 > 5*stormService {
		t.Errorf("the small one: %d of %d were answered, p99 %v", small.answered, small.offered, small.p99)
	}
	if share := float64(s.answeredIn(0, floodEnd)) / (float64(stormCapacity) * floodEnd.Seconds()); share < 0.97 {
		t.Errorf("goodput %.3f of capacity", share)
	}
}

// One that asks for ten times what there is harms nobody but itself, and is found.
func TestFloodHarmsOnlyTheFlooder(t *testing.T) {
	inStorm(t, floodEnd+time.Second, radpool.Config{}, flood, func(t *testing.T, s *storm, server *radpool.Server) {
		checkFlood(t, s)
		who := server.Waiting(3)
		if len(who) != 1 || who[0].Addr.String() != "192.0.2.10" || who[0].Client != nasSubnet.String() {
			t.Fatalf("who waits: %+v", who)
		}
		if n := who[0].Queued[radpool.ClassAccess]; n != who[0].Total || n != server.Stats().Pool.Queued || who[0].Oldest < time.Second {
			t.Errorf("who waits: %+v", who)
		}
		st := server.Clients.States()[0]
		if st.Requests < uint64(len(s.requests)) || st.Dropped != server.Stats().Expired || st.Duplicates != server.Stats().Duplicate {
			t.Errorf("the client's counters: %+v, of %d requests, %+v", st, len(s.requests), server.Stats())
		}
		if st.Patience < stormTimeout || st.Patience > stormTimeout*5/4 {
			t.Errorf("%v of patience, of NASes that wait for %v", st.Patience, stormTimeout)
		}
	})
}

// The same while the queue is full of it.
func TestFloodOfAFullQueue(t *testing.T) {
	inStorm(t, floodEnd+time.Second, radpool.Config{MaxQueueSize: 500}, flood, func(t *testing.T, s *storm, server *radpool.Server) {
		checkFlood(t, s)
		if st := server.Stats(); st.Shed == 0 || st.Pool.QueueHighWater != 500 {
			t.Errorf("%d gave way, most waiting %d", st.Shed, st.Pool.QueueHighWater)
		}
	})
}

// Accounting gives way to Access-Requests, and Interim-Updates to the rest of it; but
// none is left without anything.
func TestOverloadByClass(t *testing.T) {
	const end = 10 * time.Second
	inStorm(t, end+9*time.Second, radpool.Config{}, []stormSource{
		{addr: "192.0.2.10", kind: stormAccess, rate: stormCapacity / 2, end: end},
		{addr: "192.0.2.10", kind: stormStart, rate: stormCapacity / 3, end: end},
		{addr: "192.0.2.10", kind: stormStop, rate: stormCapacity / 3, end: end},
		{addr: "192.0.2.10", kind: stormInterim, rate: stormCapacity, end: end},
	}, func(t *testing.T, s *storm, server *radpool.Server) {
		auth, start, stop, interim := s.figures(0, 0, end), s.figures(1, 0, end), s.figures(2, 0, end), s.figures(3, 0, end)
		t.Logf("answered: access %.3f, start %.3f, stop %.3f, interim %.3f", auth.share(), start.share(), stop.share(), interim.share())
		if auth.share() < 0.999 || auth.p99 > 4*stormService {
			t.Errorf("%d of %d Access-Requests were answered, p99 %v", auth.answered, auth.offered, auth.p99)
		}
		if start.share() < interim.share()+0.2 || stop.share() < interim.share()+0.2 {
			t.Errorf("answered: start %.3f, stop %.3f, interim %.3f", start.share(), stop.share(), interim.share())
		}
		if s.late > 100 {
			t.Errorf("%d replies that nobody waited for", s.late)
		}
		if c := server.Stats().Pool.Classes; c[radpool.ClassInterim].Expired == 0 || c[radpool.ClassAccess].Expired > 0 {
			t.Errorf("expired by class: %+v", c)
		}
	})
}

// As many Access-Requests as can be answered lose next to nothing to as much accounting
// beside them.
func TestAccountingCostsAccessNothing(t *testing.T) {
	const end = 10 * time.Second
	auth := stormSource{addr: "192.0.2.10", kind: stormAccess, rate: stormCapacity, end: end}
	var alone figures
	inStorm(t, end+9*time.Second, radpool.Config{}, []stormSource{auth}, func(_ *testing.T, s *storm, _ *radpool.Server) {
		alone = s.figures(0, 0, end)
	})
	third := func(k stormKind) stormSource {
		return stormSource{addr: "192.0.2.10", kind: k, rate: stormCapacity / 3, end: end}
	}
	inStorm(t, end+9*time.Second, radpool.Config{}, []stormSource{auth, third(stormStart), third(stormStop), third(stormInterim)},
		func(t *testing.T, s *storm, _ *radpool.Server) {
			auth, start, stop, interim := s.figures(0, 0, end), s.figures(1, 0, end), s.figures(2, 0, end), s.figures(3, 0, end)
			t.Logf("access alone %d of %d; with accounting %d, p99 %v; start %d, stop %d, interim %d of %d each",
				alone.answered, alone.offered, auth.answered, auth.p99, start.answered, stop.answered, interim.answered, start.offered)
			if auth.share() < alone.share()-0.001 {
				t.Errorf("%d of %d were answered, and without accounting %d", auth.answered, auth.offered, alone.answered)
			}
			if most := interim.answered * 5 / 4; most > start.answered || most > stop.answered || interim.answered == 0 {
				t.Errorf("answered: start %d, stop %d, interim %d", start.answered, stop.answered, interim.answered)
			}
		})
}

// A conversation that has begun is finished before another one is begun.
func TestConversationsAreFinished(t *testing.T) {
	const end = 5 * time.Second
	inStorm(t, end+4*time.Second, radpool.Config{}, []stormSource{
		{addr: "192.0.2.10", kind: stormAccess, rate: 2 * stormCapacity, end: end},
		{addr: "192.0.2.10", kind: stormStep, rate: stormCapacity / 2, end: end},
	}, func(t *testing.T, s *storm, _ *radpool.Server) {
		begun, steps := s.figures(0, 0, end), s.figures(1, 0, end)
		if steps.share() < 0.999 || steps.p99 > 4*stormService || begun.answered < stormCapacity*2 {
			t.Errorf("%d of %d steps were answered, p99 %v, and %d first requests", steps.answered, steps.offered, steps.p99, begun.answered)
		}
	})
}
