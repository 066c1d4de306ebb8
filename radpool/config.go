package radpool

import (
	"errors"
	"fmt"
	"time"
)

// Config holds the limits of a [Server], under the names that radiusd.conf
// gives them. A zero field means its default; a value outside its bounds is an
// error that names the field, and is never silently changed.
type Config struct {
	// MaxRequestTime is how long a request may take from its arrival to its
	// reply (max_request_time). Then the Handler's context ends, and a request
	// still in the queue is dropped unrun. Default 9 s, at most 120 s.
	MaxRequestTime time.Duration

	// Patience is how long a NAS waits for an answer to what it last sent, where that is
	// neither said by its Client nor learned yet. A request of which it has
	// heard nothing for longer is dropped from the queue unrun: nobody waits for it. From 50 ms
	// to MaxRequestTime. Default 5 s, or MaxRequestTime if that is less: most NASes wait for
	// 3 s, some for 5.
	Patience time.Duration

	// CleanupDelay is how long a reply is kept, in case it does not reach the
	// NAS and the NAS asks again (cleanup_delay). Default 10 s, at most 30 s.
	CleanupDelay time.Duration

	// MaxRequests is how many requests, in progress and with replies kept, are
	// remembered at once (max_requests). Default 2,097,152, at most 16,777,216.
	MaxRequests int

	// StartServers is how many workers start at first (start_servers). Default
	// 1, at most MaxServers.
	StartServers int

	// MaxServers is the most workers (max_servers). Default 128, at most 65,536.
	MaxServers int

	// MinSpareServers is how many idle workers there are at least, up to
	// MaxServers (min_spare_servers). Default 8, at most MaxSpareServers.
	MinSpareServers int

	// MaxSpareServers is how many idle workers there are at most in the long
	// run (max_spare_servers). Default 32, at most MaxServers.
	MaxSpareServers int

	// MaxRequestsPerServer is after how many requests a worker is replaced
	// (max_requests_per_server). 0, the default, is never.
	MaxRequestsPerServer int

	// MaxQueueSize is how many requests may wait for a worker
	// (max_queue_size). Default and greatest value 1,048,576, least 2. Memory
	// follows use.
	MaxQueueSize int

	// AutoLimitAcct drops accounting requests at random while they arrive
	// faster than they are answered and the queue is more than half full
	// (auto_limit_acct): Interim-Updates first, Start, Stop, Accounting-On and
	// Accounting-Off only from three quarters. The NAS sends them again.
	AutoLimitAcct bool

	// MaxBatch is how many requests a worker hands to a [BatchHandler] at once.
	// Default 64, at most 4,096. For any other Handler it is 1.
	MaxBatch int

	// RunInReader says whether the goroutine that reads a socket may run handlers
	// itself, as a worker that the pool lends it: while handlers are quick (well
	// under a millisecond) that saves the hand-off to another thread. Auto and
	// Yes: it does so as long as they are quick, and goes back to reading at most
	// 15 ms after one is not. No: it only reads, which is as well where every
	// Handler is known to wait for something.
	RunInReader Requirement

	// Readers is how many sockets, each with a goroutine that reads it, ListenAndServe
	// opens for each address, so that more than one processor reads. The kernel
	// chooses the socket by the client's address and port. Default 1, at most 256; more
	// than 1 there can be on Linux alone. (Who calls Serve may open as many sockets of
	// one address as he likes, with SO_REUSEPORT.)
	Readers int

	// ReceiveBuffer is how many octets of receive buffer each socket has (recv_buff):
	// what arrives while the reader is busy waits there. 0, the default, is 4 MiB, or
	// what a socket has already if that is more. From 4,096 to 1,073,741,823. The
	// system may grant less (Stats.ReceiveBuffer): on Linux at most net.core.rmem_max
	// to those without CAP_NET_ADMIN.
	ReceiveBuffer int

	// EventTimestampWindow is how far the Event-Timestamp of a CoA-Request or
	// Disconnect-Request may be from the clock of this host, either way (see
	// Client.EventTimestamp). Default 300 s, as RFC 5176 section 6.3 has it; at most an hour.
	EventTimestampWindow time.Duration

	// MaxAttributes is how many attributes a request may have
	// (max_attributes). Default 200, at most 2,038: as many as fit.
	MaxAttributes int
}

// Defaults of Config: where the values are not FreeRADIUS's, they are those of
// an ISP's billing server.
const (
	defaultMaxRequestTime  = 9 * time.Second
	defaultPatience        = 5 * time.Second
	defaultCleanupDelay    = 10 * time.Second
	defaultMaxRequests     = 2_097_152
	defaultStartServers    = 1
	defaultMaxServers      = 128
	defaultMinSpareServers = 8
	defaultMaxSpareServers = 32
	defaultMaxQueueSize    = 1_048_576
	defaultMaxBatch        = 64
	defaultReaders         = 1
	defaultMaxAttributes   = 200

	defaultEventTimestampWindow = 300 * time.Second
)

// The greatest values of fields that are bounded elsewhere too.
const (
	maxMaxRequestTime = 120 * time.Second
	maxReaders        = 256
)

// A ConfigError is a field of a configuration that is out of its bounds.
type ConfigError struct {
	Field string // the field's name
	Value any    // what it was
	Bound string // what it must be
}

// Error names the field, its value and its bound.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("radpool: %s is %v: must be %s", e.Field, e.Value, e.Bound)
}

// Validate returns nil, or an error that joins a [ConfigError] for each field
// that is out of its bounds.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns c with each zero field replaced by its default, and what
// is wrong with it.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	errs = append(errs,
		c.times(),
		duration("CleanupDelay", &c.CleanupDelay, defaultCleanupDelay, 30*time.Second),
		duration("EventTimestampWindow", &c.EventTimestampWindow, defaultEventTimestampWindow, time.Hour),
		number("MaxRequests", &c.MaxRequests, defaultMaxRequests, 1, 1<<24, ""),
		number("MaxRequestsPerServer", &c.MaxRequestsPerServer, 0, 0, 1<<31-1, ""),
		number("MaxQueueSize", &c.MaxQueueSize, defaultMaxQueueSize, 2, 1<<20, ""),
		number("MaxBatch", &c.MaxBatch, defaultMaxBatch, 1, 4096, ""),
		requirement("RunInReader", c.RunInReader),
		number("Readers", &c.Readers, defaultReaders, 1, maxReaders, ""),
		number("MaxAttributes", &c.MaxAttributes, defaultMaxAttributes, 1, 2038, ""),
	)
	if c.ReceiveBuffer != 0 {
		errs = append(errs, number("ReceiveBuffer", &c.ReceiveBuffer, 0, 4096, 1<<30-1, ""))
	}
	// Each of the numbers of workers is bounded by the one before: where one is
	// wrong, those after it cannot be judged. The defaults of the smaller ones
	// give way to a larger one that was set; what was set is never changed.
	err := number("MaxServers", &c.MaxServers, defaultMaxServers, 1, MaxWorkers, "")
	if err == nil {
		spare := min(max(defaultMaxSpareServers, c.MinSpareServers), c.MaxServers)
		err = number("MaxSpareServers", &c.MaxSpareServers, spare, 1, c.MaxServers, "MaxServers")
		errs = append(errs, number("StartServers", &c.StartServers, defaultStartServers, 1, c.MaxServers, "MaxServers"))
	}
	if err == nil {
		spare := min(defaultMinSpareServers, c.MaxSpareServers)
		err = number("MinSpareServers", &c.MinSpareServers, spare, 1, c.MaxSpareServers, "MaxSpareServers")
	}
	return c, errors.Join(append(errs, err)...)
}

// times settles MaxRequestTime, and Patience, which is bounded by it.
func (c *Config) times() error {
	if err := duration("MaxRequestTime", &c.MaxRequestTime, defaultMaxRequestTime, maxMaxRequestTime); err != nil {
		return err
	}
	if c.Patience == 0 {
		c.Patience = min(defaultPatience, c.MaxRequestTime)
		return nil
	}
	if c.Patience < leastPatience || c.Patience > c.MaxRequestTime {
		return &ConfigError{"Patience", c.Patience, fmt.Sprintf("%v to %v (MaxRequestTime)", leastPatience, c.MaxRequestTime)}
	}
	return nil
}

func duration(field string, v *time.Duration, def, most time.Duration) error {
	if *v == 0 {
		*v = def
	}
	if *v < time.Millisecond || *v > most {
		return &ConfigError{field, *v, fmt.Sprintf("1ms to %v", most)}
	}
	return nil
}

func requirement(field string, r Requirement) error {
	if r > Yes {
		return &ConfigError{field, r, "Auto, No or Yes"}
	}
	return nil
}

// number applies the default and checks the bounds; mostOf names the field that
// the upper bound comes from, if one does.
func number(field string, v *int, def, least, most int, mostOf string) error {
	if *v == 0 {
		*v = def
	}
	if *v < least || *v > most {
		bound := fmt.Sprintf("%d to %d", least, most)
		if mostOf != "" {
			bound += " (" + mostOf + ")"
		}
		return &ConfigError{field, *v, bound}
	}
	return nil
}

// policy is FreeRADIUS's spare rule with the numbers of c.
func (c Config) policy() Policy {
	return Spare{
		StartServers:    c.StartServers,
		MinSpareServers: c.MinSpareServers,
		MaxSpareServers: c.MaxSpareServers,
		MaxServers:      c.MaxServers,
	}
}
