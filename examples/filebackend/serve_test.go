//go:build unix

package main

import (
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radclient"
)

// What an operator does: starts it, asks, changes a user, sends a SIGHUP, and stops it.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	o := &options{users: filepath.Join(dir, "users.csv"), records: filepath.Join(dir, "records")}
	writeUsers(t, o.users, "name,password,Session-Timeout\nalice,wonderland,3600\n")
	s := start(t, o)
	client := newClient(t, s.auth)
	asks := func(password string) *radclient.Reply {
		t.Helper()
		p := radclient.NewRequest(radius.CodeAccessRequest)
		_ = rfc2865.UserName_SetString(p, "alice")
		_ = rfc2865.UserPassword_SetString(p, password)
		reply, err := client.Do(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if r := asks("wonderland"); r.Code != radius.CodeAccessAccept || rfc2865.SessionTimeout_Get(r.Packet) != 3600 {
		t.Errorf("alice: %v", r.Code)
	}
	if r := asks("looking-glass"); r.Code != radius.CodeAccessReject {
		t.Errorf("a wrong password: %v", r.Code)
	}
	writeUsers(t, o.users, "name,password\nalice,looking-glass\n")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for asks("looking-glass").Code != radius.CodeAccessAccept {
		runtime.Gosched() // the test's own timeout is the bound
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestWrongFiles(t *testing.T) {
	dir := t.TempDir()
	users, file := filepath.Join(dir, "users.csv"), filepath.Join(dir, "file")
	writeUsers(t, users, "name,password\nalice\n")
	writeUsers(t, file, "name,password\n")
	for tell, o := range map[string]*options{
		users + ": record on line 2: wrong number of fields": {users: users},
		"none.csv": {users: filepath.Join(dir, "none.csv")},
		file + ":": {users: file, records: file},
	} {
		if _, _, err := open(o, zap.NewNop()); err == nil || !strings.Contains(err.Error(), tell) {
			t.Errorf("%+v: %v, %s must be told", o, err, tell)
		}
	}
}
