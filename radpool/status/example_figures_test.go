package status_test

import (
	"fmt"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

// What a billing system has to say of itself stands on the page beside the rest. A figure with an
// Alert is what somebody should look at.
func ExampleFigure() {
	figures := func() []status.Figure {
		return []status.Figure{
			{Group: "Database", Name: "longest query", Value: 0.25, Unit: status.Seconds},
			{Group: "Database", Name: "temporary files", Value: 7 << 30, Unit: status.Octets, Alert: "The database has large temporary files."},
		}
	}
	page, err := status.New(&radpool.Server{}, status.Options{Title: "radius1", Figures: figures})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer page.Close()
	s := page.Snapshot()
	for _, f := range s.Figures {
		fmt.Println(f.Group, f.Name, f.Value, f.Unit)
	}
	for _, alert := range s.Alerts {
		fmt.Println(alert)
	}
	// Output:
	// Database longest query 0.25 seconds
	// Database temporary files 7.516192768e+09 octets
	// The server does not serve yet.
	// The database has large temporary files.
}
