package radpool_test

import (
	"fmt"
	"testing/fstest"

	"github.com/radpool/radpool/radpool"
)

// A configuration in several files. For those of this machine it is
// radpool.LoadConf(os.DirFS("/"), "/etc/freeradius/3.0/radiusd.conf", os.LookupEnv).
func ExampleLoadConf() {
	files := fstest.MapFS{
		"raddb/radiusd.conf": {Data: []byte(`
modules {
	$INCLUDE mods-enabled/
}
listen {
	type = auth+acct
	ipaddr = 192.0.2.9
	port = 1645
}
log_auth = no
`)},
		"raddb/mods-enabled/sql": {Data: []byte(`
sql {
	dialect = "postgresql"
	driver = "rlm_sql_${dialect}"
	server = "db.example"
	login = "radius"
	password = $ENV{DB_PASSWORD}
	radius_db = "isp"
	read_clients = yes
}
`)},
	}
	env := func(name string) (string, bool) { return "s3cret", name == "DB_PASSWORD" }
	conf, err := radpool.LoadConf(files, "raddb/radiusd.conf", env)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range conf.Listen {
		fmt.Println(l.Network(), l.Addr, l.Services == radpool.Auth|radpool.Acct, l.File, l.Line)
	}
	for _, q := range conf.SQL {
		fmt.Println(q, len(q.Password), q.ReadClients) // the password itself is not printed
	}
	for _, n := range conf.Notices {
		fmt.Println(n.Line, n.Field, n.Reason)
	}
	// Output:
	// udp4 192.0.2.9:1645 true raddb/radiusd.conf 5
	// sql: postgresql database isp at "db.example" 6 true
	// 10 log_auth see -log-level, -log-format and -X of billingd
}
