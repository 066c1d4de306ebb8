package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/radpool/radpool/internal/need"
)

// startPostgreSQL starts one with an empty database, which listens on a socket in its
// directory and nowhere else. It syncs each COMMIT.
func startPostgreSQL(t *testing.T) *dbServer {
	t.Helper()
	bin := postgresBin(t)
	dir := shortDir(t)
	var as []string
	if os.Getuid() == 0 { // as which it refuses to run
		as = []string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}
		if out, err := exec.CommandContext(t.Context(), "chown", "postgres", dir).CombinedOutput(); err != nil {
			t.Fatalf("chown: %v\n%s", err, out)
		}
	}
	command := func(program string, args ...string) *exec.Cmd {
		line := slices.Concat(as, []string{filepath.Join(bin, program), "-D", filepath.Join(dir, "data")}, args)
		cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
		cmd.Dir = dir
		return cmd
	}
	if out, err := command("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	source := "postgres://postgres@/postgres?host=" + dir
	s := &dbServer{
		t: t, ready: "ready to accept connections", dsn: source, driver: "pgx", source: source,
		command: func() *exec.Cmd {
			return command("postgres", "-k", dir, "-c", "listen_addresses=", "-c", "fsync=on", "-c", "synchronous_commit=on")
		},
	}
	t.Cleanup(s.kill)
	s.start()
	return s
}

// postgresBin is where the programs of the newest PostgreSQL are: Debian has them in no
// directory of PATH.
func postgresBin(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return filepath.Dir(need.Command(t, "postgres", "Debian: apt-get install postgresql"))
	}
	return filepath.Dir(slices.Max(found))
}
