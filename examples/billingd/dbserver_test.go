package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
)

// A dbServer is a database server of the test's own, which can be killed.
type dbServer struct {
	t       *testing.T
	command func() *exec.Cmd
	ready   string // is in its log when it takes connections
	dsn     string // for billingd
	driver  string // of database/sql
	source  string // for that

	cmd    *exec.Cmd
	exited chan struct{}
}

// start starts it, and returns when it takes connections.
func (s *dbServer) start() {
	s.t.Helper()
	s.cmd = s.command()
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, ready, exited := s.cmd, make(chan bool, 1), make(chan struct{})
	s.exited = exited
	go func() {
		defer close(exited)
		var log strings.Builder
		started := false
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			log.WriteString(lines.Text() + "\n")
			if !started && strings.Contains(lines.Text(), s.ready) {
				started = true
				ready <- true
			}
		}
		_ = cmd.Wait()
		if !started {
			s.t.Log(log.String())
			ready <- false
		}
	}()
	if !<-ready {
		s.t.Fatal(s.cmd.Path + " does not start")
	}
}

// kill is kill -9 of the server and of its children. It returns when all of them have
// ended: they share the standard error that start reads.
func (s *dbServer) kill() {
	s.t.Helper()
	if s.cmd == nil {
		return
	}
	pids := children(s.t, s.cmd.Process.Pid)
	_ = s.cmd.Process.Kill() // it may have ended
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // likewise
		}
	}
	<-s.exited
	s.cmd = nil
}

// children are the processes that the first thread of a process has started.
func children(t *testing.T, pid int) (pids []int) {
	t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Log(err) // those of PostgreSQL end when they miss their parent
	}
	for s := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(s); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// open opens its database for looking at.
func (s *dbServer) open() *sqlx.DB {
	s.t.Helper()
	db, err := sqlx.Open(s.driver, s.source)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

// shortDir is for where the name of a socket would be too long in t.TempDir, or a server
// that is not to run as root could not reach it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "radpool") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
