package radpool

import (
	"strings"
	"time"

	"github.com/radpool/radpool/internal/radiusconf"
)

// Reasons that many names share.
const (
	confHandler  = "sites and policies are not run: what lets a subscriber in are the rows of the database (docs/from-freeradius.md)"
	confNoProxy  = "nothing is proxied"
	confSystem   = "the service manager decides it, such as a systemd unit"
	confLogging  = "see -log-level, -log-format and -X of billingd"
	confNoReject = "an Access-Reject is sent at once, so passwords can be guessed faster: let the NAS limit tries"
	confOneTable = "there is one list of clients for all sockets, and these are for some only"
)

// passAll makes a map of names that are passed over for the same reason, separated by
// blanks.
func passAll(lists map[confReason]string) map[string]confReason {
	m := make(map[string]confReason)
	for why, names := range lists {
		for name := range strings.FieldsSeq(names) {
			m[name] = why
		}
	}
	return m
}

// confKinds are the kinds of sections.
type confKinds struct {
	top, security, threadPool, server, modules, client, listen, sql, sqlPool, sqlite *confKind
}

func newConfKinds() *confKinds {
	return &confKinds{
		top: topKind(), security: securityKind(), threadPool: threadPoolKind(), client: clientKind(), listen: listenKind(),
		sql: sqlKind(), sqlPool: sqlPoolKind(), sqlite: sqliteKind(),
		server: &confKind{
			title:    "server.",
			sections: map[string]func(*confReader, *radiusconf.Section){"listen": (*confReader).readListen},
			pass: passAll(map[confReason]string{
				lost(confHandler):                  "authorize authenticate preacct accounting session post-auth pre-proxy post-proxy recv-coa send-coa dhcp vmps",
				lost(confOneTable):                 "client clients",
				lost("sites are all served alike"): "namespace",
			}),
		},
		modules: &confKind{
			title:    "modules.",
			sections: map[string]func(*confReader, *radiusconf.Section){"sql": (*confReader).readSQL},
			other:    otherModule,
		},
	}
}

// known reports whether it is a name that is known anywhere.
func (k *confKinds) known(name string) bool {
	for _, kind := range []*confKind{k.top, k.security, k.threadPool, k.server, k.modules, k.client, k.listen, k.sql, k.sqlPool, k.sqlite} {
		if kind.pairs[name] != nil || kind.pass[name] != (confReason{}) || kind.sections[name] != nil {
			return true
		}
	}
	return name == "thread"
}

func securityKind() *confKind {
	return &confKind{
		title: "security.",
		pairs: map[string]confTake{
			"max_attributes":                confMaxAttributes,
			"require_message_authenticator": confRequirement(func(r *confReader) **Requirement { return &r.require }),
			"limit_proxy_state":             confRequirement(func(r *confReader) **Requirement { return &r.limitProxyState }),
			"status_server": func(r *confReader, p *radiusconf.Pair, value string) string {
				yes := true
				problem := confYesNo(func(*confReader) *bool { return &yes })(r, p, value)
				if !yes {
					r.pass(p.Pos, "security.status_server = no", lost("Status-Server is answered always, to clients"))
				}
				return problem
			},
		},
		pass: passAll(map[confReason]string{
			harmless(confSystem):            "user group chroot allow_core_dumps",
			lost(confNoReject):              "reject_delay delay_proxy_rejects",
			harmless("OpenSSL is not used"): "allow_vulnerable_openssl openssl_fips_mode",
		}),
	}
}

func threadPoolKind() *confKind {
	return &confKind{
		title: "thread pool.",
		pairs: map[string]confTake{
			"start_servers":           confCount("StartServers", func(c *Config) *int { return &c.StartServers }),
			"max_servers":             confCount("MaxServers", func(c *Config) *int { return &c.MaxServers }),
			"min_spare_servers":       confCount("MinSpareServers", func(c *Config) *int { return &c.MinSpareServers }),
			"max_spare_servers":       confCount("MaxSpareServers", func(c *Config) *int { return &c.MaxSpareServers }),
			"max_requests_per_server": confCount("MaxRequestsPerServer", func(c *Config) *int { return &c.MaxRequestsPerServer }),
			"max_queue_size":          confCount("MaxQueueSize", func(c *Config) *int { return &c.MaxQueueSize }),
			"auto_limit_acct":         confYesNo(func(r *confReader) *bool { return &r.conf.Config.AutoLimitAcct }),
		},
		pass: passAll(map[confReason]string{
			harmless("a spare worker ends by itself after a while"): "cleanup_delay",
			harmless("Access goes before accounting"):               "queue_priority",
		}),
	}
}

func topKind() *confKind {
	into := func(kind func(*confKinds) *confKind) func(*confReader, *radiusconf.Section) {
		return func(r *confReader, s *radiusconf.Section) { r.read(s, kind(r.kinds)) }
	}
	return &confKind{
		pairs: map[string]confTake{
			"max_request_time": confSeconds("MaxRequestTime", func(c *Config) *time.Duration { return &c.MaxRequestTime }),
			"cleanup_delay":    confSeconds("CleanupDelay", func(c *Config) *time.Duration { return &c.CleanupDelay }),
			"max_requests":     confCount("MaxRequests", func(c *Config) *int { return &c.MaxRequests }),
		},
		sections: map[string]func(*confReader, *radiusconf.Section){
			"thread pool": into(func(k *confKinds) *confKind { return k.threadPool }),
			"security":    into(func(k *confKinds) *confKind { return k.security }),
			"server":      (*confReader).readServer,
			"modules":     into(func(k *confKinds) *confKind { return k.modules }),
			"listen":      (*confReader).readListen,
			"client":      (*confReader).readClient,
			"sql":         (*confReader).readSQL,
		},
		pass: passAll(map[confReason]string{
			lost(confHandler):     "instantiate policy authorize authenticate preacct accounting session post-auth pre-proxy post-proxy templates",
			lost(confNoProxy):     "proxy_requests proxy realm home_server home_server_pool proxy_dedup_window",
			harmless(confSystem):  "user group chroot allow_core_dumps panic_action ENV",
			harmless(confLogging): "log log_file log_auth log_auth_badpass log_auth_goodpass log_stripped_names log_destination syslog_facility debug_level colourise suppress_secrets",
			lost(confNoReject):    "reject_delay",
			lost(confOneTable):    "clients",
			lost("an address to listen on is said by listen { }, or by -auth and -acct"): "bind_address port",
			harmless("addresses are logged as they are"):                                 "hostname_lookups reverse_lookups reverse_lookup_default",
			harmless("Simultaneous-Use is checked in radacct"):                           "checkrad usercollide",
			lost("there is no SNMP: see Status-Server"):                                  "snmp snmptrap",
			lost("nothing is triggered: see the metrics of -http, and the log"):          "trigger",
			harmless("memory is sized by itself"):                                        "resources",
			lost("names are taken as they come"):                                         "lower_user lower_pass nospace_user nospace_pass",
			harmless("it is about unlang, which there is not"):                           "correct_escapes regular_expressions extended_expressions unlang feature",
			harmless("a request ends at max_request_time"):                               "delete_blocked_requests",
			harmless("a client that is gone is not noticed"):                             "postauth_client_lost",
			harmless("something was left out here"):                                      "...",
		}),
		other: isPath,
	}
}

// confPaths are the variables of the shipped radiusd.conf that say where things are.
// They are there for what refers to them.
const confPaths = " prefix exec_prefix sysconfdir localstatedir sbindir bindir logdir raddbdir radacctdir name confdir modconfdir certdir cadir run_dir db_dir libdir pidfile "

func isPath(_ *confReader, item radiusconf.Item) bool {
	return item.Pair != nil && strings.Contains(confPaths, " "+item.Pair.Name+" ")
}

// otherModule passes over modules that are not sql. Their instances have names of
// any kind.
func otherModule(r *confReader, item radiusconf.Item) bool {
	s := item.Section
	if s == nil {
		return false
	}
	r.pass(s.Pos, "module "+s.Name, confModule(s.Name))
	return true
}
