package radpool_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/need"
	"github.com/radpool/radpool/radpool"
)

var update = flag.Bool("update", false, "write what is read of Debian's configuration into testdata")

// debianTree is where Debian's freeradius-config puts its configuration.
const debianTree = "/etc/freeradius/3.0/"

// debian returns the file system with Debian's configuration, and skips the test where
// that is not installed. In CI it is.
func debian(t *testing.T) fs.FS {
	t.Helper()
	if _, err := os.ReadFile(debianTree + "radiusd.conf"); err != nil {
		need.Missing(t, "Debian's freeradius-config, and the right to read it: "+err.Error())
	}
	return os.DirFS("/")
}

// The whole tree of Debian is read as it is: what is taken, and what is passed over, is
// what testdata/conf/debian.txt says.
func TestConfOfDebian(t *testing.T) {
	root := debian(t)
	conf, err := radpool.LoadConf(root, debianTree+"radiusd.conf", nil)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/conf/debian.txt"
	got := "what is read of " + version(t, root) + "\n" + confSummary(conf)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(want), "\n"); !strings.HasPrefix(got, first+"\n") {
		// Another version of FreeRADIUS: what all have.
		if len(conf.Clients) != 2 || len(conf.Listen) < 4 || conf.Config.MaxServers != 32 || len(conf.Notices) < 20 {
			t.Errorf("got\n%s", got)
		}
		t.Log("not the version of " + golden + ": only what all have is compared")
		return
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// version tells one version of the tree from another.
func version(t *testing.T, root fs.FS) string {
	t.Helper()
	h := sha256.New()
	for _, file := range []string{"radiusd.conf", "clients.conf", "proxy.conf", "sites-available/default", "sites-available/inner-tunnel"} {
		b, err := fs.ReadFile(root, debianTree[1:]+file)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// confSummary is a Conf in words, without secrets.
func confSummary(c *radpool.Conf) string {
	var b strings.Builder
	short := strings.NewReplacer(debianTree, "")
	l := c.Config
	fmt.Fprintf(&b, "limits %v %v %d, workers %d %d %d %d %d, queue %d %v, attributes %d\n", l.MaxRequestTime, l.CleanupDelay, l.MaxRequests,
		l.StartServers, l.MaxServers, l.MinSpareServers, l.MaxSpareServers, l.MaxRequestsPerServer, l.MaxQueueSize, l.AutoLimitAcct, l.MaxAttributes)
	for _, cl := range c.Clients {
		fmt.Fprintf(&b, "client %s %v, message-authenticator %v, proxy-state %v\n", cl.Name, cl.Prefix, cl.MessageAuthenticator, cl.LimitProxyState)
	}
	for _, l := range c.Listen {
		fmt.Fprintf(&b, "listen %v %s services %d, %s:%d\n", l.Addr, l.Network(), l.Services, short.Replace(l.File), l.Line)
	}
	for _, q := range c.SQL {
		fmt.Fprintln(&b, q, q.MaxConns, q.ReadClients)
	}
	for _, n := range c.Notices {
		class := "lost: "
		if n.Harmless {
			class = "harmless: "
		}
		fmt.Fprintln(&b, class+short.Replace(n.String()))
	}
	return b.String()
}

// The same with the module sql, as one who uses a database has it: its settings, its
// pool and the statements that it includes are read.
func TestConfOfDebianWithSQL(t *testing.T) {
	root := debian(t)
	const driver = `driver = "rlm_sql_null"`
	text, err := fs.ReadFile(root, debianTree[1:]+"mods-available/sql")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), driver) {
		t.Fatalf("%s is not in mods-available/sql", driver)
	}
	for dialect, want := range map[string]string{
		"mysql":      "sql: mysql database radius at \"localhost\" 32 true",
		"postgresql": "sql: postgresql database radius at \"localhost\" 32 true",
		"sqlite":     "sql: sqlite database /tmp/freeradius.db at \"localhost\" 32 true",
	} {
		changed := strings.NewReplacer(driver, `driver = "rlm_sql_${dialect}"`, `dialect = "sqlite"`, `dialect = "`+dialect+`"`,
			`#	server = "localhost"`, `server = "localhost"`, `#	password = "radpass"`, `password = "radpass"`,
			"#	read_clients = yes", "read_clients = yes").Replace(string(text))
		conf, err := radpool.LoadConf(overlay{root, debianTree[1:] + "mods-enabled/files", changed}, debianTree+"radiusd.conf", nil)
		if err != nil {
			t.Errorf("%s: %v", dialect, err)
			continue
		}
		if got := confSummary(conf); !strings.Contains(got, want+"\n") || !strings.Contains(got, "sql queries is passed over") || strings.Contains(got, "radpass") {
			t.Errorf("%s: want %q in\n%s", dialect, want, got)
		}
	}
}
