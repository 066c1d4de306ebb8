package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// debugged is a billingd with -X, whose standard output goes to a file.
func debugged(t *testing.T, args ...string) (b *billingd, output func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	b = &billingd{t: t, log: new(logBuffer), exited: make(chan error, 1)}
	b.cmd = command(t.Context(), append([]string{"-X", "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0"}, args...)...)
	b.cmd.Stderr, b.cmd.Stdout = b.log, out
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.exited <- b.cmd.Wait() }()
	t.Cleanup(func() { _ = b.cmd.Process.Kill(); _ = out.Close() })
	output = func() string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if m := regexp.MustCompile(`(?m)^billingd ready auth=(\S+) acct=(\S+) db=`).FindStringSubmatch(output()); m != nil {
			b.auth, b.acct = m[1], m[2]
			return b, output
		}
		if time.Now().After(deadline) {
			t.Fatalf("not ready:\n%s%s", output(), b.log)
		}
	}
}

// -X prints requests, decisions, replies and what is dropped, and no password.
func TestDebug(t *testing.T) {
	b, output := debugged(t, "-db", "memory:10")
	n := dial(t, b.auth)
	for _, password := range []string{"pass1", "hunter2"} {
		n.send(accessRequest(byte(len(password)), "user1", password))
		if n.receive(time.Minute) == nil {
			t.Fatal("no answer")
		}
	}
	if _, err := n.conn.Write([]byte("hunter2 is no RADIUS packet")); err != nil {
		t.Fatal(err)
	}
	n.send(accessRequest(9, "user2", "pass2"))
	if n.receive(time.Minute) == nil {
		t.Fatal("no answer")
	}
	if status := b.end(syscall.SIGTERM); status != 0 || b.log.String() != "" {
		t.Errorf("exit status %d, on the standard error %q", status, b.log)
	}
	got := output()
	for _, want := range []string{
		"(0)   User-Name = \"user1\"\n(0)   User-Password = <<< secret >>>\n",
		"(0) accepted (PAP; Cleartext-Password)\n(0) Access-Accept Id 5 to ",
		"(0)   Framed-IP-Address = 10.0.0.2\n",
		"(1) rejected: wrong-password (PAP; Cleartext-Password)\n(1) Access-Reject Id 7 to ",
		" is dropped: malformed",
		"(2)   User-Name = \"user2\"\n",
		"\tinfo\tended\t",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if regexp.MustCompile(`hunter2|pass[0-9]|testing123`).MatchString(got) {
		t.Errorf("a password is in\n%s", got)
	}
}

// Without -X nothing is printed of a request that is let in, at any level.
func TestNoLineAPacket(t *testing.T) {
	b := start(t, "-db", "memory:10", "-log-format", "json", "-log-level", "debug")
	before := strings.Count(b.log.String(), "\n")
	n := dial(t, b.auth)
	for id := range byte(50) {
		n.send(accessRequest(id, "user1", "pass1"))
		if n.receive(time.Minute) == nil {
			t.Fatal("no answer")
		}
	}
	if after := strings.Count(b.log.String(), "\n"); after != before {
		t.Errorf("%d lines before, %d after:\n%s", before, after, b.log)
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for line := range strings.Lines(b.log.String()) {
		var event struct{ Level, TS, Msg string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Level == "" || event.Msg == "" || event.TS == "" {
			t.Errorf("%q is no event: %v", line, err)
		}
	}
	if !strings.Contains(b.log.String(), `"msg":"ended"`) {
		t.Errorf("got %s", b.log)
	}
}

// Each policy serves, and so do several sockets of one address.
func TestPolicies(t *testing.T) {
	for _, args := range []string{"-policy spare", "-policy adaptive -max-servers 8", "-policy fixed -max-servers 3", "-sockets 3 -receive-buffer 65536"} {
		b := start(t, append([]string{"-db", "memory:10"}, strings.Fields(args)...)...)
		for id := range byte(4) { // of ports of their own, so that several of the sockets have some
			n := dial(t, b.auth)
			n.send(accessRequest(id, "user1", "pass1"))
			if n.receive(time.Minute) == nil {
				t.Fatalf("%s: no answer", args)
			}
		}
		if strings.Contains(args, "-sockets") {
			out, err := exec.CommandContext(t.Context(), "ss", "-uln").Output()
			if err == nil && strings.Count(string(out), b.auth+" ") != 3 {
				t.Errorf("%s: got\n%s", args, out)
			}
		}
		if status := b.end(syscall.SIGTERM); status != 0 {
			t.Errorf("%s: exit status %d", args, status)
		}
	}
}
