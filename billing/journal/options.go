package journal

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/internal/bound"
)

// Defaults of Options.
const (
	DefaultTimeout       = 2 * time.Second
	DefaultProbeInterval = 250 * time.Millisecond
	DefaultMaxRecords    = 1_000_000
	DefaultMaxOctets     = 1 << 30
	DefaultMaxBatch      = 512
	DefaultReplayRate    = 50_000
	DefaultMaxParked     = 10_000
	DefaultTries         = 5
	DefaultMaxGrants     = 65_536
)

// Options say how a [Journal] works. The zero Options are the defaults; a value out
// of its bounds is an error of Open that names it.
type Options struct {
	// Timeout is how long the back end may take for one call before it is taken
	// for away: 10 ms to 1 min. It must be well below the server's MaxRequestTime,
	// so that there is time left to write to the journal; of what is left of that,
	// a call that stores gets half at most. Replaying a batch may take five times
	// as long. 0: DefaultTimeout.
	Timeout time.Duration

	// ProbeInterval is how often a back end that is away is asked again: 1 ms to 1
	// min. 0: DefaultProbeInterval.
	ProbeInterval time.Duration

	// MaxRecords is the most records that wait in the file, 1 to 100,000,000, and
	// MaxOctets the most octets of them, 65,536 to 1 TiB. Beyond either, Account
	// fails with ErrFull. 0: DefaultMaxRecords (about 50 MB of memory, when it is
	// full) and DefaultMaxOctets.
	MaxRecords int
	MaxOctets  int64

	// MaxBatch is the most records that are replayed at once: 1 to 65,536. New
	// records wait while the back end stores them. 0: DefaultMaxBatch.
	MaxBatch int

	// ReplayRate is the most records a second that are replayed: 1 to 10,000,000.
	// 0: DefaultReplayRate.
	ReplayRate int

	// MaxParked is the most records that are parked: 1 to 1,000,000. Beyond it a
	// record that is refused gets no answer, or stays in the queue. 0:
	// DefaultMaxParked.
	MaxParked int

	// Tries is how often a record in the journal must be refused, while others are
	// stored, until it is parked: 1 to 1000. Between two attempts are 1, 2, 4 and
	// so on up to 60 seconds. 0: DefaultTries.
	Tries int

	// GrantAge, if not 0, lets subscribers in while the back end is away with the
	// last good Grant that it gave them, if that is not older: up to 90 days.
	GrantAge time.Duration

	// MaxGrants is the most Grants remembered for that, those of about 1 KB each:
	// 1 to 16,777,216. The oldest makes room. 0: DefaultMaxGrants.
	MaxGrants int

	// Logger gets what the operator should know. nil: nothing is logged.
	Logger *zap.Logger

	maxPages int // of the file, for tests of a full disk; 0: not bounded
}

// withDefaults returns o with its zero fields set, or an error that names a field
// and its bounds.
func (o Options) withDefaults() (Options, error) {
	err := errors.Join(
		bound.Field("journal: Timeout", &o.Timeout, DefaultTimeout, 10*time.Millisecond, time.Minute),
		bound.Field("journal: ProbeInterval", &o.ProbeInterval, DefaultProbeInterval, time.Millisecond, time.Minute),
		bound.Field("journal: MaxRecords", &o.MaxRecords, DefaultMaxRecords, 1, 100_000_000),
		bound.Field("journal: MaxOctets", &o.MaxOctets, DefaultMaxOctets, maxRecord, 1<<40),
		bound.Field("journal: MaxBatch", &o.MaxBatch, DefaultMaxBatch, 1, 65_536),
		bound.Field("journal: ReplayRate", &o.ReplayRate, DefaultReplayRate, 1, 10_000_000),
		bound.Field("journal: MaxParked", &o.MaxParked, DefaultMaxParked, 1, 1_000_000),
		bound.Field("journal: Tries", &o.Tries, DefaultTries, 1, 1000),
		bound.Field("journal: GrantAge", &o.GrantAge, 0, 0, 90*24*time.Hour),
		bound.Field("journal: MaxGrants", &o.MaxGrants, DefaultMaxGrants, 1, 1<<24),
	)
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o, err
}
