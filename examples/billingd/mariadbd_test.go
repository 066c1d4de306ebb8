package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/internal/need"
)

// A mariadbd is a database server of one test, which may be killed and started again.
type mariadbd struct {
	t    *testing.T
	dir  string
	port int
	cmd  *exec.Cmd
}

// startMariaDB makes a database server, which goes with the test. It syncs at each
// commit, as MariaDB does by default.
func startMariaDB(t *testing.T) *mariadbd {
	t.Helper()
	const hint = "Debian: apt-get install mariadb-server"
	install := need.Command(t, "mariadb-install-db", hint)
	need.Command(t, "mariadbd", hint)
	dir, err := os.MkdirTemp("", "radpool-mariadbd-") //nolint:usetesting // the server's user does not reach t.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &mariadbd{t: t, dir: dir, port: freePort(t)}
	m.own()
	out, err := exec.Command(install, append(m.args(), "--auth-root-authentication-method=normal", "--skip-test-db")...).CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	m.start()
	t.Cleanup(func() {
		if m.cmd != nil {
			m.kill()
		}
	})
	return m
}

// own gives the folder to the user that the server runs as: it refuses to run as root.
func (m *mariadbd) own() {
	if os.Getuid() != 0 {
		return
	}
	u, err := user.Lookup("mysql")
	if err != nil {
		need.Missing(m.t, "the user mysql")
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(m.dir, uid, gid); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mariadbd) args() []string {
	args := []string{"--no-defaults", "--datadir=" + filepath.Join(m.dir, "data"), "--tmpdir=" + m.dir}
	if os.Getuid() == 0 {
		args = append(args, "--user=mysql")
	}
	return args
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// start starts the server, and returns when it answers.
func (m *mariadbd) start() {
	m.t.Helper()
	m.cmd = exec.Command("mariadbd", append(m.args(), "--bind-address=127.0.0.1", "--port="+strconv.Itoa(m.port), "--skip-name-resolve",
		"--socket="+filepath.Join(m.dir, "socket"), "--pid-file="+filepath.Join(m.dir, "pid"), "--innodb-buffer-pool-size=64M",
		"--log-error="+filepath.Join(m.dir, "log"))...)
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	db := m.open("")
	defer func() { _ = db.Close() }()
	eventually(m.t, func() string {
		if err := db.Ping(); err != nil {
			return "mariadbd does not answer: " + err.Error()
		}
		return ""
	})
}

// kill ends the server as a power failure would, but for what the system has written.
func (m *mariadbd) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
	m.cmd = nil
}

// dsn is that of a database on the server.
func (m *mariadbd) dsn(name string) string {
	return fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", m.port, name)
}

func (m *mariadbd) open(name string) *sqlx.DB {
	m.t.Helper()
	db, err := sqlx.Open("mysql", m.dsn(name))
	if err != nil {
		m.t.Fatal(err)
	}
	return db
}

// eventually looks every now and then, until lacking returns that nothing lacks.
func eventually(t *testing.T, lacking func() string) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(3 * time.Minute)
	for what := lacking(); what != ""; what = lacking() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatal(what)
		}
	}
}
