package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A signal while the database is being filled is an end like any other.
func TestSignalBeforeReady(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radpool.db")
	var log strings.Builder
	cmd := command(t.Context(), "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0", "-db", "sqlite:"+file, "-demo", "1000000")
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // the schema is being written: the signals are watched by now
		if info, err := os.Stat(file + "-wal"); err == nil && info.Size() > 0 {
			break
		}
		runtime.Gosched()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ready, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || len(ready) > 0 {
		t.Errorf("ended with %v, having said %q", err, ready)
	}
	if got := log.String(); !strings.Contains(got, "before it was ready") || strings.Count(got, "\n") != 1 {
		t.Errorf("logged %q", got)
	}
}

// Whoever does not want to wait for the answers sends a second signal.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	b := start(t, "-db", "memory:10", "-backend-delay", "8s")
	n := dial(t, b.auth)
	n.send(accessRequest(1, "user1", "pass1"))
	b.probe()
	for { // the first ones end it gently, until one of them was taken
		if err := b.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		select {
		case <-b.exited:
			if state := b.cmd.ProcessState; !state.Sys().(syscall.WaitStatus).Signaled() {
				t.Errorf("ended with %v, want an end by the signal\n%s", state, b.log)
			}
			return
		default:
			runtime.Gosched()
		}
	}
}

// The last line says what became of everything that was received.
func TestLastLineAddsUp(t *testing.T) {
	b := start(t, "-db", "memory:10")
	n := dial(t, b.auth)
	req := accessRequest(1, "user1", "pass1")
	for range 3 {
		n.send(req)
		if n.receive(10*time.Second) == nil {
			t.Fatal("no answer")
		}
	}
	n.send([]byte("this is no packet"))
	forged := accessRequest(2, "user1", "pass1")
	forged[len(forged)-1] ^= 1
	n.send(forged)
	b.probe()
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Fatalf("exit status %d\n%s", status, b.log)
	}
	_, fields, ok := strings.Cut(b.log.String(), "\tended\t")
	if !ok {
		t.Fatalf("no last line in\n%s", b.log)
	}
	var counts map[string]int
	if err := json.Unmarshal([]byte(fields), &counts); err != nil {
		t.Fatal(err)
	}
	if counts["received"] != 6 || counts["replayed"] != 2 || counts["malformed"] != 1 || counts["replied"]+counts["unauthentic"] != 2 {
		t.Errorf("%v", counts)
	}
	sum := 0
	for name, n := range counts {
		if name != "received" {
			sum += n
		}
	}
	if sum != counts["received"] {
		t.Errorf("%d datagrams were received, and %d ended: %v", counts["received"], sum, counts)
	}
}
