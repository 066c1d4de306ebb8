package main

import (
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
)

// health is what a load balancer is told.
func health(t *testing.T, addr string) string {
	t.Helper()
	response, err := http.Get("http://" + addr + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", response.StatusCode, b)
}

func TestHealthOfEach(t *testing.T) {
	for _, args := range [][]string{
		{"-db", "memory:10"}, {"-db", "sqlite:" + t.TempDir() + "/standard.db"},
		{"-db", "sqlite:" + t.TempDir() + "/own.db", "-schema", "radpool", "-journal", t.TempDir() + "/journal.db"},
	} {
		b := start(t, append(args, "-http", "0")...)
		if got := health(t, b.http); got != "200 ok\n" {
			t.Errorf("%v: %s", args, got)
		}
		b.end(syscall.SIGTERM)
	}
}

// While the database is away, at the start too, a load balancer asks another server.
func TestHealthWithoutDatabase(t *testing.T) {
	m := startMariaDB(t)
	m.kill()
	b := start(t, "-db", m.dsn, "-journal", t.TempDir()+"/journal.db", "-http", "0")
	if got := health(t, b.http); got != "503 database\n" {
		t.Errorf("away at the start: %s", got)
	}
	until := func(want string) {
		t.Helper()
		eventually(t, func() string {
			if got := health(t, b.http); got != want {
				return fmt.Sprintf("%q, want %q\n%s", got, want, b.log)
			}
			return ""
		})
	}
	m.start()
	until("200 ok\n")
	m.kill()
	until("503 database\n")
	m.start()
	until("200 ok\n")
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
}
