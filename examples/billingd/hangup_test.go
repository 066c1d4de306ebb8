//go:build unix

package main

import (
	"syscall"
	"testing"
)

// SIGHUP reads the table nas again, also without -conf.
func TestHangUpReadsTheTable(t *testing.T) {
	file := demoDB(t)
	b := start(t, "-db", "sqlite:"+file, "-read-clients")
	openDB(t, file).MustExec("INSERT INTO nas (nasname, secret) VALUES ('192.0.2.1', 's3cret')")
	if err := b.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	b.waitFor(`"clients": 3`, 1)
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
}
