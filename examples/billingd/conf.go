package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
)

// confFile is what stands in the file of -conf.
type confFile struct {
	mu   sync.Mutex    // held while clients are read, so that the last ones win
	conf *radpool.Conf // nil: there is no file
}

// A note is a line about what of the file is passed over.
type note struct {
	text     string
	harmless bool
}

// String returns the line after the word that says whether anybody may miss it.
func (n note) String() string {
	if n.harmless {
		return "harmless: " + n.text
	}
	return "lost: " + n.text
}

// passedOver says what of the file is passed over: first what may be missed.
func (o *options) passedOver() []note {
	var notes []note
	for i, q := range o.file.conf.SQL {
		if i > 0 || !o.dbOfConf {
			notes = append(notes, note{text: fmt.Sprintf("%s: the database of sql %s is passed over: there is one, that of -db, or the first in the file", o.conf, q.Name)})
		}
	}
	for _, n := range o.file.conf.Notices {
		notes = append(notes, note{n.String(), n.Harmless})
	}
	return notes
}

// logPassedOver warns of what may be missed.
func (o *options) logPassedOver(log *zap.Logger) {
	if o.file.conf == nil {
		return
	}
	for _, n := range o.passedOver() {
		level := zap.WarnLevel
		if n.harmless {
			level = zap.DebugLevel
		}
		log.Log(level, "passed over", zap.String("conf", n.text))
	}
}

// takeConf notes which flags were given, and reads the file of -conf.
func (o *options) takeConf(f *flag.FlagSet) error {
	o.given = make(map[string]bool)
	f.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	if o.conf == "" {
		return nil
	}
	return o.readConf()
}

// readConf reads the file, and lets it say what the flags do not.
func (o *options) readConf() error {
	root, name, err := inRoot(o.conf)
	if err != nil {
		return fmt.Errorf("-conf %s: %w", o.conf, err)
	}
	conf, err := radpool.LoadConf(root, name, os.LookupEnv)
	if err != nil {
		return fmt.Errorf("-conf: %w", err)
	}
	o.file.conf = conf
	o.takeLimits(conf.Config)
	if len(conf.SQL) > 0 && !o.given["db"] {
		q := conf.SQL[0]
		o.db, o.conns, o.dbOfConf = dsn(q), q.MaxConns, true
		take(o, "read-clients", &o.readClients, q.ReadClients)
		if o.schema == standardSchema {
			o.rules = q
			take(o, "default-user-profile", &o.profile, q.DefaultProfile)
		}
	}
	return nil
}

// needsDatabase returns an error where there is a file and nothing says which database to
// serve. The one that is made for trying out is not for those who have a configuration.
func (o *options) needsDatabase() error {
	if o.conf == "" || o.given["db"] || len(o.file.conf.SQL) > 0 {
		return nil
	}
	return fmt.Errorf("%s has no sql { } that billingd can serve (driver mysql, postgresql or sqlite): enable one, or give -db", o.conf)
}

// takeRules takes what flags and, where its database is served, sql { } of the file say of the
// statements: which rows are those of a user, and how long it may take. In that the commands
// must agree with serving.
func (o *options) takeRules(opts *sqlbilling.Options) {
	opts.Names, opts.EscapeNames, opts.DefaultProfile = o.names, o.escapeNames, o.profile
	opts.GroupsByFallThrough, opts.ProfilesByFallThrough = o.rules.GroupsByFallThrough, o.rules.ProfilesByFallThrough
	if d := o.rules.QueryTimeout; d > 0 {
		opts.QueryTimeout, opts.WriteTimeout = d, d
	}
}

// resolve looks up the clients of the file that are names of hosts.
func (o *options) resolve(ctx context.Context) error {
	if o.file.conf == nil {
		return nil
	}
	if err := o.file.conf.Resolve(ctx, nil); err != nil {
		return fmt.Errorf("-conf: %w", err)
	}
	return nil
}

// inRoot is a file as one of the whole file system, so that it can include any other.
func inRoot(file string) (root fs.FS, name string, err error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, "", err
	}
	volume := filepath.VolumeName(path)
	return os.DirFS(volume + string(filepath.Separator)), filepath.ToSlash(path[len(volume):]), nil
}

// takeLimits takes what the file says and no flag does.
func (o *options) takeLimits(said radpool.Config) {
	c := &o.config
	take(o, "max-request-time", &c.MaxRequestTime, said.MaxRequestTime)
	take(o, "cleanup-delay", &c.CleanupDelay, said.CleanupDelay)
	take(o, "max-requests", &c.MaxRequests, said.MaxRequests)
	take(o, "start-servers", &c.StartServers, said.StartServers)
	take(o, "max-servers", &c.MaxServers, said.MaxServers)
	take(o, "min-spare-servers", &c.MinSpareServers, said.MinSpareServers)
	take(o, "max-spare-servers", &c.MaxSpareServers, said.MaxSpareServers)
	take(o, "max-requests-per-server", &c.MaxRequestsPerServer, said.MaxRequestsPerServer)
	take(o, "max-queue-size", &c.MaxQueueSize, said.MaxQueueSize)
	take(o, "auto-limit-acct", &c.AutoLimitAcct, said.AutoLimitAcct)
	take(o, "receive-buffer", &c.ReceiveBuffer, said.ReceiveBuffer)
	c.MaxAttributes = said.MaxAttributes // there is no flag for it
}

func take[T comparable](o *options, flag string, dst *T, said T) {
	var unsaid T
	if said != unsaid && !o.given[flag] {
		*dst = said
	}
}

// wanted is a socket to open.
type wanted struct {
	from          string // what says so
	network, addr string
	services      radpool.Services
}

// wanted returns the sockets to open: those of the file, if it says any, without what -auth,
// -acct and -status say. Where these are one address that is one socket.
func (o *options) wanted() []wanted {
	var list []wanted
	auth, acct := true, true // whether the flags say where
	if o.file.conf != nil {
		if slices.ContainsFunc(o.file.conf.Listen, func(l radpool.ConfListen) bool { return l.Services != radpool.Status }) {
			auth, acct = o.given["auth"], o.given["acct"]
		}
		for _, l := range o.file.conf.Listen {
			if auth {
				l.Services &^= radpool.Auth
			}
			if acct {
				l.Services &^= radpool.Acct
			}
			if o.status != "" {
				l.Services &^= radpool.Status
			}
			if l.Services != 0 {
				list = append(list, wanted{fmt.Sprintf("%s:%d: listen", l.File, l.Line), l.Network(), l.Addr.String(), l.Services})
			}
		}
	}
	flags := len(list)
	add := func(from, addr string, services radpool.Services) {
		for i := flags; i < len(list); i++ {
			if list[i].addr == addr {
				list[i].services |= services
				return
			}
		}
		list = append(list, wanted{from, "udp", addr, services})
	}
	if auth {
		add("-auth", o.auth, radpool.Auth)
	}
	if acct {
		add("-acct", o.acct, radpool.Acct)
	}
	if o.status != "" {
		add("-status", o.status, radpool.Status)
	}
	return list
}

// dsn is the database of the file as -db has it.
func dsn(q radpool.ConfSQL) string {
	host := q.Server
	if host == "" {
		host = "localhost"
	}
	switch q.Driver {
	case "sqlite":
		return "sqlite:" + q.Database
	case "mysql":
		at := "unix(" + host + ")"
		if !strings.HasPrefix(host, "/") {
			at = "tcp(" + net.JoinHostPort(host, port(q, "3306")) + ")"
		}
		return "mysql:" + q.Login + ":" + q.Password + "@" + at + "/" + url.PathEscape(q.Database)
	}
	u := url.URL{Scheme: "postgres", Path: "/" + q.Database}
	if q.Login != "" {
		u.User = url.UserPassword(q.Login, q.Password)
	}
	if strings.HasPrefix(host, "/") { // the directory of a Unix socket
		u.RawQuery = url.Values{"host": {host}, "port": {port(q, "5432")}}.Encode()
	} else {
		u.Host = net.JoinHostPort(host, port(q, "5432"))
	}
	return u.String()
}

func port(q radpool.ConfSQL, usual string) string {
	if q.Port != 0 {
		return strconv.Itoa(q.Port)
	}
	return usual
}

// shareConns divides num_sql_socks, or max of pool { }, among what sqlbilling opens. From
// ten on it is more than that opens by itself.
func shareConns(n int) (readers, writers int) {
	if n == 0 || n >= 10 {
		return 0, 0
	}
	writers = min(2, max(1, n/2))
	return max(1, n-writers), writers
}
