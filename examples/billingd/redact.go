package main

import (
	"regexp"
	"strings"
)

const (
	hidden = "***"
	host   = `(\[[^]]*\]|[^]:/?,[]*)(:\d*)?`
)

var (
	// hosts are all that a URL says before its path, if there is nobody's name.
	hosts         = regexp.MustCompile(`^//` + host + `(,` + host + `)*([/?]|$)`)
	passwordInMap = regexp.MustCompile(`(?i)(password\s*=\s*)('(\\.|[^'\\])*'?|(\\.|[^\s&\\])*)`)
)

// database is -db without the password, for whoever may see it. What is wrong with
// a -db makes it no clearer where the password is: in doubt more is hidden.
func (o *options) database() string {
	kind, dsn, _ := strings.Cut(o.db, ":")
	switch kind {
	case "sqlite", "memory":
		return o.db
	case "postgres", "postgresql":
		if strings.HasPrefix(dsn, "//") {
			dsn = hide(dsn, len("//"), hosts.MatchString(dsn))
		}
		return kind + ":" + passwordInMap.ReplaceAllString(dsn, "$1"+hidden)
	case "mysql", "mariadb":
		// USER:PASSWORD@ADDRESS/DATABASE?PARAMETERS
		return kind + ":" + hide(dsn, 0, strings.HasPrefix(dsn, "tcp(") || strings.HasPrefix(dsn, "unix(") || strings.HasPrefix(dsn, "/"))
	case o.db: // without a colon
		return o.db
	}
	return kind + ":" + hidden
}

// hide replaces the password of a DSN, whose user begins at from: all from the next
// colon to the last "@", which a password may hold as well. Without an "@" there is
// none if it is an address.
func hide(dsn string, from int, address bool) string {
	at := strings.LastIndexByte(dsn, '@')
	if at < 0 && address {
		return dsn
	}
	colon := strings.IndexByte(dsn[from:], ':') + from
	switch {
	case colon < from || at >= 0 && colon > at: // no password
		return dsn
	case at < 0:
		return dsn[:colon+1] + hidden
	}
	return dsn[:colon+1] + hidden + dsn[at:]
}
