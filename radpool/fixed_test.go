package radpool_test

import (
	"testing"

	"github.com/radpool/radpool/radpool"
)

func TestFixedDecide(t *testing.T) {
	for _, tc := range []struct {
		s    radpool.Snapshot
		want radpool.Decision
	}{
		{radpool.Snapshot{}, radpool.Decision{Spawn: 5}},
		{radpool.Snapshot{Workers: 3, Busy: 3}, radpool.Decision{Spawn: 2}},
		{radpool.Snapshot{Workers: 5, Busy: 5, Queued: 1000}, radpool.Decision{}},
		{radpool.Snapshot{Workers: 9, Idle: 9}, radpool.Decision{Retire: 4}},
		{radpool.Snapshot{Workers: 9, Idle: 1, Busy: 8}, radpool.Decision{Retire: 1}},
	} {
		if got := radpool.Fixed(5).Decide(policyEpoch, tc.s); got != tc.want {
			t.Errorf("%+v: %+v; want %+v", tc.s, got, tc.want)
		}
	}
}

func TestFixedValidate(t *testing.T) {
	for _, n := range []radpool.Fixed{-1, 0, radpool.MaxWorkers + 1} {
		if n.Validate() == nil {
			t.Errorf("Fixed(%d) is valid", int(n))
		}
	}
	for _, n := range []radpool.Fixed{1, radpool.MaxWorkers} {
		if err := n.Validate(); err != nil {
			t.Error(err)
		}
	}
}
