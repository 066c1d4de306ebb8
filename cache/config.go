package cache

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Defaults: what a zero field of [Config] means.
const (
	DefaultMaxRequests    = 2_097_152        // entries
	DefaultCleanupDelay   = 10 * time.Second // RFC 5080 section 2.2.2: 5 to 30 s
	DefaultMaxAge         = 30 * time.Second // RFC 5080's upper end
	DefaultMaxRequestTime = 9 * time.Second
)

// Bounds: what [New] accepts.
const (
	MaxMaxRequests = 1 << 25          // entries
	MinDuration    = time.Millisecond // of each duration
	MaxDuration    = 10 * time.Minute // of each duration
	MaxShards      = 1024
)

// Config sets the bounds of a [Cache]. The zero Config is valid: a zero field
// means the default named beside it. A value out of bounds is an error of
// [New], never clamped.
type Config struct {
	// MaxRequests is the most entries, requests in flight and retained
	// replies together (FreeRADIUS: max_requests). From 1 to 33,554,432;
	// zero means 2,097,152.
	MaxRequests int

	// CleanupDelay is how long a reply is retained after it was sent
	// (FreeRADIUS: cleanup_delay). RFC 5080 recommends 5 to 30 s. From 1 ms
	// to MaxAge; zero means 10 s.
	CleanupDelay time.Duration

	// MaxAge is how long after its reply an entry can live at most,
	// however many retransmissions arrive. From CleanupDelay to 10 minutes;
	// zero means 30 s.
	MaxAge time.Duration

	// MaxRequestTime is how long a request may be in flight before it is
	// counted as a tombstone (FreeRADIUS: max_request_time). From 1 ms to
	// 10 minutes; zero means 9 s.
	MaxRequestTime time.Duration

	// Shards is the number of parts with a lock each. From 1 to 1024 and
	// not more than MaxRequests; zero means 1 for small tables, and four for
	// each processor (at most 64) for large ones.
	Shards int
}

// withDefaults returns the Config with its zero fields filled in.
func (c Config) withDefaults() Config {
	if c.MaxRequests == 0 {
		c.MaxRequests = DefaultMaxRequests
	}
	if c.CleanupDelay == 0 {
		c.CleanupDelay = DefaultCleanupDelay
	}
	if c.MaxAge == 0 {
		c.MaxAge = DefaultMaxAge
	}
	if c.MaxRequestTime == 0 {
		c.MaxRequestTime = DefaultMaxRequestTime
	}
	if c.Shards == 0 {
		c.Shards = defaultShards(c.MaxRequests, runtime.GOMAXPROCS(0))
	}
	return c
}

// defaultShards gives a large table enough locks that processors seldom meet
// at one, and a small table a single one: there, oldest first should hold
// over the whole table, and a shard of a few entries has nothing to evict.
func defaultShards(maxRequests, procs int) int {
	const perShard, most = 8192, 64
	shards := 1
	for shards < 4*procs && shards < most && maxRequests/(2*shards) >= perShard {
		shards *= 2
	}
	return shards
}

// validate checks a Config whose defaults are filled in. The error names
// every field that is out of bounds.
func (c Config) validate() error {
	var errs []error
	report := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("cache: "+format, args...))
	}
	if c.MaxRequests < 1 || c.MaxRequests > MaxMaxRequests {
		report("MaxRequests is %d, must be from 1 to %d", c.MaxRequests, MaxMaxRequests)
	}
	for _, d := range [...]struct {
		name  string
		value time.Duration
	}{
		{"CleanupDelay", c.CleanupDelay},
		{"MaxAge", c.MaxAge},
		{"MaxRequestTime", c.MaxRequestTime},
	} {
		if d.value < MinDuration || d.value > MaxDuration {
			report("%s is %v, must be from %v to %v", d.name, d.value, MinDuration, MaxDuration)
		}
	}
	if c.CleanupDelay > c.MaxAge {
		report("CleanupDelay is %v, must be at most MaxAge, which is %v", c.CleanupDelay, c.MaxAge)
	}
	if most := min(MaxShards, max(c.MaxRequests, 1)); c.Shards < 1 || c.Shards > most {
		report("Shards is %d, must be from 1 to %d (and not over MaxRequests)", c.Shards, most)
	}
	return errors.Join(errs...)
}
