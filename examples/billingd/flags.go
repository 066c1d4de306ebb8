package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
)

// errHelp is that -h was given, and the help printed.
var errHelp = flag.ErrHelp

// demoUsers is how many there are in a SQLite file without -demo.
const demoUsers = 100

// maxUsers bounds memory:N and -demo N: each has an address of 10.0.0.0/8.
const maxUsers = 10_000_000

// options is what the flags say.
type options struct {
	db           string
	memoryUsers  int // of db, or 0
	names        sqlbilling.Comparison
	escapeNames  bool
	profile      string          // the user whose groups everybody has; empty: none
	rules        radpool.ConfSQL // of the file, that no flag is for: which groups are read, and QueryTimeout
	dictionary   string          // a file, or a directory with one of the name dictionary; empty: none
	readers      int
	postAuth     bool
	passwords    bool // radpostauth gets them
	schema       string
	readClients  bool
	coa          bool
	coaPort      int
	auth, acct   string
	status       string // empty: none
	http         string // where the status page is; empty: nowhere
	secret       string
	demo         int
	backendDelay time.Duration
	journal      string // a file; empty: none
	lastGrant    time.Duration
	retryParked  bool
	delayEvery   int
	leaseTime    time.Duration
	poolFull     poolFull
	eap          eapFlag
	logLevel     zapcore.Level
	logFormat    string // logConsole or logJSON
	debug        bool   // print each request
	policy       string // policySpare, policyAdaptive or policyFixed
	record       string // a file that traffic is recorded in; empty: none
	config       radpool.Config

	conf     string // the file of -conf, or empty
	file     confFile
	dbOfConf bool            // the database is the file's
	given    map[string]bool // the flags that were given
	conns    int             // connections to the database, at most, as the file says; 0: not said
	listen   []wanted
	args     []string
}

// newFlags returns a set with the flags that say which database it is.
func newFlags(name string, o *options) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are one line, and printed by the caller
	f.StringVar(&o.conf, "conf", "", "`FILE` in the syntax of FreeRADIUS's radiusd.conf, read again at SIGHUP; flags that are given win over it")
	f.StringVar(&o.db, "db", "sqlite:radpool.db", "subscribers and accounting: `sqlite:FILE`, mysql:USER:PASSWORD@tcp(HOST:PORT)/DB, postgres://USER:PASSWORD@HOST:PORT/DB, or memory:N for user0/pass0 ... without a database")
	f.StringVar(&o.schema, "schema", standardSchema, "`schema` to serve: standard (FreeRADIUS's) or radpool (tariffs, balances and a ledger, see docs/own-schema.md)")
	f.TextVar(&o.names, "names", sqlbilling.NamesAsColumn, "`comparison` of user names: column (as the database does), exact or ignore-case")
	f.BoolVar(&o.escapeNames, "escape-names", false, "write =2B for + and the like in user names, as FreeRADIUS does with its safe_characters")
	f.StringVar(&o.profile, "default-user-profile", "", "`user` whose groups everybody gets who falls through their own, as default_user_profile of FreeRADIUS's sql (default: none)")
	dictionaryFlag(f, o)
	return f
}

// serveFlags returns a set with all flags of serving.
func serveFlags(name string, o *options) *flag.FlagSet {
	f := newFlags(name, o)
	f.BoolVar(&o.readClients, "read-clients", false, "serve the clients of the table nas (radpool_nas) as well, and read it again once a minute and at SIGHUP")
	f.BoolVar(&o.coa, "coa", false, "with -schema radpool, ask NASes to change or end sessions in progress when money, quota or subscription ends (RFC 5176)")
	f.IntVar(&o.coaPort, "coa-port", 0, "`port` at which NASes listen for that, where radpool_nas says none; 0: that of the vendor, else 3799")
	f.BoolVar(&o.postAuth, "postauth", true, "write how each authentication ended into radpostauth (radpool_postauth), in the background")
	f.BoolVar(&o.passwords, "postauth-passwords", false, "write the passwords that subscribers gave into radpostauth as well, in the clear, as FreeRADIUS does")
	f.IntVar(&o.readers, "readers", 0, "connections for Access-Requests; 0: what is best for the database, by how far away it is")
	f.StringVar(&o.auth, "auth", "127.0.0.1:1812", "`address` for authentication")
	f.StringVar(&o.acct, "acct", "127.0.0.1:1813", "`address` for accounting")
	f.StringVar(&o.status, "status", "", "`address` for Status-Server with FreeRADIUS's statistics, of which every client may ask, such as 127.0.0.1:18121; empty: none")
	f.StringVar(&o.http, "http", "", "`address` of a status page for browsers, such as 127.0.0.1:8812, which only this machine reaches; :8812 is every address, a port alone is on 127.0.0.1 (default: none)")
	f.StringVar(&o.secret, "secret", "testing123", "`secret` shared with the clients 127.0.0.0/8 and ::1")
	f.IntVar(&o.demo, "demo", 0, "add `count` users, user0/pass0 ..., to a database without subscribers (default: 100 for -db sqlite:FILE without -conf, else none)")
	f.DurationVar(&o.backendDelay, "backend-delay", 0, "make each Authorize wait so long, as a slow billing core does")
	f.StringVar(&o.journal, "journal", "", "`FILE` that keeps accounting while the database is away, or none (default: none for sqlite and memory, else radpool-journal.db)")
	f.BoolVar(&o.retryParked, "retry-parked", false, "try records again that the journal has put aside, since the database refused them")
	f.DurationVar(&o.lastGrant, "last-grant", 0, "while the database is away, let in whom it let in last, if that is not longer ago (0: no answer)")
	f.DurationVar(&o.leaseTime, "lease-time", time.Hour, "how long an address of the table radippool is kept without a word of its session; longer than between two Interim-Updates")
	f.TextVar(&o.poolFull, "pool-full", poolFull(billing.PoolFullAccept), "`reply` to a subscriber whose pool has no address left: accept (without an address) or reject")
	f.TextVar(&o.eap, "eap", eapFlag{}, "`methods` of EAP to offer, in this order: mschapv2, md5, both with a comma between, or off; neither is protected by a tunnel (default mschapv2,md5)")
	f.IntVar(&o.delayEvery, "backend-delay-every", 1, "of `count` Authorizes one waits for -backend-delay; 1: each")
	f.StringVar(&o.record, "record", "", "write requests and replies, without passwords, into `FILE` as golden packets for billingtest.Golden: the first 1000, or 16 MB (default: none)")
	f.TextVar(&o.logLevel, "log-level", zapcore.InfoLevel, "least `level` of what is logged: debug, info, warn, error")
	f.Var(newOneOf(&o.logFormat, logConsole, logJSON), "log-format", "`format` of the log: console or json")
	f.BoolVar(&o.debug, "X", false, "print each request, what decided and the reply on the standard output, without passwords, and log all; for finding out, since it is slow")
	f.Var(newOneOf(&o.policy, policySpare, policyAdaptive, policyFixed), "policy", "`policy` that says how many workers there are: spare (as FreeRADIUS does), adaptive (as many as the back end can use) or fixed (-max-servers)")
	limitFlags(f, &o.config)
	return f
}

// limitFlags adds the flags of the limits.
func limitFlags(f *flag.FlagSet, c *radpool.Config) {
	f.DurationVar(&c.MaxRequestTime, "max-request-time", 9*time.Second, "how long a request may take from its arrival")
	f.DurationVar(&c.Patience, "patience", 0, "how long a NAS waits for an answer to what it last sent, until that is learned from what it sends again (default 5s, or -max-request-time if that is less)")
	f.DurationVar(&c.CleanupDelay, "cleanup-delay", 10*time.Second, "how long a reply is kept for retransmissions")
	f.IntVar(&c.MaxRequests, "max-requests", 2097152, "requests and replies remembered, at most")
	f.IntVar(&c.StartServers, "start-servers", 1, "workers at start")
	f.IntVar(&c.MaxServers, "max-servers", 128, "workers, at most")
	f.IntVar(&c.MinSpareServers, "min-spare-servers", 0, "idle workers, at least (default 8, or -max-spare-servers if that is less)")
	f.IntVar(&c.MaxSpareServers, "max-spare-servers", 0, "idle workers, at most (default 32, or -max-servers if that is less)")
	f.IntVar(&c.MaxQueueSize, "max-queue-size", 1048576, "requests that may wait for a worker")
	f.IntVar(&c.MaxRequestsPerServer, "max-requests-per-server", 0, "requests after which a worker is replaced (0: never)")
	f.BoolVar(&c.AutoLimitAcct, "auto-limit-acct", false, "drop accounting requests while the queue fills")
	f.IntVar(&c.Readers, "sockets", 1, "sockets for each address, so that as many processors read (SO_REUSEPORT, on Linux); those of the service manager are one each")
	f.IntVar(&c.ReceiveBuffer, "receive-buffer", 0, "`octets` of receive buffer for each socket (default 4 MiB; the system may grant less)")
}

// parseFlags parses the flags of serving.
func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o, err := parseFlagsOf("billingd", args, stderr)
	if err == nil {
		err = o.needsDatabase()
	}
	return o, err
}

// parseFlagsOf is parseFlags for a command that takes the flags of serving.
func parseFlagsOf(name string, args []string, stderr io.Writer) (*options, error) {
	o := new(options)
	f := serveFlags(name, o)
	err := parse(f, args, stderr)
	if err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: all is said by flags, see -h", f.Arg(0))
	}
	o.args = args
	if err := o.takeConf(f); err != nil {
		return nil, err
	}
	if o.http != "" {
		if o.http, err = httpAddr(o.http); err != nil {
			return nil, err
		}
	}
	o.listen = o.wanted()
	return o, o.check()
}

// parse is f.Parse, which prints the help where that is asked for.
func parse(f *flag.FlagSet, args []string, stderr io.Writer) error {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		f.Usage()
	}
	return err
}

// checkDB finds what is wrong with -db, and returns the kind of the database.
func (o *options) checkDB() (kind string, err error) {
	kind, value, _ := strings.Cut(o.db, ":")
	switch {
	case kind == "sqlite" && value != "":
	case (kind == "mysql" || kind == "mariadb" || kind == "postgres" || kind == "postgresql") && value != "":
	case kind == "memory":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxUsers {
			return kind, fmt.Errorf("-db %s: want memory:N with N from 1 to %d", o.db, maxUsers)
		}
		o.memoryUsers = n
	default:
		return kind, fmt.Errorf("-db %s: want sqlite:FILE, mysql:DSN, postgres://... or memory:N", o.database())
	}
	return kind, nil
}

// check finds what is wrong before anything is opened.
func (o *options) check() error {
	kind, err := o.checkDB()
	if err != nil {
		return err
	}
	if err := o.checkSchema(); err != nil {
		return err
	}
	if err := o.checkJournal(kind); err != nil {
		return err
	}
	if !o.given["demo"] && kind == "sqlite" && o.conf == "" { // whoever serves others wants no accounts that everybody knows
		o.demo = demoUsers
	}
	switch {
	case o.readClients && o.memoryUsers > 0:
		return errors.New("-read-clients: there is no table nas, see -db")
	case o.secret == "":
		return errors.New("-secret is empty: every client needs one")
	case o.demo < 0 || o.demo > maxUsers:
		return fmt.Errorf("-demo %d: must be 0 to %d", o.demo, maxUsers)
	case o.backendDelay < 0:
		return fmt.Errorf("-backend-delay %v: must not be negative", o.backendDelay)
	case o.leaseTime < 10*time.Second || o.leaseTime > 366*24*time.Hour || o.leaseTime%time.Second != 0:
		return fmt.Errorf("-lease-time %v: must be whole seconds from 10s to 8784h", o.leaseTime)
	case o.debug && o.logFormat != logConsole:
		return errors.New("-X: what it prints is for people, so without -log-format json")
	case o.delayEvery < 1:
		return fmt.Errorf("-backend-delay-every %d: must be at least 1", o.delayEvery)
	}
	return o.checkConfig()
}

// checkSchema finds what is wrong with -schema, and with the flags that belong to one.
func (o *options) checkSchema() error {
	switch {
	case o.schema != standardSchema && o.schema != radpoolSchema:
		return fmt.Errorf("-schema %.32s: must be standard or radpool", o.schema)
	case o.schema == radpoolSchema && o.memoryUsers > 0:
		return errors.New("-schema radpool: memory has no tables, see -db")
	case o.schema == radpoolSchema && (o.profile != "" || o.passwords):
		return errors.New("-schema radpool: there are no user profiles and no passwords in radpool_postauth, so without -default-user-profile and -postauth-passwords")
	case o.schema == radpoolSchema && (o.names != sqlbilling.NamesAsColumn || o.escapeNames):
		return errors.New("-schema radpool: names are compared exactly, without -names and -escape-names")
	case o.coa && o.schema != radpoolSchema:
		return errors.New("-coa: what a session costs is known with -schema radpool alone")
	case o.coaPort < 0 || o.coaPort > 65535:
		return fmt.Errorf("-coa-port %d: must be 0 to 65535", o.coaPort)
	}
	return nil
}

// checkJournal settles where the journal is. A database that is a file of this
// machine, or memory, is not away while the machine is not.
func (o *options) checkJournal(kind string) error {
	switch {
	case o.journal == "none" || o.journal == "" && (kind == "sqlite" || kind == "memory"):
		o.journal = ""
	case o.journal == "":
		o.journal = "radpool-journal.db"
	}
	if o.retryParked && o.journal == "" {
		return errors.New("-retry-parked: there is no journal, see -journal")
	}
	if most := 90 * 24 * time.Hour; o.lastGrant < 0 || o.lastGrant > most {
		return fmt.Errorf("-last-grant %v: must be 0 to %v", o.lastGrant, most)
	}
	return nil
}

// checkConfig says an error of the Config in the words of the flags. A zero is
// a value like any other here, and wrong for most: the Config would take it for
// the default.
func (o *options) checkConfig() error {
	c := o.config
	for flag, v := range map[string]int{
		"-max-requests": c.MaxRequests, "-sockets": c.Readers, "-start-servers": c.StartServers, "-max-servers": c.MaxServers, "-max-queue-size": c.MaxQueueSize,
	} {
		if v == 0 {
			return fmt.Errorf("%s 0: must be at least 1", flag)
		}
	}
	if c.MaxRequestTime == 0 || c.CleanupDelay == 0 {
		return errors.New("-max-request-time and -cleanup-delay must be at least 1ms")
	}
	err := c.Validate()
	if ce := (*radpool.ConfigError)(nil); errors.As(err, &ce) {
		return fmt.Errorf("-%s %v: must be %s", flagName(ce.Field), ce.Value, ce.Bound)
	}
	return err
}

// flagName turns MaxQueueSize into max-queue-size.
func flagName(field string) string {
	if field == "Readers" {
		return "sockets" // -readers are those of the database
	}
	var b strings.Builder
	for i, r := range field {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// drainTime is how long the end may take: a request that has just come may take
// as long as any.
func (o *options) drainTime() time.Duration { return o.config.MaxRequestTime + time.Second }

// poolFull is a billing.PoolFullPolicy as a flag.
type poolFull billing.PoolFullPolicy

var poolFullWords = [...]string{billing.PoolFullAccept: "accept", billing.PoolFullReject: "reject"}

// MarshalText returns "accept" or "reject".
func (p poolFull) MarshalText() ([]byte, error) { return []byte(poolFullWords[p]), nil }

// UnmarshalText reads them.
func (p *poolFull) UnmarshalText(text []byte) error {
	i := slices.Index(poolFullWords[:], string(text))
	if i < 0 {
		return fmt.Errorf("%.32q is neither accept nor reject", text)
	}
	*p = poolFull(i)
	return nil
}
