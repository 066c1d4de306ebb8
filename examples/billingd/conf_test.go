package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
)

func writeConf(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The seed's text is a configuration as it stands, flags that are given win over it, and
// what neither says is as without it.
func TestFlagsWinOverConf(t *testing.T) {
	seed, err := os.ReadFile("../../radpool/testdata/conf/seed.conf")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	writeConf(t, file, string(seed)+`
listen { type = auth
	ipaddr = 127.0.0.1
	port = 18120
}
listen { type = acct
	ipv6addr = ::1
}
sql { driver = rlm_sql_postgresql
	server = db.example
	login = radius
	password = "p@ss/w:rd"
	radius_db = isp
	num_sql_socks = 5
	read_clients = yes
}
security { max_attributes = 50 }
`)
	o, err := parseFlags([]string{"-conf", file, "-max-servers", "64", "-acct", "127.0.0.1:0"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := radpool.Config{
		MaxRequestTime: 9 * time.Second, CleanupDelay: 10 * time.Second, MaxRequests: 2097152, StartServers: 1, MaxServers: 64,
		MinSpareServers: 8, MaxSpareServers: 32, MaxRequestsPerServer: 3000, MaxQueueSize: 1048576, MaxAttributes: 50, Readers: 1,
	}
	if o.config != want {
		t.Errorf("got %+v, want %+v", o.config, want)
	}
	if len(o.listen) != 2 || o.listen[0].addr != "127.0.0.1:18120" || o.listen[1].addr != "127.0.0.1:0" || o.listen[1].services != radpool.Acct {
		t.Errorf("listens on %+v", o.listen)
	}
	if o.db != "postgres://radius:p%40ss%2Fw%3Ard@db.example:5432/isp" || !o.readClients || o.conns != 5 || strings.Contains(o.database(), "ss%2F") {
		t.Errorf("%s, shown as %s, %v, %d", o.db, o.database(), o.readClients, o.conns)
	}
	if o, err = parseFlags([]string{"-conf", file, "-db", "memory:1", "-auth", "127.0.0.1:0", "-read-clients=false"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if o.db != "memory:1" || o.readClients || len(o.listen) != 2 || o.listen[0].addr != "[::1]:1813" {
		t.Errorf("%s %v %+v", o.db, o.readClients, o.listen)
	}
	if _, err := parseFlags([]string{"-conf", file, "-max-servers", "16"}, io.Discard); err == nil || !strings.Contains(err.Error(), "max-spare-servers 32: must be 1 to 16") {
		t.Errorf("got %v", err)
	}
}

// Accounts that everybody knows are for trying out: a database of others gets none that it
// was not asked for.
func TestDemoUsers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	writeConf(t, file, "sql { driver = rlm_sql_sqlite\n sqlite { filename = /var/lib/radius.db }\n default_user_profile = everybody\n}\n")
	for args, want := range map[string]struct {
		demo    int
		profile string
	}{
		"":                                             {100, ""},
		"-db sqlite:isp.db":                            {100, ""},
		"-db sqlite:isp.db -demo 0":                    {0, ""},
		"-db mysql:r@tcp(127.0.0.1)/radius":            {0, ""},
		"-db postgres://127.0.0.1/radius":              {0, ""},
		"-db mysql:r@tcp(h)/radius -demo 10":           {10, ""},
		"-conf " + file:                                {0, "everybody"},
		"-conf " + file + " -demo 5":                   {5, "everybody"},
		"-conf " + file + " -default-user-profile all": {0, "all"},
		"-conf " + file + " -db sqlite:isp.db":         {0, ""},
		"-conf " + file + " -schema radpool":           {0, ""},
	} {
		o, err := parseFlags(strings.Fields(args), io.Discard)
		if err != nil || o.demo != want.demo || o.profile != want.profile {
			t.Errorf("%s: %+v, %v", args, o, err)
		}
	}
}

// A configuration without a database that can be served is no reason to make one, with
// accounts that everybody knows, and to open it to the network.
func TestConfWithoutDatabase(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "radiusd.conf")
	for _, sql := range []string{"", "modules { sql { driver = rlm_sql_null\n dialect = sqlite\n sqlite { filename = a.db }\n}\n}\n"} {
		writeConf(t, file, "listen { type = auth\n ipaddr = 127.0.0.1\n port = 1 }\n"+sql)
		for _, command := range [][]string{{}, {"explain", "user0"}, {"-schema", "radpool"}, {"-demo", "5"}} {
			status, out, log := runCommand(t, append(command, "-conf", file)...)
			if status != 2 || out != "" || log != "billingd: "+file+" has no sql { } that billingd can serve (driver mysql, postgresql or sqlite): enable one, or give -db\n" {
				t.Errorf("%q: status %d, %q, %q", command, status, out, log)
			}
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// What sql { } says of the statements is taken, but for a database that is not the file's.
func TestRulesOfConf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	writeConf(t, file, "sql { driver = rlm_sql_sqlite\n sqlite { filename = a.db }\n read_groups = no\n read_profiles = no\n query_timeout = 3\n}\n")
	for args, want := range map[string]sqlbilling.Options{
		"":                {GroupsByFallThrough: true, ProfilesByFallThrough: true, QueryTimeout: 3 * time.Second, WriteTimeout: 3 * time.Second},
		"-db memory:1":    {},
		"-schema radpool": {},
	} {
		o, err := parseFlags(append([]string{"-conf", file}, strings.Fields(args)...), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var got sqlbilling.Options
		if o.takeRules(&got); got != want {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// Of several databases one is served, and the others are named.
func TestOtherDatabasesAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	writeConf(t, file, "sql { driver = rlm_sql_sqlite\n sqlite { filename = a.db }\n}\nsql spare { driver = rlm_sql_sqlite\n sqlite { filename = b.db }\n}\n")
	for args, want := range map[string][]string{"": {"sql spare"}, "-db memory:1": {"sql sql", "sql spare"}} {
		o, err := parseFlags(append([]string{"-conf", file}, strings.Fields(args)...), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		lines := o.passedOver()
		if len(lines) != len(want) {
			t.Errorf("%q: %v", args, lines)
			continue
		}
		for i, line := range lines {
			if !strings.HasPrefix(line.String(), "lost: "+file+": the database of "+want[i]+" is passed over") {
				t.Errorf("%q: %s", args, line)
			}
		}
	}
}

func TestDSN(t *testing.T) {
	for want, q := range map[string]radpool.ConfSQL{
		"mysql:radius:p@ss@tcp(localhost:3306)/radius":              {Driver: "mysql", Login: "radius", Password: "p@ss", Database: "radius"},
		"mysql:radius:@unix(/run/mysqld/mysqld.sock)/radius":        {Driver: "mysql", Login: "radius", Server: "/run/mysqld/mysqld.sock", Database: "radius"},
		"mysql:radius:x@tcp([2001:db8::1]:3307)/radius":             {Driver: "mysql", Login: "radius", Password: "x", Server: "2001:db8::1", Port: 3307, Database: "radius"},
		"postgres://localhost:5432/radius":                          {Driver: "postgresql", Database: "radius"},
		"postgres://r:x@/radius?host=%2Frun%2Fpostgresql&port=5432": {Driver: "postgresql", Login: "r", Password: "x", Server: "/run/postgresql", Database: "radius"},
		"sqlite:/var/lib/radius.db":                                 {Driver: "sqlite", Database: "/var/lib/radius.db"},
	} {
		if got := dsn(q); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A wrong file is an error that names the line and no secret, and nothing is served.
func TestWrongConf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	writeConf(t, file, "client a {\n\tipaddr = 10.0.0.1\n\tsecret = hunter2 hunter2\n}\n")
	_, err := parseFlags([]string{"-conf", file}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), file+":3: secret has more text after its value") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
	if _, err := parseFlags([]string{"-conf", file + "x"}, io.Discard); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

// waitFor waits until the log has that many lines with the text.
func (b *billingd) waitFor(text string, n int) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); strings.Count(b.log.String(), text) < n; runtime.Gosched() {
		if time.Now().After(deadline) {
			b.t.Fatalf("not %d times %q in\n%s", n, text, b.log)
		}
	}
}
