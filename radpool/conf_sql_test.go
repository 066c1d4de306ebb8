package radpool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// The module sql of version 2, with its queries, and of version 3, with its pool.
func TestConfSQL(t *testing.T) {
	conf := readConf(t, `
modules {
	sql {
		database = "mysql"
		driver = "rlm_sql_${database}"
		server = "db.example"
		port = 3307
		login = "radius"
		password = "rad#p\"ass"
		radius_db = "radius"
		acct_table1 = "radacct"
		deletestalesessions = yes
		sqltrace = no
		num_sql_socks = 5
		readclients = yes
		nas_table = "nas"
		read_groups = yes
		read_profiles = yes
		query_timeout = 0
		authorize_check_query = "SELECT id \
			FROM ${acct_table1}"
		sql_user_name = "%{User-Name}"
	}
	sql other {
		driver = "rlm_sql_postgresql"
		radius_db = isp
		default_user_profile = "everybody"
		read_groups = no
		read_profiles = no
		query_timeout = 5
		pool { start = ${thread[pool].start_servers}
			max = ${thread[pool].max_servers}
		}
		accounting { reference = "%{tolower:type}"
			type { start { query = "INSERT" } }
		}
	}
	sql none { driver = "rlm_sql_null" }
	sql file { dialect = sqlite
		sqlite { filename = ${dir}/radius.db } }
	pap { }
	detail auth_log { filename = %{nothing} }
	detail reply_log { filename = %{nothing} }
}
dir = /var/lib
thread pool { max_servers = 40 
start_servers = 2 }
`)
	want := []radpool.ConfSQL{
		{Name: "sql", Driver: "mysql", Server: "db.example", Port: 3307, Login: "radius", Password: `rad#p"ass`, Database: "radius", MaxConns: 5, ReadClients: true},
		{Name: "other", Driver: "postgresql", Database: "isp", MaxConns: 40, DefaultProfile: "everybody", GroupsByFallThrough: true, ProfilesByFallThrough: true, QueryTimeout: 5 * time.Second},
		{Name: "file", Driver: "sqlite", Database: "/var/lib/radius.db"},
	}
	if !slices.Equal(conf.SQL, want) {
		t.Errorf("got %+v", conf.SQL)
	}
	for _, shown := range []string{fmt.Sprint(conf.SQL), fmt.Sprintf("%+v", conf.SQL[0]), fmt.Sprintf("%#v", conf.SQL[0])} {
		if strings.Contains(shown, "rad#p") {
			t.Errorf("the password is in %s", shown)
		}
	}
	seen := map[string]bool{}
	for _, n := range conf.Notices {
		if seen[n.Field] {
			t.Errorf("%s is named twice", n.Field)
		}
		seen[n.Field] = true
		if n.Reason == "" || n.Line == 0 {
			t.Errorf("%+v", n)
		}
	}
	for _, field := range []string{"sql queries", "sql none with driver null", "module detail", "sql.deletestalesessions", "sql.sqltrace", "sql.sql_user_name"} {
		if !seen[field] {
			t.Errorf("no notice of %s: %v", field, conf.Notices)
		}
	}
}

// What may be missed comes before what is harmless, and each by file and line. The port of an
// inner tunnel is one like all, which is told.
func TestConfNoticesAreSorted(t *testing.T) {
	conf, err := radpool.ReadConf(strings.NewReader(`hostname_lookups = no
modules {
	utf8 { }
	expr { a = b }
	files { filename = users }
}
server inner-tunnel {
	listen { type = auth
		ipaddr = 127.0.0.1
		port = 18120
	}
}
server other { listen { type = auth
	port = 1645
} }
security { reject_delay = 1 }
`), "radiusd.conf")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range conf.Notices {
		got = append(got, fmt.Sprint(n.Line, " ", n.Field, " ", n.Harmless))
	}
	want := []string{"5 module files false", "8 server inner-tunnel around listen false", "16 security.reject_delay false", "1 hostname_lookups true", "3 module utf8 true", "4 module expr true"}
	if !slices.Equal(got, want) || len(conf.Listen) != 2 {
		t.Errorf("got %q, want %q; %v", got, want, conf.Listen)
	}
}
