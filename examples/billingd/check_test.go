package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// check looks at the configuration, and at the database that it or -db names.
func TestCheckConf(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "radiusd.conf")
	db := demoDB(t)
	const client = "client a {\n\tipaddr = 10.0.0.1\n\tsecret = hunter2\n}\n"
	sql := "sql {\n\tdriver = rlm_sql_sqlite\n\tsqlite { filename = " + db + "\n\t}\n}\n"
	for _, tc := range []struct {
		name, text string
		args       []string
		status     int
		out, log   string // parts
	}{
		{"conf alone", client, nil, 1, "wrong: " + file + " has no sql { } that billingd can serve (driver mysql, postgresql or sqlite): enable one, or give -db\n" +
			file + ": 1 to fix, 0 for information; 1 clients, 2 sockets, 0 databases\n", ""},
		{"host", client + "client b { ipaddr = LOCALHOST\n secret = hunter2 }\n" + sql, nil, 0, "; 2 clients,", ""},
		{"host that is not there", client + "client b { ipaddr = nas.invalid\n secret = hunter2 }\n", nil, 1, "", file + ":5: client b has ipaddr \"nas.invalid\", which does not resolve: "},
		{"notes", client + "proxy_requests = yes\n" + sql, nil, 0, "lost: " + file + ":5: proxy_requests is passed over: nothing is proxied\n", ""},
		{"database of the file", client + sql, nil, 0, "sqlite:" + db + ": 0 to fix, 0 for information\n", ""},
		{"database that is not there", client + strings.ReplaceAll(sql, db, db+"x"), nil, 1, "1 databases\n", "no such file"},
		{"database of the flag", client, []string{"-db", "sqlite:" + db}, 0, "sqlite:" + db + ": 0 to fix, 0 for information\n", ""},
		{"no database", client, []string{"-db", "memory:5"}, 0, "1 clients", ""},
		{"wrong lines", client + client + "max_requests = many\n", nil, 1, "", file + ":9: max_requests is \"many\": must be a whole number"},
		{"wrong together", client + "thread pool { max_servers = 4\n }\n", []string{"-start-servers", "5"}, 2, "", "-start-servers 5: must be 1 to 4"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			writeConf(t, file, tc.text)
			status, out, log := runCommand(t, append([]string{"check", "-conf", file}, tc.args...)...)
			if status != tc.status || !strings.Contains(out, tc.out) || !strings.Contains(log, tc.log) || (log == "") != (tc.log == "") {
				t.Errorf("status %d, %q, %q", status, out, log)
			}
			if strings.Contains(out+log, "hunter2") {
				t.Errorf("a secret is in %q, %q", out, log)
			}
		})
	}
	writeConf(t, file, client+sql)
	if status, out, log := runCommand(t, "explain", "-conf", file, "user1"); status != 0 || !strings.Contains(out, "Access-Accept") {
		t.Errorf("explain: status %d, %q, %q", status, out, log)
	}
}
