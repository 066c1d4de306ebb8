package loadgen

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"
)

// Bounds of a Config.
const (
	MaxRequests = 1_000_000_000
	MaxWorkers  = 65536
	MaxSockets  = 1024
	MaxRetries  = 100
	MaxInterims = 100_000
	MaxDuration = 30 * 24 * time.Hour
	MaxSamples  = 100_000   // of a run; what comes after is in the sums alone
	MaxActive   = 1_000_000 // conversations that are not over, of an open loop; more wait to begin
)

// Defaults of a Config.
const (
	DefaultTimeout  = 3 * time.Second
	DefaultInterval = 5 * time.Minute
	DefaultEvery    = time.Second
)

// Config is one run. Auth, Acct, Secret, Users and one of Workers, Profile and Storm must be set.
type Config struct {
	// Auth and Acct are the addresses of the server. They may be the same.
	Auth, Acct netip.AddrPort

	// Secret is shared with the server.
	Secret []byte

	// Users are who logs in, one after the other and again from the first.
	Users *Users

	// Mix is what they do. Zero: PAP alone.
	Mix Mix

	// Expect is the code that logins must be answered with, of users who say none themselves: Access-Accept or
	// Access-Reject. 0: either.
	Expect radius.Code

	// RequireMessageAuthenticator counts a reply to an Access-Request or Status-Server as wrong whose first attribute is
	// not a Message-Authenticator, which protects from BlastRADIUS (CVE-2024-3596). Wherever there is one, it is verified.
	RequireMessageAuthenticator bool

	// Workers make a closed loop: so many conversations at a time, each beginning as one ends. From 1 to MaxWorkers.
	Workers int

	// Profile makes an open loop: conversations begin at its rate, whether or not the server keeps up.
	Profile Profile

	// Poisson has the conversations of a Profile begin at random, as those of many subscribers do who know nothing of each
	// other, in place of evenly.
	Poisson bool

	// Storm has all of Requests want to begin at once.
	Storm bool

	// Requests is how many conversations there are. 0: as many as Duration or Profile allow. A Storm needs it.
	Requests int

	// Duration ends a closed loop, or a Storm. 0: when all Requests are over. A Profile has its own.
	Duration time.Duration

	// Sockets is how many source ports there are; each has 256 Identifiers for each of the server's addresses. 0: as
	// many as Workers need; as a Storm does, 4 to 64; 4 for the others.
	Sockets int

	// Sources are the addresses of this host that the sockets take in turn. None: the one that the route to the server
	// has.
	Sources []netip.Addr

	// Timeout is how long a NAS waits for the answer to what it has sent, and Retries how often it then sends the same
	// octets again. 0: DefaultTimeout; and no retransmission.
	Timeout time.Duration
	Retries int

	// Duplicates is the share of new requests, from 0 to 1, that are sent twice at once.
	Duplicates float64

	// Interims is how many Interim-Updates a session sends, and Interval the session time between its records unless
	// its Access-Accept has an Acct-Interim-Interval. 0: none; DefaultInterval. Session-Timeout ends it before.
	Interims int
	Interval time.Duration

	// Speed is how many times faster than real sessions are played. 0: each record follows the answer before.
	Speed float64

	// Every is the length of a Sample. 0: DefaultEvery.
	Every time.Duration

	// Seed of all that is random. 0: another one each time.
	Seed uint64

	// Listen opens a socket on an address. nil: the system's UDP. It is for tests.
	Listen func(netip.Addr) (net.PacketConn, error)
}

// A ConfigError is a field of a Config that is out of its bounds.
type ConfigError struct {
	Field  string // the field's name
	Reason string // what it must be
}

// Error names the field and its bound.
func (e *ConfigError) Error() string { return "loadgen: " + e.Field + " " + e.Reason }

// Validate returns nil, or a [ConfigError] for each field that is out of its bounds.
func (c *Config) Validate() error {
	return errors.Join(append(c.checkServer(), c.checkLoad()...)...)
}

func must(ok bool, field, format string, values ...any) error {
	if ok {
		return nil
	}
	return &ConfigError{Field: field, Reason: fmt.Sprintf(format, values...)}
}

func (c *Config) checkServer() []error {
	return []error{
		must(c.Auth.IsValid() && c.Auth.Port() > 0, "Auth", "must be an address and port"),
		must(c.Acct.IsValid() && c.Acct.Port() > 0, "Acct", "must be an address and port"),
		must(c.Auth.Addr().Is4() == c.Acct.Addr().Is4(), "Acct", "must be of the same family, IPv4 or IPv6, as Auth"),
		must(len(c.Secret) > 0, "Secret", "is empty: every client has one"),
		must(c.Users != nil && c.Users.Len() > 0, "Users", "are none"),
		c.checkSources(),
		must(c.Sockets >= 0 && c.Sockets <= MaxSockets, "Sockets", "is %d: must be 1 to %d, or 0 for the default", c.Sockets, MaxSockets),
		must(c.Workers <= 0 || c.Sockets <= c.Workers, "Sockets", "is %d: must be at most the number of workers, %d", c.Sockets, c.Workers),
		must(c.Workers <= 0 || c.sockets()*identifiers >= c.Workers, "Sockets",
			"is %d: each has %d Identifiers, and there are %d workers", c.Sockets, identifiers, c.Workers),
		must(c.Timeout >= 0 && c.Timeout <= time.Hour, "Timeout", "is %v: must be more than 0 and at most 1h", c.Timeout),
		must(c.Retries >= 0 && c.Retries <= MaxRetries, "Retries", "is %d: must be 0 to %d", c.Retries, MaxRetries),
	}
}

func (c *Config) checkSources() error {
	for _, a := range c.Sources {
		if a.IsUnspecified() {
			return must(false, "Sources", "has %v: must be addresses of this host", a)
		}
		if !a.IsValid() || a.Is4() != c.Auth.Addr().Is4() {
			return must(false, "Sources", "has %v: must be of the same family, IPv4 or IPv6, as the server", a)
		}
	}
	return nil
}

func (c *Config) checkLoad() []error {
	modes := 0
	for _, on := range []bool{c.Workers != 0, len(c.Profile) > 0, c.Storm} {
		if on {
			modes++
		}
	}
	errs := []error{
		must(modes == 1, "Workers", "and Profile and Storm: one of them must be set, and no other"),
		must(c.Workers >= 0 && c.Workers <= MaxWorkers, "Workers", "is %d: must be 1 to %d", c.Workers, MaxWorkers),
		must(c.Requests >= 0 && c.Requests <= MaxRequests, "Requests", "is %d: must be 1 to %d", c.Requests, MaxRequests),
		must(!c.Storm || c.Requests > 0, "Requests", "must be the number of subscribers of the storm"),
		must(c.Duration >= 0 && c.Duration <= MaxDuration, "Duration", "is %v: must be at most %v", c.Duration, MaxDuration),
		must(c.Requests > 0 || c.Duration > 0 || len(c.Profile) > 0, "Requests", "and Duration: one of them must end the run"),
		must(c.Duplicates >= 0 && c.Duplicates <= 1, "Duplicates", "is %v: must be 0 to 1", c.Duplicates),
		must(c.Interims >= 0 && c.Interims <= MaxInterims, "Interims", "is %d: must be 0 to %d", c.Interims, MaxInterims),
		must(c.Interval >= 0 && c.Interval <= MaxDuration, "Interval", "is %v: must be more than 0 and at most %v", c.Interval, MaxDuration),
		must(c.Speed >= 0 && c.Speed <= 1e6, "Speed", "is %v: must be 0 to 1,000,000", c.Speed),
		must(c.Every >= 0 && c.Every <= time.Hour && (c.Every == 0 || c.Every >= 10*time.Millisecond), "Every", "is %v: must be 10ms to 1h", c.Every),
		must(c.Expect == 0 || c.Expect == radius.CodeAccessAccept || c.Expect == radius.CodeAccessReject, "Expect",
			"is %d: must be Access-Accept, Access-Reject or 0", int(c.Expect)),
	}
	if err := c.Profile.validate(); err != nil {
		errs = append(errs, must(false, "Profile", "%v", err))
	}
	if err := c.Mix.validate(); err != nil {
		errs = append(errs, must(false, "Mix", "%v", err))
	}
	return errs
}

// sockets is how many there are.
func (c *Config) sockets() int {
	switch {
	case c.Sockets > 0:
		return c.Sockets
	case c.Workers > 0:
		return max((c.Workers+workersPerSocket-1)/workersPerSocket, min(len(c.Sources), c.Workers))
	case c.Storm:
		return max(openSockets, min((c.Requests+identifiers-1)/identifiers, stormSockets), len(c.Sources))
	default:
		return max(openSockets, len(c.Sources))
	}
}

// openSockets are those of an open loop: 1,024 requests in flight. With more of them each has less to send when it wakes, and
// wakes more often, which delays what is measured.
const (
	openSockets  = 4
	stormSockets = 64
)

// workersPerSocket is a batch or two of system calls, so that a socket writes while others wait.
const workersPerSocket = 128

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Interval = cmp.Or(c.Interval, DefaultInterval)
	c.Every = cmp.Or(c.Every, DefaultEvery)
	c.Auth = netip.AddrPortFrom(c.Auth.Addr().Unmap(), c.Auth.Port())
	c.Acct = netip.AddrPortFrom(c.Acct.Addr().Unmap(), c.Acct.Port())
	return c
}
