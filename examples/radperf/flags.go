package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/loadgen"
)

// usageError is a flag that is wrong, or missing.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func wrong(format string, values ...any) error { return &usageError{fmt.Errorf(format, values...)} }

// options is what the flags say.
type options struct {
	config loadgen.Config

	auth, acct         string
	secret, secretFile string
	user, password     string
	users              int
	usersFile          string
	mix, expect        string
	rate, sources      string

	csv, json, plot string
	quiet           bool
}

// newFlags returns the flags that runs and sweeps have in common.
func newFlags(name string, o *options) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are one line, and printed by the caller
	c := &o.config
	f.StringVar(&o.auth, "auth", "127.0.0.1:1812", "`address` of the server for authentication")
	f.StringVar(&o.acct, "acct", "", "`address` for accounting (default: the port after that of -auth)")
	f.StringVar(&o.secret, "secret", "testing123", "`secret` shared with the server")
	f.StringVar(&o.secretFile, "secret-file", "", "`FILE` whose first line is the secret, in place of -secret")
	f.StringVar(&o.user, "user", "user%d", "`name` of the users, with their number for %d")
	f.StringVar(&o.password, "password", "pass%d", "`password` of the users, with their number for %d")
	f.IntVar(&o.users, "users", 100, "`count` of them, from 0")
	f.StringVar(&o.usersFile, "users-file", "", "`FILE` of users in place of those: a line has a name, a password, and perhaps accept or reject")
	f.StringVar(&o.mix, "mix", "pap", "what users do, as `KIND=WEIGHT,...`: "+strings.Join(loadgen.KindNames(), ", ")+"; sessions are a login, Start, Interims and Stop, acct is those alone")
	f.StringVar(&o.expect, "expect", "any", "`reply` that all logins must get: accept, reject or any")
	f.BoolVar(&c.RequireMessageAuthenticator, "require-ma", false, "replies to Access-Requests must begin with a Message-Authenticator (BlastRADIUS)")
	f.IntVar(&c.Sockets, "sockets", 0, "source `ports`, each with 256 Identifiers (default: 1 for 128 workers, 4 to 64 for a storm, else 4)")
	f.StringVar(&o.sources, "source", "", "source `addresses`, which the sockets take in turn: 127.1.0.1,127.1.0.2 or 127.1.0.1-127.1.0.9")
	f.DurationVar(&c.Timeout, "timeout", loadgen.DefaultTimeout, "how long to wait before the same octets are sent again")
	f.IntVar(&c.Retries, "retries", 2, "`count` of times that they are, before a request is lost")
	f.Float64Var(&c.Duplicates, "duplicates", 0, "`share` of requests that are sent twice at once, 0 to 1")
	f.IntVar(&c.Interims, "interims", 1, "`count` of Interim-Updates of a session, at most")
	f.DurationVar(&c.Interval, "interval", loadgen.DefaultInterval, "session `time` between its records, unless the server gives Acct-Interim-Interval; Session-Timeout ends it")
	f.Float64Var(&c.Speed, "speed", 0, "how many `times` faster than that sessions are played; 0: as fast as answers come")
	f.DurationVar(&c.Every, "every", loadgen.DefaultEvery, "`length` of the intervals that are shown and kept")
	f.Uint64Var(&c.Seed, "seed", 0, "`number` that chance begins with; 0: another one each time")
	f.StringVar(&o.csv, "csv", "", "write the intervals to `FILE`, - is standard output")
	f.StringVar(&o.json, "json", "", "write everything to `FILE`, - is standard output")
	f.StringVar(&o.plot, "plot", "", "write a page with plots and tables to `FILE.html`; it needs no network")
	f.BoolVar(&o.quiet, "quiet", false, "print the end alone")
	return f
}

const runUsage = `radperf loads a RADIUS server as NASes do, and verifies every reply.

  radperf -n 100000                          a closed loop: 128 workers, each asks again when answered
  radperf -rate 2000 -duration 1m            an open loop: 2,000 a second, whatever comes back
  radperf -rate 500:5000 -duration 1m        a ramp;  -rate 1000@30s,4000@10s,1000@1m  steps
  radperf -storm 20000                       20,000 subscribers at once, as after a power cut
  radperf -mix session=3,chap -plot run.html sessions with accounting among logins, as a page
  radperf sweep -h                           a series over workers and requests, with its plots

The exit status is 1 if a reply was wrong or none came, 2 if a flag is.

`

func parseRun(args []string, stderr io.Writer) (*options, error) {
	o := new(options)
	f := newFlags("radperf", o)
	c := &o.config
	var storm int
	f.IntVar(&c.Workers, "workers", 0, "closed loop: `count` of those who ask, each again when it is answered (default 128)")
	f.StringVar(&o.rate, "rate", "", "open loop: `PROFILE` of logins or sessions a second: RATE or FROM:TO, with @DURATION, and commas between them")
	f.BoolVar(&c.Poisson, "poisson", false, "with -rate: at random times, as subscribers come, not evenly")
	f.IntVar(&storm, "storm", 0, "`count` of subscribers who want in at once")
	f.IntVar(&c.Requests, "n", 0, "`count` of logins or sessions (default 100000 if nothing else ends the run)")
	f.DurationVar(&c.Duration, "duration", 0, "how long the run is; what is in flight then is waited for, and sessions are stopped")
	if err := parse(f, args, runUsage, stderr); err != nil {
		return nil, err
	}
	if storm != 0 {
		if c.Requests != 0 || storm < 0 {
			return nil, wrong("-storm %d: must be the number of subscribers, without -n", storm)
		}
		c.Storm, c.Requests = true, storm
	}
	if err := o.readRate(); err != nil {
		return nil, err
	}
	if c.Workers == 0 && len(c.Profile) == 0 && !c.Storm {
		c.Workers = 128
	}
	if c.Requests == 0 && c.Duration == 0 && len(c.Profile) == 0 {
		c.Requests = 100_000
	}
	if c.Workers > 0 && c.Requests > 0 {
		c.Workers = min(c.Workers, c.Requests)
	}
	return o, o.read()
}

// readRate makes the Profile.
func (o *options) readRate() error {
	c := &o.config
	switch {
	case o.rate == "" && c.Poisson:
		return wrong("-poisson: there is no -rate")
	case o.rate == "":
		return nil
	}
	total := c.Duration
	if total == 0 {
		total = 10 * time.Second
	}
	profile, err := loadgen.ParseProfile(o.rate, total)
	if err != nil {
		return wrong("-rate: %w", err)
	}
	c.Profile, c.Duration = profile, 0
	return nil
}

// parse is f.Parse, which prints the help where that is asked for.
func parse(f *flag.FlagSet, args []string, usage string, stderr io.Writer) error {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stderr, usage)
		f.SetOutput(stderr)
		f.PrintDefaults()
		return err
	}
	if err != nil {
		return &usageError{err}
	}
	if f.NArg() > 0 {
		return wrong("unexpected argument %q: all is said by flags, see -h", f.Arg(0))
	}
	return nil
}

// read turns the texts of the flags into the Config, and checks it.
func (o *options) read() (err error) {
	c := &o.config
	if c.Auth, err = address("-auth", o.auth); err != nil {
		return err
	}
	if c.Acct = netip.AddrPortFrom(c.Auth.Addr(), c.Auth.Port()+1); o.acct != "" {
		if c.Acct, err = address("-acct", o.acct); err != nil {
			return err
		}
	}
	if err := o.readSecret(); err != nil {
		return err
	}
	if err := o.readUsers(); err != nil {
		return err
	}
	if c.Mix, err = loadgen.ParseMix(o.mix); err != nil {
		return wrong("-mix: %w", err)
	}
	if c.Expect, err = loadgen.ParseExpect(o.expect); err != nil {
		return wrong("-expect %.40q: %w", o.expect, err)
	}
	if c.Sources, err = addresses(o.sources); err != nil {
		return wrong("-source: %w", err)
	}
	if c.Timeout == 0 || c.Interval == 0 || c.Every == 0 {
		return wrong("-timeout, -interval and -every must be more than 0")
	}
	return named(c.Validate())
}

// flagOf is the flag that sets a field of the Config.
var flagOf = map[string]string{
	"Auth": "-auth", "Acct": "-acct", "Secret": "-secret", "Users": "-users", "Mix": "-mix", "Expect": "-expect",
	"Workers": "-workers", "Profile": "-rate", "Requests": "-n", "Duration": "-duration", "Sockets": "-sockets",
	"Sources": "-source", "Timeout": "-timeout", "Retries": "-retries", "Duplicates": "-duplicates",
	"Interims": "-interims", "Interval": "-interval", "Speed": "-speed", "Every": "-every",
}

// named says an error of the Config in the words of the flags.
func named(err error) error {
	field := (*loadgen.ConfigError)(nil)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &field):
		return &usageError{err}
	case field.Field == "Workers" && strings.HasPrefix(field.Reason, "and"):
		return wrong("-workers, -rate and -storm: only one of them can be")
	}
	return wrong("%s %s", flagOf[field.Field], field.Reason)
}

func address(name, s string) (netip.AddrPort, error) {
	a, err := net.ResolveUDPAddr("udp", s)
	if err != nil {
		return netip.AddrPort{}, wrong("%s %.80q: want HOST:PORT: %w", name, s, err)
	}
	ap := a.AddrPort()
	if !ap.IsValid() || a.IP == nil || ap.Port() == 0 {
		return netip.AddrPort{}, wrong("%s %.80q: want HOST:PORT", name, s)
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

// addresses reads addresses and ranges of them, with commas between.
func addresses(s string) ([]netip.Addr, error) {
	var all []netip.Addr
	if s == "" {
		return nil, nil
	}
	for field := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(field), "-")
		if !isRange {
			to = from
		}
		first, err := netip.ParseAddr(from)
		if err != nil {
			return nil, fmt.Errorf("%.80q is not an address", from)
		}
		last, err := netip.ParseAddr(to)
		if err != nil || last.Is4() != first.Is4() || last.Less(first) {
			return nil, fmt.Errorf("%.80q is not an address after %v", to, first)
		}
		for a := first; a.IsValid() && !last.Less(a); a = a.Next() {
			if len(all) == loadgen.MaxSockets {
				return nil, fmt.Errorf("more than %d addresses", loadgen.MaxSockets)
			}
			all = append(all, a)
		}
	}
	return all, nil
}

func (o *options) readSecret() error {
	o.config.Secret = []byte(o.secret)
	if o.secretFile == "" {
		return nil
	}
	b, err := os.ReadFile(o.secretFile)
	if err != nil {
		return wrong("-secret-file: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line = strings.TrimRight(line, "\r"); line == "" {
		return wrong("-secret-file %s: its first line is empty", o.secretFile)
	}
	o.config.Secret = []byte(line)
	return nil
}

func (o *options) readUsers() (err error) {
	c := &o.config
	if o.usersFile == "" {
		if c.Users, err = loadgen.Pattern(o.user, o.password, o.users); err != nil {
			return wrong("-user, -password, -users: %w", err)
		}
		return nil
	}
	file, err := os.Open(o.usersFile)
	if err != nil {
		return wrong("-users-file: %w", err)
	}
	if c.Users, err = loadgen.ReadUsers(file); err != nil {
		return wrong("-users-file %s: %w", o.usersFile, errors.Join(err, file.Close()))
	}
	return file.Close()
}
