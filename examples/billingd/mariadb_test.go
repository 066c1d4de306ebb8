package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/internal/need"
)

// A mariaDB is a server of the test's own, which can be killed. It listens on a socket
// in its directory, and nowhere else.
type mariaDB struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	exited chan struct{}
}

// newMariaDB makes one with an empty database radius, and does not start it.
func newMariaDB(t *testing.T) *mariaDB {
	t.Helper()
	for _, program := range []string{"mariadbd", "mariadb-install-db"} {
		need.Command(t, program, "Debian: apt-get install mariadb-server")
	}
	m := &mariaDB{t: t, dir: t.TempDir()}
	if len(m.socket()) > 100 {
		m.dir = shortDir(t)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "init.sql"), []byte("CREATE DATABASE IF NOT EXISTS radius;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "mariadb-install-db", append([]string{"--no-defaults", "--skip-test-db",
		"--auth-root-authentication-method=normal", "--datadir=" + m.data()}, asUser()...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	t.Cleanup(m.kill)
	return m
}

// shortDir is for where the name of a socket would be too long in t.TempDir.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "radpool") //nolint:usetesting // that of t.TempDir is what is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// asUser lets the server run as root where the test does.
func asUser() []string {
	if os.Getuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

func (m *mariaDB) data() string { return filepath.Join(m.dir, "data") }

func (m *mariaDB) socket() string { return filepath.Join(m.dir, "socket") }

// dsn is the database for go-sql-driver.
func (m *mariaDB) dsn() string { return "root@unix(" + m.socket() + ")/radius" }

// startMariaDB makes one, and starts it.
func startMariaDB(t *testing.T) *mariaDB {
	t.Helper()
	m := newMariaDB(t)
	m.start()
	return m
}

// start starts it, and returns when it takes connections. It syncs each COMMIT.
func (m *mariaDB) start() {
	m.t.Helper()
	m.cmd = exec.CommandContext(m.t.Context(), "mariadbd", append([]string{"--no-defaults", "--datadir=" + m.data(), "--skip-networking",
		"--socket=" + m.socket(), "--pid-file=" + filepath.Join(m.dir, "pid"), "--init-file=" + filepath.Join(m.dir, "init.sql"),
		"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=32M"}, asUser()...)...)
	stderr, err := m.cmd.StderrPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ready, exited := make(chan bool, 1), make(chan struct{})
	m.exited = exited
	go func() {
		defer close(exited)
		var log strings.Builder
		started := false
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			log.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), "ready for connections") {
				started = true
				ready <- true
			}
		}
		_ = m.cmd.Wait()
		if !started {
			m.t.Log(log.String())
			ready <- false
		}
	}()
	if !<-ready {
		m.t.Fatal("mariadbd does not start")
	}
}

// kill is kill -9.
func (m *mariaDB) kill() {
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Kill() // it may have ended
	<-m.exited
	m.cmd = nil
}

// open opens it for looking at.
func (m *mariaDB) open() *sqlx.DB {
	db, err := sqlx.Open("mysql", m.dsn())
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = db.Close() })
	return db
}
