package radpool

import (
	"fmt"
	"net/netip"

	"github.com/radpool/radpool/internal/radiusconf"
)

// confSocket is a listen section while it is read.
type confSocket struct {
	kind    string // type
	addr    netip.Addr
	given   int    // how many addresses
	port    int    // 0: the usual one
	skipped string // why it is passed over, or ""
}

// confOtherTypes are the types of listeners that have nothing to do with this server.
var confOtherTypes = map[string]string{
	"proxy":   "nothing is proxied",
	"detail":  "detail files are not read: while the database is away accounting is in the journal (-journal)",
	"coa":     "CoA-Requests and Disconnect-Requests are answered by NASes, and billingd is none: it sends them (-coa, billing/coa); a NAS serves radpool.CoA",
	"control": "there is no radmin", "command": "there is no radmin",
	"dhcp": "DHCP is not served", "vmps": "VMPS is not served", "snmp": "SNMP is not served", "bfd": "BFD is not served", "arp": "ARP is not served",
}

// confServices are the types of listeners that there are here.
var confServices = map[string]Services{"auth": Auth, "acct": Acct, "auth+acct": Auth | Acct, "status": Status}

// confPorts are the ports of those that do not say one. For status there is no usual
// one but that of FreeRADIUS's example.
var confPorts = map[Services]int{Auth: 1812, Auth | Acct: 1812, Acct: 1813, Status: 18121}

// readServer reads server { }.
func (r *confReader) readServer(s *radiusconf.Section) {
	r.ownClients = false
	for _, item := range s.Items {
		if c := item.Section; c != nil && (c.Name == "client" || c.Name == "clients") {
			r.ownClients = true
		}
		if c := item.Section; c != nil && c.Name == "listen" && s.Instance == "inner-tunnel" {
			r.pass(c.Pos, "server inner-tunnel around listen", lost("sites are merged, so this is an ordinary port, whose requests are served like all. "+
				"It was for tunnels of EAP, which are not offered: delete this listen"))
		}
	}
	r.read(s, r.kinds.server)
	r.ownClients = false
}

// readListen reads listen { }.
func (r *confReader) readListen(s *radiusconf.Section) {
	if r.otherListener(s) {
		return
	}
	c := new(confSocket)
	r.socket = c
	before := len(r.errs)
	r.read(s, r.kinds.listen)
	if len(r.errs) > before || len(r.errs) >= MaxConfErrors {
		return
	}
	services := confServices[c.kind]
	if services == Status && r.ownClients {
		c.skipped = "clients of its server"
	}
	switch {
	case c.kind == "":
		r.fail(s.Pos, "listen", "has no type: auth, acct, auth+acct or status")
		return
	case c.skipped != "":
		r.pass(s.Pos, "listen with "+c.skipped, lost("it would serve more than it says, and so is not opened"))
		return
	case c.given > 1:
		r.fail(s.Pos, "listen", "has more than one of ipaddr, ipv4addr and ipv6addr: each address is a listen of its own")
		return
	case c.given == 0:
		c.addr = netip.IPv4Unspecified()
	}
	if c.port == 0 {
		c.port = confPorts[services]
	}
	at := netip.AddrPortFrom(c.addr, uint16(c.port))
	for i := range r.conf.Listen {
		if l := &r.conf.Listen[i]; l.Addr == at {
			if l.Services&services != 0 {
				r.fail(s.Pos, "listen", fmt.Sprintf("is %s, where %s:%d listens already", at, l.File, l.Line))
			}
			l.Services |= services
			return
		}
	}
	r.conf.Listen = append(r.conf.Listen, ConfListen{Addr: at, Services: services, File: s.File, Line: s.Line})
}

// otherListener reports whether it is a listener of another type. What it says besides is
// not looked at.
func (r *confReader) otherListener(s *radiusconf.Section) bool {
	for _, item := range s.Items {
		if item.Pair == nil || item.Pair.Name != "type" {
			continue
		}
		kind, err := r.tree.Value(item.Pair)
		if why := confOtherTypes[kind]; err == nil && why != "" {
			r.pass(s.Pos, "listen of type "+kind, lost(why))
			return true
		}
	}
	return false
}

func listenKind() *confKind {
	skip := func(r *confReader, p *radiusconf.Pair, _ string) string {
		r.socket.skipped = p.Name
		return ""
	}
	return &confKind{
		title: "listen.",
		pairs: map[string]confTake{
			"ipaddr": listenAddr, "ipv4addr": listenAddr, "ipv6addr": listenAddr, "recv_buff": confReceiveBuffer,
			"interface": skip, "clients": skip,
			"port": confWithin(0, 65535, func(r *confReader) *int { return &r.socket.port }),
			"type": func(r *confReader, _ *radiusconf.Pair, value string) string {
				if confServices[value] == 0 {
					return fmt.Sprintf("is %.32q: must be auth, acct, auth+acct or status", value)
				}
				r.socket.kind = value
				return ""
			},
			"proto": func(r *confReader, _ *radiusconf.Pair, value string) string {
				switch value {
				case "udp":
				case "tcp", "tls":
					r.socket.skipped = "proto = " + value
				default:
					return fmt.Sprintf("is %.32q: must be udp or tcp", value)
				}
				return ""
			},
		},
		sections: map[string]func(*confReader, *radiusconf.Section){
			"tls":    func(r *confReader, _ *radiusconf.Section) { r.socket.skipped = "tls" },
			"client": func(r *confReader, _ *radiusconf.Section) { r.socket.skipped = "client" },
		},
		pass: passAll(map[confReason]string{
			lost("all sockets are served alike"):              "virtual_server",
			harmless("duplicates are looked for always"):      "performance skip_duplicate_checks synchronous",
			lost("connections and rates are not limited"):     "limit max_pps max_connections lifetime idle_timeout",
			harmless("it is for TCP, and there is UDP only"):  "nonblock check_client_connections proxy_protocol",
			harmless("workers are those of the thread pool"):  "workers",
			lost("it needs IP_TRANSPARENT, which is not set"): "transparent",
		}),
	}
}

func listenAddr(r *confReader, p *radiusconf.Pair, value string) string {
	addr, ok := confAddr(p.Name, value)
	if !ok {
		return fmt.Sprintf("is %.64q: must be an address of its kind or *; names are not looked up", value)
	}
	r.socket.addr = addr.Unmap()
	r.socket.given++
	return ""
}
