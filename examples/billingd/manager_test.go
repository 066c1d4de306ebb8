//go:build linux

package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/need"
)

// fakeManager is a service manager's side of sd_notify(3).
type fakeManager struct {
	t    *testing.T
	conn *net.UnixConn
	path string
}

func newManager(t *testing.T) *fakeManager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &fakeManager{t, conn, path}
}

// next is what is told next, but for that the server lives; want says which that is for errors.
func (m *fakeManager) next(want string) string {
	m.t.Helper()
	for {
		if got := m.any(want); got != "WATCHDOG=1" {
			return got
		}
	}
}

func (m *fakeManager) any(want string) string {
	m.t.Helper()
	if err := m.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		m.t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := m.conn.Read(b)
	if err != nil {
		m.t.Fatalf("waiting for %s: %v", want, err)
	}
	return string(b[:n])
}

// underManager starts billingd as a service manager does: with these sockets, of these names.
func underManager(t *testing.T, m *fakeManager, names string, files []*os.File, env []string, args ...string) *billingd {
	t.Helper()
	b := &billingd{t: t, log: new(logBuffer), exited: make(chan error, 1)}
	// LISTEN_PID is the process's own number, which nobody knows before there is one.
	b.cmd = exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0]}, args...)...)
	b.cmd.Env = append(os.Environ(), asBillingd+"=1", "NOTIFY_SOCKET="+m.path)
	if len(files) > 0 {
		b.cmd.Env = append(b.cmd.Env, "LISTEN_FDS="+string(rune('0'+len(files))), "LISTEN_FDNAMES="+names)
	}
	b.cmd.Env = append(b.cmd.Env, env...)
	b.cmd.ExtraFiles = files
	b.cmd.Stderr = b.log
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.exited <- b.cmd.Wait() }()
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	return b
}

// udpFile is a socket on a free port, and a file of it to hand on.
func udpFile(t *testing.T) (addr string, f *os.File) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // the file is a copy
	if f, err = conn.File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return conn.LocalAddr().String(), f
}

// It serves the sockets that it is given, by name and by port, and opens the others; tells when it is
// ready, reloads and ends, and that it lives. What arrives before it starts is answered.
func TestUnderServiceManager(t *testing.T) {
	m := newManager(t)
	authAddr, authFile := udpFile(t)
	acctAddr, acctFile := udpFile(t)
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	writeConf(t, file, "client nas { ipaddr = 127.0.0.1\n secret = testing123\n}\n")
	n := dial(t, authAddr)
	early := accessRequest(1, "user1", "pass1")
	n.send(early)
	b := underManager(t, m, "auth:billingd.socket", []*os.File{authFile, acctFile}, []string{"WATCHDOG_USEC=20000"},
		"-db", "memory:10", "-conf", file, "-acct", acctAddr)
	if got := m.next("READY"); got != "READY=1" {
		t.Fatalf("got %q\n%s", got, b.log)
	}
	if n.receive(time.Minute) == nil {
		t.Errorf("what came before it started is not answered\n%s", b.log)
	}
	acct := dial(t, acctAddr)
	acct.send(accountingRequest(2, "s1", rfc2866.AcctStatusType_Value_Start))
	if acct.receive(time.Minute) == nil {
		t.Errorf("accounting is not answered\n%s", b.log)
	}
	for range 3 {
		for m.any("WATCHDOG") != "WATCHDOG=1" {
		}
	}
	if err := b.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := m.next("RELOADING"); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
	if got := m.next("READY"); got != "READY=1" {
		t.Errorf("got %q", got)
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
	if got := m.next("STOPPING"); got != "STOPPING=1" {
		t.Errorf("got %q", got)
	}
	if got := strings.Count(b.log.String(), "serving a socket of the service manager"); got != 2 {
		t.Errorf("%d sockets\n%s", got, b.log)
	}
}

// A socket that is for nothing is one clear line.
func TestWrongInheritedSockets(t *testing.T) {
	_, udp := udpFile(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	tcp, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tcp.Close() }()
	unix, err := newManager(t).conn.File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close() }()
	for names, tc := range map[string]struct {
		files []*os.File
		want  string
	}{
		"radius":    {[]*os.File{udp}, `the socket "radius" of the service manager, 127.0.0.1:`},
		"auth":      {[]*os.File{tcp}, `the socket "auth" of the service manager is none of UDP (ListenDatagram=)`},
		"acct":      {[]*os.File{unix}, `the socket "acct" of the service manager is none of UDP (ListenDatagram=)`},
		"http":      {[]*os.File{udp}, `the socket "http" of the service manager is none that listens on TCP`},
		"http:http": {[]*os.File{tcp, tcp}, `there are several sockets "http"`},
	} {
		b := underManager(t, newManager(t), names, tc.files, nil, "-db", "memory:1", "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0")
		<-b.exited
		if log := b.log.String(); b.cmd.ProcessState.ExitCode() != 1 || !strings.HasPrefix(log, "billingd: "+tc.want) || strings.Count(log, "\n") != 1 {
			t.Errorf("%s: exit status %d, %s", names, b.cmd.ProcessState.ExitCode(), log)
		}
	}
}

// The status page is served on a socket that it is given.
func TestInheritedPage(t *testing.T) {
	m := newManager(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	defer func() { _ = f.Close() }()
	b := underManager(t, m, "http", []*os.File{f}, nil, "-db", "memory:1", "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0")
	if got := m.next("READY"); got != "READY=1" {
		t.Fatalf("got %q", got)
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("GET /metrics HTTP/1.0\r\nHost: " + addr + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if _, err := page.ReadFrom(conn); err != nil || !strings.Contains(page.String(), "radpool_") {
		t.Errorf("%v: %.300s", err, page.String())
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
}

// systemd itself finds nothing to say of the units, once the program is where they have it.
func TestUnits(t *testing.T) {
	analyze := need.Command(t, "systemd-analyze", "apt-get install systemd")
	dir := t.TempDir()
	for _, unit := range []string{"billingd.service", "billingd.socket"} {
		text, err := os.ReadFile("../systemd/" + unit)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("/usr/local/sbin/billingd"), []byte(os.Args[0]))
		if err := os.WriteFile(filepath.Join(dir, unit), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", filepath.Join(dir, "billingd.service"), filepath.Join(dir, "billingd.socket")).CombinedOutput()
	lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return !strings.Contains(line, "billingd.") })
	if err != nil || len(lines) > 0 {
		t.Errorf("%v:\n%s", err, out)
	}
	// The flags that they have are flags.
	text, err := os.ReadFile("../systemd/billingd.service")
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "radiusd.conf")
	writeConf(t, conf, "client a {\n\tipaddr = 10.0.0.1\n\tsecret = x\n}\nsql {\n\tdriver = sqlite\n\tsqlite {\n\t\tfilename = radius.db\n\t}\n}\n")
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^Exec(?:StartPre|Start)=/usr/local/sbin/billingd (.*)$`).FindAllStringSubmatch(string(text), -1) {
		found++
		args := strings.Fields(strings.ReplaceAll(m[1], "/etc/billingd/radiusd.conf", conf))
		if args[0] == "check" {
			args = args[1:]
		}
		if _, err := parseFlags(args, os.Stderr); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	if found != 2 {
		t.Errorf("%d commands", found)
	}
}

// systemd-socket-activate starts it with the sockets, as systemd does.
func TestSystemdSocketActivate(t *testing.T) {
	path := need.Command(t, "systemd-socket-activate", "apt-get install systemd")
	addr, f := udpFile(t)
	_ = f.Close() // the port is free again
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-d", "-l", addr, "--fdname=auth", "-E", asBillingd+"=1", os.Args[0], "-db", "memory:10", "-acct", "127.0.0.1:0")
	log := new(logBuffer)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for ctx.Err() == nil && !strings.Contains(log.String(), "Listening on") {
		runtime.Gosched()
	}
	n := dial(t, addr)
	n.send(accessRequest(1, "user1", "pass1"))
	if n.receive(time.Minute) == nil {
		t.Errorf("no answer\n%s", log)
	}
}
