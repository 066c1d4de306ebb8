//go:build !race && !radpooldebug

package radpool_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// What is tested here is otherwise where arena.Debug is true: there memory is poisoned, and not used again.

// The promise of the whole path: no allocation on the heap from the datagram to
// the reply, once everything is warm.
func TestNoAllocationPerRequest(t *testing.T) {
	for _, attributes := range []int{2, 20} {
		t.Run(fmt.Sprintf("%d attributes", attributes), func(t *testing.T) {
			var more []*radius.AVP
			for range attributes - 2 {
				more = append(more, avp(rfc2865.CallingStationID_Type, "00-11-22-33-44-55"))
			}
			exchange := servePipe(t, radpool.HandlerFunc(native), more...)
			for range 1 << 13 {
				exchange()
			}
			if got := testing.AllocsPerRun(5000, exchange); got != 0 {
				t.Errorf("%v allocations a request, want none", got)
			}
		})
	}
}

// The most workers there can be, asked for by a policy that wants more. The race
// detector has room for 8,128 goroutines, which are fewer.
func TestAsManyWorkersAsCanBe(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Policy: greedy{}}
	inWorld(t, s, func(w *world) {
		if st := w.server.Stats(); st.Pool.Workers != radpool.MaxWorkers || st.Pool.Idle != radpool.MaxWorkers {
			t.Errorf("%d workers, %d idle, want %d", st.Pool.Workers, st.Pool.Idle, radpool.MaxWorkers)
		}
		if w.nas(nasAddr).ask(access(1, 1, "ivan")) == nil {
			t.Error("no answer")
		}
	})
}

type greedy struct{}

func (greedy) Decide(time.Time, radpool.Snapshot) radpool.Decision {
	return radpool.Decision{Spawn: math.MaxInt}
}
