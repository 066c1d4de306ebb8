package differential_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"layeh.com/radius"

	"github.com/radpool/radpool/internal/need"
	"github.com/radpool/radpool/internal/wire"
)

// secret is what both servers share with their client.
const secret = "testing123"

// Where Debian's package has FreeRADIUS's queries, schema and filters.
const (
	modsConfig = "/etc/freeradius/3.0/mods-config"
	schemaFile = modsConfig + "/sql/main/mysql/schema.sql"
	fromDebian = "apt-get install freeradius freeradius-mysql"
)

// needFreeRADIUS returns the path of the server, or skips the test.
func needFreeRADIUS(t *testing.T) (path string) {
	t.Helper()
	path = need.Command(t, "freeradius", fromDebian)
	for _, file := range []string{schemaFile, "/usr/lib/freeradius/rlm_sql_mysql.so"} {
		f, err := os.Open(file)
		if err != nil {
			need.Missing(t, file+", readable ("+fromDebian+"): "+err.Error())
		}
		_ = f.Close()
	}
	return path
}

// radiusd is the least configuration that serves from SQL: the modules of Debian's
// default site that have to do with it, in its order.
var radiusd = template.Must(template.New("radiusd.conf").Parse(`
prefix = /usr
libdir = /usr/lib/freeradius
name = freeradius
confdir = {{.Dir}}
raddbdir = {{.Dir}}
logdir = {{.Dir}}
run_dir = {{.Dir}}
pidfile = {{.Dir}}/pid
modconfdir = ` + modsConfig + `
proxy_requests = no
max_requests = 65536
cleanup_delay = 2
log {
	destination = files
	file = {{.Dir}}/log
}
security {
	reject_delay = 0
	status_server = yes
}
thread pool {
	start_servers = 2
	max_servers = 4
	min_spare_servers = 1
	max_spare_servers = 4
}
client nas {
	ipaddr = 127.0.0.1
	secret = ` + secret + `
}
modules {
	expr {
	}
	pap {
	}
	chap {
	}
	mschap {
	}
	expiration {
	}
	logintime {
		minimum_timeout = 1
	}
	attr_filter attr_filter.access_reject {
		key = "%{User-Name}"
		filename = ${modconfdir}/attr_filter/access_reject
	}
	sql {
		dialect = "mysql"
		driver = "rlm_sql_mysql"
		server = "{{.Host}}"
		port = {{.Port}}
		login = "{{.User}}"
		password = "{{.Password}}"
		radius_db = "{{.Database}}"
		mysql {
			warnings = no
		}
		acct_table1 = "radacct"
		acct_table2 = "radacct"
		postauth_table = "radpostauth"
		authcheck_table = "radcheck"
		groupcheck_table = "radgroupcheck"
		authreply_table = "radreply"
		groupreply_table = "radgroupreply"
		usergroup_table = "radusergroup"
		client_table = "nas"
		group_attribute = "SQL-Group"
		read_groups = yes
		read_profiles = yes
		default_user_profile = "` + defaultProfile + `"
		pool {
			start = 2
			min = 1
			max = 4
			spare = 2
		}
		$INCLUDE ${modconfdir}/sql/main/mysql/queries.conf
	}
	sqlippool {
		sql_module_instance = "sql"
		dialect = "mysql"
		pool_name = "Pool-Name"
		ippool_table = "radippool"
		lease_duration = 3600
		allocate_clear_timeout = 1
		attribute_name = Framed-IP-Address
		req_attribute_name = Framed-IP-Address
		pool_key = "%{NAS-Port}"
		$INCLUDE ${modconfdir}/sql/ippool/mysql/queries.conf
	}
}
server differential {
	listen {
		type = auth
		ipaddr = 127.0.0.1
		port = {{.Listen}}
	}
	authorize {
		chap
		mschap
		sql
		expiration
		logintime
		pap
	}
	authenticate {
		Auth-Type PAP {
			pap
		}
		Auth-Type CHAP {
			chap
		}
		Auth-Type MS-CHAP {
			mschap
		}
	}
	session {
		sql
	}
	post-auth {
		sqlippool
		Post-Auth-Type REJECT {
			attr_filter.access_reject
		}
	}
}
`))

// startFreeRADIUS starts a server on the database of dsn and returns its address.
// It ends with the test.
func startFreeRADIUS(t *testing.T, path, dsn string) string {
	t.Helper()
	db, err := mysqldriver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(db.Addr)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	addr := freePort(t)
	conf := new(strings.Builder)
	if err := radiusd.Execute(conf, map[string]any{
		"Dir": dir, "Host": host, "Port": port, "User": db.User, "Password": db.Passwd, "Database": db.DBName, "Listen": addr.Port,
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "radiusd.conf"), []byte(conf.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dictionary"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	server := exec.Command(path, "-f", "-d", dir, "-D", "/usr/share/freeradius", "-l", log)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = server.Process.Kill()
			<-ended
		}
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("the end of FreeRADIUS's log:\n%s", text[max(0, len(text)-8192):])
		}
	})
	// It answers a Status-Server when it serves.
	deadline := time.Now().Add(20 * time.Second)
	for !answersStatus(t, addr.String()) {
		if time.Now().After(deadline) {
			t.Fatal("FreeRADIUS does not answer")
		}
		select {
		case err := <-ended:
			ended <- err // for the end of the test
			t.Fatalf("FreeRADIUS ended before it served: %v", err)
		case <-time.After(20 * time.Millisecond): // a port without a listener refuses at once
		}
	}
	return addr.String()
}

// freePort is one that was free a moment ago.
func freePort(t *testing.T) *net.UDPAddr {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return c.LocalAddr().(*net.UDPAddr)
}

// answersStatus asks once, and waits a fraction of a second for the answer.
func answersStatus(t *testing.T, addr string) bool {
	t.Helper()
	p := radius.New(radius.CodeStatusServer, []byte(secret))
	b, err := wire.EncodeRequest(nil, p, wire.NewSecret([]byte(secret)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := new(net.Dialer).DialContext(t.Context(), "udp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := c.Write(b); err != nil {
		return false // refused at once: nobody listens yet
	}
	_, err = c.Read(make([]byte, 4096))
	return err == nil
}
