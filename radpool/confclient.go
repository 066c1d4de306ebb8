package radpool

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/radpool/radpool/internal/hostname"
	"github.com/radpool/radpool/internal/radiusconf"
)

// confClient is a client section while it is read.
type confClient struct {
	Client
	addr, v4, v6 string       // ipaddr, ipv4addr, ipv6addr
	netmask      int          // or -1
	require      *Requirement // nil: not said
	proxyState   *Requirement
	unserved     string // why it cannot be served, or ""
}

// confUnsaid are what a client leaves to security { }, which may come after it.
type confUnsaid struct{ require, proxyState bool }

// readClient reads client NAME { }.
func (r *confReader) readClient(s *radiusconf.Section) {
	c := &confClient{netmask: -1}
	r.client = c
	before := len(r.errs)
	r.read(s, r.kinds.client)
	if len(r.errs) > before || len(r.errs) >= MaxConfErrors {
		return
	}
	field := s.Title()
	if c.unserved != "" {
		r.pass(s.Pos, field, lost(c.unserved))
		return
	}
	prefix, host, problem := c.prefix(s.Instance)
	switch {
	case problem != "":
	case len(c.Secret) == 0:
		problem = "has no secret"
	case len(r.conf.Clients)+len(r.conf.Hosts) >= MaxClients:
		problem = confTooMany
	case host == nil:
		problem = r.conf.taken(prefix)
	}
	if problem != "" {
		r.fail(s.Pos, field, problem)
		return
	}
	c.Prefix = prefix
	if c.Name == "" {
		c.Name = s.Instance
	}
	unsaid := confUnsaid{c.require == nil, c.proxyState == nil}
	if c.require != nil {
		c.MessageAuthenticator = *c.require
	}
	if c.proxyState != nil {
		c.LimitProxyState = *c.proxyState
	}
	if host != nil {
		host.Client, host.Section, host.File, host.Line = c.Client, field, s.File, s.Line
		r.conf.Hosts = append(r.conf.Hosts, *host)
		r.unsaidHosts = append(r.unsaidHosts, unsaid)
		return
	}
	r.conf.places[prefix] = s.Pos
	r.conf.Clients = append(r.conf.Clients, c.Client)
	r.unsaid = append(r.unsaid, unsaid)
}

// settleClients gives what security { } says to the clients that do not say.
func (r *confReader) settleClients() {
	for i, unsaid := range r.unsaid {
		r.settleClient(&r.conf.Clients[i], unsaid)
	}
	for i, unsaid := range r.unsaidHosts {
		r.settleClient(&r.conf.Hosts[i].Client, unsaid)
	}
}

func (r *confReader) settleClient(c *Client, unsaid confUnsaid) {
	if unsaid.require && r.require != nil {
		c.MessageAuthenticator = *r.require
	}
	if unsaid.proxyState && r.limitProxyState != nil {
		c.LimitProxyState = *r.limitProxyState
	}
}

func clientKind() *confKind {
	text := func(dst func(*confClient) *string) confTake {
		return func(r *confReader, _ *radiusconf.Pair, value string) string {
			if value == "" {
				return "is empty"
			}
			*dst(r.client) = value
			return ""
		}
	}
	requirement := func(dst func(*confClient) **Requirement) confTake {
		return confRequirement(func(r *confReader) **Requirement { return dst(r.client) })
	}
	return &confKind{
		title: "client.",
		pairs: map[string]confTake{
			"ipaddr":                        text(func(c *confClient) *string { return &c.addr }),
			"ipv4addr":                      text(func(c *confClient) *string { return &c.v4 }),
			"ipv6addr":                      text(func(c *confClient) *string { return &c.v6 }),
			"shortname":                     text(func(c *confClient) *string { return &c.Name }),
			"require_message_authenticator": requirement(func(c *confClient) **Requirement { return &c.require }),
			"limit_proxy_state":             requirement(func(c *confClient) **Requirement { return &c.proxyState }),
			"netmask":                       confWithin(0, 128, func(r *confReader) *int { return &r.client.netmask }),
			"proto":                         clientProto,
			"secret": func(r *confReader, _ *radiusconf.Pair, value string) string {
				if value == "" {
					return "is empty"
				}
				r.client.Secret = []byte(value)
				return ""
			},
			"dynamic_clients": func(r *confReader, _ *radiusconf.Pair, _ string) string {
				r.client.unserved = "clients are not made while running: list them, and send SIGHUP"
				return ""
			},
		},
		sections: map[string]func(*confReader, *radiusconf.Section){
			"tls": func(r *confReader, _ *radiusconf.Section) { r.client.unserved = "it speaks TLS, and there is UDP only" },
		},
		pass: passAll(map[confReason]string{
			harmless("it served checkrad, which there is not"):                        "nas_type nastype login password",
			lost("all clients are served alike"):                                      "virtual_server",
			harmless("it is for TCP, and there is UDP only"):                          "limit max_connections idle_timeout response_window",
			harmless("clients are not made while running"):                            "lifetime rate_limit",
			lost("CoA-Requests go to the NAS of the session: see -coa and -coa-port"): "coa_server coa_home_server coa_pool",
			harmless("replies leave by the address that was asked"):                   "src_ipaddr",
			harmless("there is no Protocol-Error: what is dropped is sent again"):     "protocol_error",
			lost("nothing is added to requests for it"):                               "Operator-Name add_cui community",
		}),
	}
}

func clientProto(r *confReader, _ *radiusconf.Pair, value string) string {
	switch value {
	case "*", "udp":
	case "tcp", "tls":
		r.client.unserved = "it speaks " + value + ", and there is UDP only"
	default:
		return fmt.Sprintf("is %.32q: must be udp, tcp or *", value)
	}
	return ""
}

// prefix is the address or network of the client whose section has that name, or the host
// whose address is to be looked up.
func (c *confClient) prefix(name string) (prefix netip.Prefix, host *ConfHost, problem string) {
	field, text := "ipaddr", c.addr
	n := 0
	for _, f := range []struct{ field, text string }{{"ipaddr", c.addr}, {"ipv4addr", c.v4}, {"ipv6addr", c.v6}} {
		if f.text != "" {
			field, text = f.field, f.text
			n++
		}
	}
	switch {
	case n > 1:
		return prefix, nil, "has more than one of ipaddr, ipv4addr and ipv6addr: each address is a client of its own"
	case n == 0 && name == "":
		return prefix, nil, "has neither a name nor ipaddr"
	case n == 0:
		text = name // as version 1 had it
	}
	prefix, ok := confPrefix(field, text, c.netmask)
	_, isAddr := confAddr(field, text)
	switch {
	case ok:
		return prefix, nil, ""
	case n == 0: // mostly a name of the section, and not of a host
		return prefix, nil, "has no ipaddr, and its name is no address"
	case isAddr:
		return prefix, nil, fmt.Sprintf("has %s %.64q with netmask %d: must be 0 to 32, or to 128 for IPv6", field, text, c.netmask)
	case hostname.Valid(text):
		return prefix, &ConfHost{Name: text, Field: field, Netmask: c.netmask}, ""
	}
	return prefix, nil, fmt.Sprintf("has %s %.64q: must be an address or a network of its kind, or the name of a host", field, text)
}

// confPrefix reads an address, with its length behind "/" or beside it.
func confPrefix(field, text string, length int) (netip.Prefix, bool) {
	wrong := netip.Prefix{}
	host, bits, found := strings.Cut(text, "/")
	addr, ok := confAddr(field, host)
	if !ok || addr.Zone() != "" {
		return wrong, false
	}
	switch {
	case found && length >= 0:
		return wrong, false // which of them?
	case found:
		if length, ok = confWhole(bits); !ok || length < 0 {
			return wrong, false
		}
	case length < 0 && host == "*":
		length = 0
	case length < 0:
		length = addr.BitLen()
	}
	prefix := unmapPrefix(netip.PrefixFrom(addr, length)) // of a length that is too great: not valid
	return prefix.Masked(), prefix.IsValid()
}

// confAddr reads an address of the kind that the field says. localhost is the one
// name that means the same everywhere.
func confAddr(field, text string) (netip.Addr, bool) {
	v6 := field == "ipv6addr"
	switch {
	case text == "*" && v6:
		return netip.IPv6Unspecified(), true
	case text == "*":
		return netip.IPv4Unspecified(), true
	case text == "localhost" && v6:
		return netip.IPv6Loopback(), true
	case text == "localhost":
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	addr, err := netip.ParseAddr(text)
	ok := err == nil && (field == "ipaddr" || addr.Is4() != v6)
	return addr, ok
}
