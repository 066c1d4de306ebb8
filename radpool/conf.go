package radpool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"time"

	"github.com/radpool/radpool/internal/radiusconf"
)

// A Conf is what a configuration of FreeRADIUS, versions 2 and 3, says that is of use
// here. It is read by [ReadConf] or [LoadConf].
//
// What the text does not say is zero, and so means the default of radpool, not that of
// FreeRADIUS. What is known but has no counterpart here is named in Notices. What
// is not known, or out of its bounds, is an error: see [ConfError].
type Conf struct {
	// Config holds max_request_time, cleanup_delay, max_requests, what stands in
	// thread pool { }, max_attributes of security { }, and the greatest recv_buff.
	Config Config

	// Clients are those of client { } at the top, in their order. Those of a virtual
	// server or of clients { } are for some sockets only, and passed over, as are
	// those that speak TCP or TLS only.
	Clients []Client

	// Hosts are clients whose ipaddr, ipv4addr or ipv6addr is the name of a host. They are
	// not in Clients until [Conf.Resolve] has looked them up: reading asks no resolver.
	Hosts []ConfHost

	// Listen is where to listen: listen { } of type auth, acct, auth+acct and status, each
	// address once. Type coa is named in Notices: a back end sends CoA-Requests, and to
	// answer them is for NASes, with ServeServices and CoA. A listener that serves only some clients, one interface, TCP or TLS is
	// passed over, since here it would serve more.
	Listen []ConfListen

	// SQL are the sql { } modules with a database that radpool can use.
	SQL []ConfSQL

	// Notices say what was passed over, each kind once: first what may be missed, then what is
	// harmless, each by file and line.
	Notices []ConfNotice

	places map[netip.Prefix]radiusconf.Pos // where the Clients are said
}

// A ConfListen is a socket to listen on, as listen { } has it.
type ConfListen struct {
	Addr     netip.AddrPort // 0.0.0.0 or :: where it is "*"
	Services Services
	File     string // where it stands
	Line     int
}

// Network is the network of net.ListenPacket for Addr: "udp4" or "udp6", so that the
// same port can be opened for both.
func (l ConfListen) Network() string {
	if l.Addr.Addr().Is4() {
		return "udp4"
	}
	return "udp6"
}

// A ConfSQL is a module sql { }, as far as it says which database to open.
type ConfSQL struct {
	Name        string // sql, or the name of the instance
	Driver      string // mysql, postgresql or sqlite
	Server      string // empty: of this machine
	Port        int    // 0: the usual one
	Login       string
	Password    string // not for logs: see String
	Database    string // radius_db; for sqlite the file
	MaxConns    int    // num_sql_socks, or max of pool { }; 0: not said
	ReadClients bool   // read_clients or readclients: the table nas has clients too

	DefaultProfile string // default_user_profile: the user whose groups everybody gets who falls through; empty: none

	GroupsByFallThrough   bool          // read_groups = no: groups only after Fall-Through = Yes
	ProfilesByFallThrough bool          // read_profiles = no: a profile only after Fall-Through = Yes
	QueryTimeout          time.Duration // query_timeout, up to 600 seconds; 0: not said, or no bound
}

// String returns what q is without its password.
func (q ConfSQL) String() string {
	return fmt.Sprintf("%s: %s database %s at %q", q.Name, q.Driver, q.Database, q.Server)
}

// Format prints what String returns, whatever the verb.
func (q ConfSQL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, q.String()) }

// A ConfNotice is something that a configuration says and radpool does not do.
type ConfNotice struct {
	File   string
	Line   int    // where it is said first
	Field  string // what: the section and the name in it
	Reason string // why it is passed over, and what to do instead

	// Harmless: subscribers and NASes are served the same without it.
	Harmless bool
}

// String returns the notice as a line.
func (n ConfNotice) String() string {
	return fmt.Sprintf("%s:%d: %s is passed over: %s", n.File, n.Line, n.Field, n.Reason)
}

// A ConfError is what is wrong with a configuration, and where. It never holds a
// secret or a password.
type ConfError struct {
	File    string
	Line    int    // from 1; 0 where the file as a whole is meant
	Field   string // the name of the pair or section that is wrong
	Problem string // what it is, and what it must be
	Err     error  // why, or nil
}

// Error returns file, line, field and problem.
func (e *ConfError) Error() string {
	return fmt.Sprintf("%s:%d: %s %s", e.File, e.Line, e.Field, e.Problem)
}

// Unwrap returns what caused it, or nil.
func (e *ConfError) Unwrap() error { return e.Err }

// MaxConfErrors is how many errors are told of one configuration.
const MaxConfErrors = 20

// ReadConf reads a configuration that is one text. name is what errors call it. It may
// hold all that radiusd.conf may, but $INCLUDE and $ENV{ }: see [LoadConf] for those.
// The error joins up to [MaxConfErrors] of type [*ConfError].
func ReadConf(r io.Reader, name string) (*Conf, error) {
	return newConf(radiusconf.Read(r, name, nil))
}

// LoadConf reads the configuration in the file of that name, such as radiusd.conf or
// clients.conf, and all that it includes. A name that begins with "/" begins at the
// root of fsys, so os.DirFS("/") is for the files of this machine:
//
//	conf, err := radpool.LoadConf(os.DirFS("/"), "/etc/freeradius/3.0/radiusd.conf", os.LookupEnv)
//	...
//	err = conf.Resolve(ctx, nil) // the clients that are names of hosts
//
// lookupEnv finds what $ENV{NAME} refers to; nil: nothing. Included directories are
// read in the order of the names in them, without what editors and package managers
// leave behind. The bounds: 16 files that include one another, 10,000 files and 64 MiB
// in all, 4,194,304 pairs and sections, 64 KiB a value.
func LoadConf(fsys fs.FS, name string, lookupEnv func(string) (string, bool)) (*Conf, error) {
	return newConf(radiusconf.Load(fsys, name, lookupEnv))
}

func newConf(tree *radiusconf.Tree, err error) (*Conf, error) {
	kinds := newConfKinds()
	if err != nil {
		return nil, kinds.error(err)
	}
	r := &confReader{
		tree:   tree,
		kinds:  kinds,
		conf:   &Conf{places: make(map[netip.Prefix]radiusconf.Pos)},
		named:  make(map[string]bool),
		limits: make(map[string]confPlace),
	}
	r.read(tree.Root, kinds.top)
	r.settleClients()
	r.settleLimits()
	sortNotices(r.conf.Notices)
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	return r.conf, nil
}

// error says an error of the syntax in the type that the callers know.
func (k *confKinds) error(err error) error {
	if e := (*radiusconf.Error)(nil); errors.As(err, &e) {
		if e.Stray && !k.known(e.Field) {
			e.Field = confStray
		}
		return &ConfError{File: e.File, Line: e.Line, Field: e.Field, Problem: e.Problem, Err: e.Err}
	}
	return err
}
