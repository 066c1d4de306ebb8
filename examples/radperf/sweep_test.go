//go:build unix

package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// freeAddresses are two that nobody listens on now.
func freeAddresses(t *testing.T) (auth, acct string) {
	t.Helper()
	var at [2]string
	for i := range at {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		at[i] = conn.LocalAddr().String()
	}
	return at[0], at[1]
}

// A sweep starts a server for each measurement, ends it, and draws what it measured.
func TestSweep(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asServer, "yes")
	auth, acct := freeAddresses(t)
	page, data := filepath.Join(t.TempDir(), "sweep.html"), filepath.Join(t.TempDir(), "sweep.json")
	stdout, _ := radperf(t, statusOK, "sweep", "-auth", auth, "-acct", acct, "-workers", "2,8", "-n", "10,100,1000", "-timeout", "1m",
		"-start", `"`+program+`" {auth} {acct} {workers}`, "-plot", page, "-json", data)
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); len(lines) != 7 {
		t.Errorf("%d lines\n%s", len(lines), stdout)
	}
	var s series
	if err := json.Unmarshal([]byte(read(t, data)), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Points) != 6 {
		t.Fatalf("%d points", len(s.Points))
	}
	for i, p := range s.Points {
		workers, requests := []int{2, 8}[i/3], []int{10, 100, 1000}[i%3]
		if p.Workers != workers || p.Requests != requests || p.Result.Accepts != uint64(requests) || p.Throughput <= 0 || p.Seconds <= 0 {
			t.Errorf("point %d: %d workers, %d requests, %+v", i, p.Workers, p.Requests, p.Result.Counters)
		}
	}
	text := read(t, page)
	for _, want := range []string{`id="plot-requests"`, `id="plot-time"`, `id="plot-workers"`, `id="pps"`, "8 workers", "1,000 requests", `<th scope="row">8</th>`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s on the page", want)
		}
	}
	// It has been ended: the address is free.
	conn, err := net.ListenPacket("udp", auth)
	if err != nil {
		t.Fatal("the last server still runs:", err)
	}
	conn.Close()
}

func TestSweepServerThatFails(t *testing.T) {
	for start, want := range map[string]string{
		"/nowhere/radiusd {workers}":           "-start: fork/exec /nowhere/radiusd",
		`sh -c "echo no database >&2; exit 3"`: "1 workers, 10 requests: -start: the server has ended (exit status 3), and said: no database",
	} {
		auth, acct := freeAddresses(t)
		_, stderr := radperf(t, statusWrong, "sweep", "-auth", auth, "-acct", acct, "-workers", "1", "-n", "10", "-start", start)
		if !strings.Contains(stderr, want) {
			t.Errorf("%s: %s, want %s", start, stderr, want)
		}
	}
}
