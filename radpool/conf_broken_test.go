package radpool_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/radpool/radpool/radpool"
)

// Each broken file gives the file, the line, the field and the bound, and no secret: all
// of them have hunter2 for one, if they have one.
func TestBrokenConfs(t *testing.T) {
	broken := os.DirFS("testdata/conf/broken")
	for file, want := range map[string]struct {
		line           int
		field, problem string
	}{
		"max_request_time": {1, "max_request_time", "is 600 seconds: must be 1ms to 2m0s"},
		"cleanup_delay":    {3, "cleanup_delay", "is 0 seconds: must be 1ms to 30s"},
		"max_requests":     {1, "max_requests", `is "many": must be a whole number`},
		"max_servers":      {2, "max_servers", "is 99999: must be 1 to 65536"},
		"max_spare":        {3, "max_spare_servers", "is 33: must be 1 to 32 (MaxServers)"},
		"min_spare":        {4, "min_spare_servers", "is 5: must be 1 to 4 (MaxSpareServers)"},
		"queue":            {2, "max_queue_size", "is 1048577: must be 2 to 1048576"},
		"huge":             {2, "max_queue_size", "is 99999999999999999999999999: must be 2 to 1048576"},
		"auto_limit":       {2, "auto_limit_acct", `is "perhaps": must be yes or no`},
		"typo":             {2, "max_server", "is unknown in thread pool: is max_servers meant?"},
		"top-typo":         {1, "max_request_tme", "is unknown: is max_request_time meant?"},
		"twice":            {3, "max_requests", "stands in this section twice: first in line 1"},
		"no-end":           {1, "thread pool", "has no } that ends it"},
		"end-of-nothing":   {2, "}", "ends no section"},
		"quote":            {3, "secret", "has a quote that does not end on its line"},
		"no-equals":        {3, "secret", "is followed neither by = nor by {"},
		"more-text":        {3, "secret", "has more text after its value: put the whole value in quotes"},
		"next-line":        {3, "secret", "is empty"},
		"no-secret":        {1, "client a", "has no secret"},
		"no-address":       {1, "client nas1", "has no ipaddr, and its name is no address"},
		"address":          {1, "client a", `has ipaddr "10.0.0.256": must be an address or a network of its kind, or the name of a host`},
		"netmask":          {1, "client a", `has ipaddr "10.0.0.0" with netmask 33: must be 0 to 32, or to 128 for IPv6`},
		"family":           {1, "client a", `has ipv6addr "10.0.0.1": must be an address or a network of its kind, or the name of a host`},
		"same-client":      {5, "client b", "is 10.0.0.1/32, which is a client already: same-client.conf:1"},
		"requirement":      {2, "require_message_authenticator", `is "sometimes": must be yes, no or auto`},
		"client-typo":      {3, "secrets", "is unknown in client: is secret meant?"},
		"operator":         {2, "ipaddr", "is followed by =*: must be =, with blanks around it"},
		"reference":        {1, "max_requests", "refers to ${servers}, which there is not"},
		"secret-reference": {3, "secret", "refers to something, which there is not"},
		"circle":           {2, "a", "refers to itself"},
		"include":          {2, "$INCLUDE", "of clients.d/missing.conf: no such file or directory"},
		"include-self":     {1, "$INCLUDE", "goes deeper than 16 files that include one another"},
		"listen-type":      {2, "type", `is "author": must be auth, acct, auth+acct or status`},
		"listen-port":      {3, "port", `is "70000": must be 0 to 65535`},
		"listen-address":   {3, "ipaddr", `is "radius.example": must be an address of its kind or *; names are not looked up`},
		"listen-twice":     {4, "listen", "is 0.0.0.0:1812, where listen-twice.conf:1 listens already"},
		"recv_buff":        {3, "recv_buff", "is 100: must be 4096 to 1073741823"},
		"sql-driver":       {1, "sql", `has driver "mysequel": must be rlm_sql_mysql, rlm_sql_postgresql or rlm_sql_sqlite`},
		"sql-table":        {4, "acct_table1", `is "radacct2": must be "radacct": the tables are those of FreeRADIUS's schema`},
		"sql-db":           {3, "radius_db", "must be the name of a database: write the rest in server, port, login and password"},
		"sql-timeout":      {3, "query_timeout", `is "601": must be 0 to 600`},
		"sql-groups":       {3, "read_groups", `is "maybe": must be yes or no`},
		"sql-conns":        {4, "num_sql_socks", `is "0": must be 1 to 65536`},
		"condition":        {2, "if", "has a condition that does not end"},
		"binary":           {2, "file", "is no text: there is a NUL in it"},
	} {
		t.Run(file, func(t *testing.T) {
			file += ".conf"
			_, err := radpool.LoadConf(broken, file, nil)
			var ce *radpool.ConfError
			if !errors.As(err, &ce) {
				t.Fatalf("got %v, want a ConfError", err)
			}
			if ce.File != file || ce.Line != want.line || ce.Field != want.field || ce.Problem != want.problem {
				t.Errorf("got  %v\nwant %s:%d: %s %s", ce, file, want.line, want.field, want.problem)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the secret is in %v", err)
			}
			if one := ce.Error(); !strings.HasPrefix(err.Error(), one) {
				t.Errorf("%q does not begin with %q", err, one)
			}
		})
	}
	files, err := os.ReadDir("testdata/conf/broken")
	if err != nil || len(files) < 20 {
		t.Errorf("%d files: %v", len(files), err)
	}
}
