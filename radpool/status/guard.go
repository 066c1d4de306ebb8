package status

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// GuardHost lets through to next what asks for this host by an IP address, as
// localhost or by one of the names, and everything that does not come to a loopback
// address; it answers the rest with 421. A [Page] does so by itself; this is for what else is
// served beside it.
//
// What is on a loopback address trusts whoever is on the machine. But a web site can
// have its own name resolved to that address, and then its script may read what a
// browser of that machine is told there (DNS rebinding). It cannot make the browser say
// another name than that.
func GuardHost(next http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !mayAsk(r, names) {
			misdirected(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func misdirected(w http.ResponseWriter) {
	http.Error(w, "status: this host does not go by that name: ask for it by its address, or as localhost", http.StatusMisdirectedRequest)
}

func mayAsk(r *http.Request, names []string) bool {
	switch local := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		if !local.IP.IsLoopback() {
			return true
		}
	case net.Addr: // a Unix socket, to which no browser can be led
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	same := func(name string) bool { return strings.EqualFold(name, host) }
	return same("localhost") || slices.ContainsFunc(names, same)
}
