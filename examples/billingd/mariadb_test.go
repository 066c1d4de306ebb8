package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/radpool/radpool/internal/need"
)

// A mariaDB listens on a socket in its directory, and nowhere else.
type mariaDB struct {
	dbServer
	dir string
}

// newMariaDB makes one with an empty database radius, and does not start it. It syncs
// each COMMIT.
func newMariaDB(t *testing.T) *mariaDB {
	t.Helper()
	for _, program := range []string{"mariadbd", "mariadb-install-db"} {
		need.Command(t, program, "Debian: apt-get install mariadb-server")
	}
	m := &mariaDB{dir: t.TempDir()}
	if len(m.socket()) > 100 {
		m.dir = shortDir(t)
	}
	init, data := filepath.Join(m.dir, "init.sql"), "--datadir="+filepath.Join(m.dir, "data")
	if err := os.WriteFile(init, []byte("CREATE DATABASE IF NOT EXISTS radius;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var user []string
	if os.Getuid() == 0 { // else it would not run as root
		user = []string{"--user=root"}
	}
	out, err := exec.CommandContext(t.Context(), "mariadb-install-db", append([]string{"--no-defaults", "--skip-test-db",
		"--auth-root-authentication-method=normal", data}, user...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	source := "root@unix(" + m.socket() + ")/radius"
	m.dbServer = dbServer{
		t: t, ready: "ready for connections", dsn: "mysql:" + source, driver: "mysql", source: source,
		command: func() *exec.Cmd {
			return exec.CommandContext(t.Context(), "mariadbd", append([]string{"--no-defaults", data, "--skip-networking",
				"--socket=" + m.socket(), "--pid-file=" + filepath.Join(m.dir, "pid"), "--init-file=" + init,
				"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=32M"}, user...)...)
		},
	}
	t.Cleanup(m.kill)
	return m
}

func (m *mariaDB) socket() string { return filepath.Join(m.dir, "socket") }

// startMariaDB makes one, and starts it.
func startMariaDB(t *testing.T) *mariaDB {
	t.Helper()
	m := newMariaDB(t)
	m.start()
	return m
}
