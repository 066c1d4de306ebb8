package radpool_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/radpool/radpool/radpool"
)

// officeHours is a policy of one's own: more workers by day, when subscribers call and pay.
type officeHours struct{ day, night int }

func (p officeHours) Decide(now time.Time, s radpool.Snapshot) radpool.Decision {
	want := p.night
	if hour := now.Hour(); 8 <= hour && hour < 20 {
		want = p.day
	}
	return radpool.Decision{
		Spawn:  max(0, want-s.Workers),
		Retire: max(0, s.Workers-want),
		Next:   now.Truncate(time.Hour).Add(time.Hour),
	}
}

func ExamplePolicy() {
	var policy radpool.Policy = officeHours{day: 64, night: 8}
	for _, hour := range []int{7, 8, 20} {
		now := time.Date(2026, 6, 5, hour, 0, 0, 0, time.UTC)
		workers := 8
		if hour == 20 {
			workers = 64
		}
		d := policy.Decide(now, radpool.Snapshot{Workers: workers, Idle: workers})
		fmt.Printf("%d:00, %d workers: start %d, end %d, look again at %s\n", hour, workers, d.Spawn, d.Retire, d.Next.Format("15:04"))
	}
	// Output:
	// 7:00, 8 workers: start 0, end 0, look again at 08:00
	// 8:00, 8 workers: start 56, end 0, look again at 09:00
	// 20:00, 64 workers: start 0, end 56, look again at 21:00
}

// A server that finds out by itself how many workers its database can use.
func ExampleAdaptive() {
	server := &radpool.Server{Policy: radpool.Adaptive{MaxServers: 256}} // and a Handler and Clients
	fmt.Printf("from %d to %d workers\n", server.Policy.(radpool.Adaptive).WithDefaults().MinServers, 256)

	err := radpool.Adaptive{MaxServers: 100_000}.Validate()
	if wrong, ok := errors.AsType[*radpool.ConfigError](err); ok {
		fmt.Println(wrong.Field, "is", wrong.Value, "and must be", wrong.Bound)
	}
	// Output:
	// from 1 to 256 workers
	// MaxServers is 100000 and must be 1 to 65536
}

// A value out of its bounds is an error that names the field, as FreeRADIUS's names are.
func ExampleConfig_Validate() {
	err := radpool.Config{MaxServers: 32, MaxSpareServers: 33}.Validate()
	if wrong, ok := errors.AsType[*radpool.ConfigError](err); ok {
		fmt.Println(wrong.Field, "is", wrong.Value, "and must be", wrong.Bound)
	}
	// Output: MaxSpareServers is 33 and must be 1 to 32 (MaxServers)
}
