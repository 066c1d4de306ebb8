package radclient

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"
)

// A Protection says what the replies to Access-Requests and Status-Servers must carry against forgery. The MD5 of the
// Response Authenticator can be forged by one who sits between (CVE-2024-3596, BlastRADIUS); the HMAC of a
// Message-Authenticator cannot. One that is present is verified in any case, and one beside an EAP-Message required
// (RFC 3579 section 3.1).
type Protection uint8

// Protections.
const (
	RequireMessageAuthenticator      Protection = iota // the default: there must be one, wherever it stands
	RequireMessageAuthenticatorFirst                   // it must be the first attribute, as patched servers have it
	AllowUnprotected                                   // for old servers, over networks that are trusted
)

// Server is one that requests are sent to.
type Server struct {
	// Addr is its address and port. Required: RFC 2865 and 2866 have 1812 and 1813, RFC 5176 has 3799.
	Addr netip.AddrPort

	// Secret is shared with it, at least one octet. It is copied.
	Secret []byte

	// Protection says what its replies must carry.
	Protection Protection

	// NoStatusServer says that it is never probed: it does not know Status-Server (RFC 5997), or must not see it. When it
	// was dead it is tried again after Failover.Revive.
	NoStatusServer bool
}

// String returns the address, and never the secret.
func (s Server) String() string { return s.Addr.String() }

// Format prints what String returns, whatever the verb.
func (s Server) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// Config is what a [Client] is made of. Zero fields mean their defaults.
type Config struct {
	// Servers stand in for each other: a request goes to the first that is alive. From 1 to 65,536 together with Others.
	// With none, only [Client.ExchangeWith] can be used.
	Servers []Server

	// Others are servers that are asked by [Client.ExchangeWith] alone: the NASes of a billing system, for CoA and
	// Disconnect.
	Others []Server

	// MaxInFlight is how many requests may be under way at once; one more fails with [ErrTooManyRequests]. From 1 to
	// 1,048,576; zero means 4,096.
	MaxInFlight int

	// MaxSockets is how many UDP sockets there may be. Each has 256 Identifiers for each server. They are opened as they
	// are needed, and a request waits where no Identifier is free. From 1 to 4,096; zero means 64.
	MaxSockets int

	// IdentifierRest is how long an Identifier is not used again, after a request of which several copies were sent or which
	// got no reply: what is still on its way must not meet another request under the same one. After a request whose
	// only copy was answered it is a tenth of that. From 10 ms to 10 min; zero means 2 s.
	IdentifierRest time.Duration

	// Retransmission says when a request is sent again and given up.
	Retransmission Retransmission

	// Failover says when another server is asked.
	Failover Failover

	// Listen opens a socket. nil: a UDP socket of the system on a free port. It must not be connected to a peer. The Client
	// owns and closes it.
	Listen func() (net.PacketConn, error)

	// ServerTurned is called when a server of the group was found dead or alive. It must not block, nor call a method
	// of the Client. nil: nobody is told.
	ServerTurned func(server netip.AddrPort, to State)
}

// Defaults of Config.
const (
	defaultMaxInFlight    = 4096
	defaultMaxSockets     = 64
	defaultIdentifierRest = 2 * time.Second
	maxServers            = 1 << 16
	settledRest           = 10 // a rest is shorter by this where the only copy was answered
)

// A ConfigError is a field of [Config] that is out of its bounds.
type ConfigError struct {
	Field string
	Value any
	Bound string // in words
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("radclient: Config.%s is %v: must be %s", e.Field, e.Value, e.Bound)
}

// withDefaults returns c with each zero field replaced, or an error that names the first field out of its bounds.
func (c Config) withDefaults() (Config, error) {
	c.MaxInFlight = cmp.Or(c.MaxInFlight, defaultMaxInFlight)
	c.MaxSockets = cmp.Or(c.MaxSockets, defaultMaxSockets)
	c.IdentifierRest = cmp.Or(c.IdentifierRest, defaultIdentifierRest)
	if c.Listen == nil {
		c.Listen = func() (net.PacketConn, error) { return net.ListenPacket("udp", ":0") }
	}
	r, f := &c.Retransmission, &c.Failover
	r.IRT = cmp.Or(r.IRT, defaultIRT)
	r.MRT = cmp.Or(r.MRT, max(defaultMRT, r.IRT))
	r.MRC = cmp.Or(r.MRC, defaultMRC)
	r.MRD = cmp.Or(r.MRD, defaultMRD)
	f.Tries = cmp.Or(f.Tries, 2)
	f.DeadAfter = cmp.Or(f.DeadAfter, 3)
	f.ProbeInterval = cmp.Or(f.ProbeInterval, 30*time.Second)
	f.ProbeTimeout = cmp.Or(f.ProbeTimeout, min(4*time.Second, f.ProbeInterval))
	f.Answers = cmp.Or(f.Answers, 3)
	f.Revive = cmp.Or(f.Revive, 120*time.Second)

	mrc, mrd := r.MRC, r.MRD
	if mrc == Unlimited {
		mrc = 1
	}
	if mrd == Unlimited {
		mrd = time.Millisecond
	}
	if err := firstError(
		within("MaxInFlight", c.MaxInFlight, 1, 1<<20),
		within("MaxSockets", c.MaxSockets, 1, 1<<12),
		within("IdentifierRest", c.IdentifierRest, 10*time.Millisecond, 10*time.Minute),
		within("Retransmission.IRT", r.IRT, time.Millisecond, 10*time.Minute),
		within("Retransmission.MRT", r.MRT, r.IRT, time.Hour),
		within("Retransmission.MRC", mrc, 1, 1000),
		within("Retransmission.MRD", mrd, time.Millisecond, 24*time.Hour),
		within("Failover.Tries", f.Tries, 1, 100),
		within("Failover.DeadAfter", f.DeadAfter, 1, 1000),
		within("Failover.ProbeInterval", f.ProbeInterval, time.Second, time.Hour),
		within("Failover.ProbeTimeout", f.ProbeTimeout, 10*time.Millisecond, f.ProbeInterval),
		within("Failover.Answers", f.Answers, 1, 100),
		within("Failover.Revive", f.Revive, time.Second, 24*time.Hour),
		within("Servers and Others", len(c.Servers)+len(c.Others), 1, maxServers),
	); err != nil {
		return c, err
	}
	return c, c.checkServers()
}

func (c *Config) checkServers() error {
	seen := make(map[netip.AddrPort]bool)
	for _, list := range []struct {
		name    string
		servers []Server
	}{{"Servers", c.Servers}, {"Others", c.Others}} {
		for i, s := range list.servers {
			field := func(name string) string { return fmt.Sprintf("%s[%d].%s", list.name, i, name) }
			addr := unmap(s.Addr)
			switch {
			case !addr.Addr().IsValid() || addr.Addr().IsUnspecified() || addr.Port() == 0:
				return &ConfigError{field("Addr"), s.Addr, "the address and port of one host"}
			case seen[addr]:
				return &ConfigError{field("Addr"), s.Addr, "in the list once"}
			case len(s.Secret) == 0:
				return &ConfigError{field("Secret"), "empty", "at least one octet"}
			case s.Protection > AllowUnprotected:
				return &ConfigError{field("Protection"), s.Protection, "one of the three"}
			}
			seen[addr] = true
		}
	}
	return nil
}

func within[T int | time.Duration](field string, v, least, most T) error {
	if v >= least && v <= most {
		return nil
	}
	return &ConfigError{field, v, fmt.Sprintf("from %v to %v", least, most)}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
