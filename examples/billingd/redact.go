package main

import (
	"regexp"
	"strings"
)

var (
	passwordInURL = regexp.MustCompile(`^(\w+://[^:/@]*):[^@]*@`)
	passwordInMap = regexp.MustCompile(`(?i)(password=)('[^']*'|[^\s&]*)`)
)

// database is -db without the password, for whoever may see it.
func (o *options) database() string {
	kind, dsn, _ := strings.Cut(o.db, ":")
	if kind != "mysql" && kind != "mariadb" {
		return passwordInMap.ReplaceAllString(passwordInURL.ReplaceAllString(o.db, "$1:***@"), "$1***")
	}
	// USER:PASSWORD@ADDRESS/DATABASE?PARAMETERS: a password may hold any of these
	// signs, an address holds no "@", and a database no "/".
	slash := strings.LastIndexByte(dsn, '/')
	at := strings.LastIndexByte(dsn[:max(slash, 0)], '@')
	user, _, found := strings.Cut(dsn[:max(at, 0)], ":")
	if !found {
		return o.db
	}
	return kind + ":" + user + ":***" + dsn[at:]
}
