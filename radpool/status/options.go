package status

import (
	"context"
	"fmt"
	"time"

	"github.com/radpool/radpool/radpool"
)

// Limits of a Page.
const (
	DefaultInterval = 5 * time.Second  // between two samples
	HistoryTime     = 15 * time.Minute // for which samples are kept: at 5 s, less than a megabyte
	MaxFigures      = 64               // of Options.Figures
	MaxClients      = 10               // of the clients, and of the NASes that wait

	leastInterval, mostInterval = time.Second, time.Minute
)

// A Source is what a Page shows: a [radpool.Server].
type Source interface {
	Stats() radpool.Stats
	Waiting(n int) []radpool.WaitingNAS
}

// Options say what a Page shows besides the Source.
type Options struct {
	// Title is the heading. Empty: "radpool".
	Title string

	// Clients are those of the server; the ones that have asked most are shown. nil:
	// they are not shown.
	Clients *radpool.Clients

	// Figures returns what the billing system says of itself, in the order in which it
	// is shown; [MaxFigures] at most, the rest is left out. It is called at most once a
	// second, from one goroutine at a time, and must not block. nil: there is nothing.
	Figures func() []Figure

	// Health says for healthz, in a word, why a load balancer should ask another server
	// now, such as "database"; empty: it should not. It is called when somebody asks,
	// at most once a second and by one goroutine at a time, and must return soon after
	// ctx is done, in HealthTime. nil: a server that serves is well.
	Health func(ctx context.Context) string

	// Interval is the time between two samples of what is plotted, from 1 s to 1 min.
	// Zero: DefaultInterval.
	Interval time.Duration

	// Hosts are the names under which a browser may ask for the page on a loopback
	// address of this host, besides localhost and IP addresses: those that a reverse
	// proxy passes on. See the package's documentation.
	Hosts []string
}

// A Figure is a number that the billing system gives. It must hold nothing secret.
type Figure struct {
	Group string  `json:"group"`           // under which it stands: "Database"
	Name  string  `json:"name"`            // "records that are durable"
	Value float64 `json:"value"`           // in the unit
	Unit  Unit    `json:"unit,omitempty"`  // empty: a count
	Alert string  `json:"alert,omitempty"` // why somebody should look at it now, in words that stay the same meanwhile; empty: all is well
}

// A Unit is that of a Figure.
type Unit string

// The Units.
const (
	Count   Unit = ""
	Seconds Unit = "seconds"
	Octets  Unit = "octets"
)

func (o Options) withDefaults() (Options, error) {
	if o.Title == "" {
		o.Title = "radpool"
	}
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	if o.Interval < leastInterval || o.Interval > mostInterval {
		return o, fmt.Errorf("status: Interval %v: must be from %v to %v", o.Interval, leastInterval, mostInterval)
	}
	return o, nil
}
