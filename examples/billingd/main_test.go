package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// asBillingd makes the test binary be billingd itself, so that tests can start
// and kill it as a process of its own without building it.
const asBillingd = "RADPOOL_TEST_AS_BILLINGD"

func TestMain(m *testing.M) {
	if os.Getenv(asBillingd) != "" {
		main()
	}
	os.Exit(m.Run())
}

// billingd is a running process.
type billingd struct {
	t          *testing.T
	cmd        *exec.Cmd
	auth, acct string // host:port
	http       string // where -http was given
	log        *logBuffer
	exited     chan error
}

// logBuffer is what a running process has logged by now.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var readyLine = regexp.MustCompile(`^billingd ready auth=(\S+) acct=(\S+) db=(\S+?)(?: status=\S+)?(?: http=(\S+))?$`)

// start runs billingd on free ports until it is ready.
func start(t *testing.T, args ...string) *billingd {
	t.Helper()
	b := &billingd{t: t, log: new(logBuffer), exited: make(chan error, 1)}
	b.cmd = command(t.Context(), append([]string{"-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0"}, args...)...)
	b.cmd.Stderr = b.log
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = b.cmd.Wait()
		t.Fatalf("billingd did not get ready: %v\n%s", err, b.log)
	}
	m := readyLine.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		t.Fatalf("billingd says %q", line)
	}
	b.auth, b.acct, b.http = m[1], m[2], m[4]
	go func() { b.exited <- b.cmd.Wait() }()
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	return b
}

func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asBillingd+"=1")
	return cmd
}

// end sends the signal, and returns the exit status.
func (b *billingd) end(s os.Signal) int {
	b.t.Helper()
	if err := b.cmd.Process.Signal(s); err != nil {
		b.t.Fatal(err)
	}
	<-b.exited
	return b.cmd.ProcessState.ExitCode()
}

// eventually looks every now and then, until lacking returns that nothing lacks.
func eventually(t *testing.T, lacking func() string) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(3 * time.Minute)
	for what := lacking(); what != ""; what = lacking() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatal(what)
		}
	}
}

// openDB opens the database of a billingd for looking at.
func openDB(t *testing.T, file string) *sqlx.DB {
	t.Helper()
	db, err := sqlx.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestSignalsEndItGently(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		b := start(t, "-db", "memory:1")
		if status := b.end(s); status != 0 {
			t.Errorf("%v: exit status %d, want 0\n%s", s, status, b.log)
		}
	}
}

// Whatever is wrong with how it was started is one clear line, and exit status
// 1 or 2.
func TestBadStartsAreOneClearLine(t *testing.T) {
	running := start(t, "-db", "memory:1", "-http", "0")
	taken := running.http
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("this is no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		status int
		line   string // a part of it
	}{
		"-db memory:1 -auth " + running.auth + " -acct 127.0.0.1:0": {1, "-auth " + running.auth + ": the port is taken"},
		"-auth 127.0.0.1:0 -acct 127.0.0.1:0 -db sqlite:" + foreign: {1, foreign},
		"-auth 127.0.0.1:0 -acct 127.0.0.1:0 -db sqlite:" + dir:     {1, dir},
		"-auth nonsense -acct 127.0.0.1:0 -db memory:1":             {1, "-auth nonsense"},
		"-no-such-flag": {2, "-no-such-flag"},
		"-db nonsense":  {2, "-db nonsense: want sqlite:FILE, mysql:DSN, postgres://... or memory:N"},
		"-names loud":   {2, `"loud" is none of column, exact, ignore-case`},
		"check -db mysql:me:hunter2@tcp(127.0.0.1:1)/radius":                   {1, "-db mysql:me:***@tcp(127.0.0.1:1)/radius: sqlbilling: MySQL database radius at 127.0.0.1:1: "},
		"check -db postgres://me:hunter2@127.0.0.1:1/radius":                   {1, "-db postgres://me:***@127.0.0.1:1/radius: sqlbilling: PostgreSQL database radius at 127.0.0.1:1: "},
		"check -db postgres://127.0.0.1:1/radius?user=me&password=hunter2":     {1, "-db postgres://127.0.0.1:1/radius?user=me&password=***: "},
		"check -db mysql:me:hunter2@tcp(127.0.0.1:1)":                          {1, "-db mysql:me:***@tcp(127.0.0.1:1): sqlbilling: MySQL: invalid DSN"},
		"check -db mysql:me:hunter2":                                           {1, "-db mysql:me:***: "},
		"check -db mysql:me:a/hunter2@tcp(127.0.0.1:1)":                        {1, "-db mysql:me:***@tcp(127.0.0.1:1): "},
		"check -db mysql:tcp(127.0.0.1:1)/radius":                              {1, "-db mysql:tcp(127.0.0.1:1)/radius: "},
		"check -db postgres://me:hunter2":                                      {1, "-db postgres://me:***: sqlbilling: PostgreSQL: the DSN cannot be parsed: "},
		"check -db postgres://me:a@hunter2@127.0.0.1:1/radius":                 {1, "-db postgres://me:***@127.0.0.1:1/radius: sqlbilling: PostgreSQL: there is more than one @ in the DSN"},
		"check -db postgres://me:a/hunter2@127.0.0.1:1/radius":                 {1, "-db postgres://me:***@127.0.0.1:1/radius: "},
		"check -db postgres://127.0.0.1:1,[::1]:1/radius":                      {1, "-db postgres://127.0.0.1:1,[::1]:1/radius: "},
		"-db postgers://me:hunter2@127.0.0.1/radius":                           {2, "-db postgers:***: want sqlite:FILE"},
		"-db me:hunter2@tcp(127.0.0.1:1)/radius":                               {2, "-db me:***: want sqlite:FILE"},
		"-db memory:0":                                                         {2, "N from 1 to"},
		"-read-clients -db memory:1":                                           {2, "-read-clients: there is no table nas"},
		"-db memory:1 more":                                                    {2, `unexpected argument "more"`},
		"-max-servers 0":                                                       {2, "-max-servers 0: must be at least 1"},
		"-max-servers 99999":                                                   {2, "-max-servers 99999: must be 1 to 65536"},
		"-max-queue-size 1048577":                                              {2, "-max-queue-size 1048577: must be 2 to 1048576"},
		"-min-spare-servers 33 -max-spare-servers 32":                          {2, "-min-spare-servers 33: must be 1 to 32 (MaxSpareServers)"},
		"-patience 1ms":                                                        {2, "-patience 1ms: must be 50ms to 9s (MaxRequestTime)"},
		"-max-request-time 1h":                                                 {2, "-max-request-time 1h0m0s: must be 1ms to 2m0s"},
		"-backend-delay -1s":                                                   {2, "-backend-delay -1s: must not be negative"},
		"-schema radpool -default-user-profile all":                            {2, "-schema radpool: there are no user profiles"},
		"-schema radpool -postauth-passwords":                                  {2, "-schema radpool: there are no user profiles"},
		"-demo -1":                                                             {2, "-demo -1: must be 0 to"},
		"-secret= ":                                                            {2, "-secret is empty"},
		"-http 127.0.0.1:port":                                                 {2, `-http "127.0.0.1:port": want ADDRESS:PORT`},
		"-http 99999":                                                          {2, `-http "99999": want ADDRESS:PORT`},
		"-db memory:1 -auth 127.0.0.1:0 -acct 127.0.0.1:0 -http " + taken:      {1, "-http " + taken + ": listen tcp"},
		"-last-grant -1s":                                                      {2, "-last-grant -1s: must be 0"},
		"-retry-parked -db memory:1":                                           {2, "-retry-parked: there is no journal"},
		"-auth 127.0.0.1:0 -acct 127.0.0.1:0 -db memory:1 -journal " + foreign: {1, "-journal " + foreign + ": journal: file " + foreign},
		"-log-format xml":                                                      {2, "\"xml\" is none of console, json"},
		"-policy all":                                                          {2, "\"all\" is none of spare, adaptive, fixed"},
		"-sockets 0":                                                           {2, "-sockets 0: must be at least 1"},
		"-sockets 257":                                                         {2, "-sockets 257: must be 1 to 256"},
		"-X -log-format json -db memory:1":                                     {2, "-X: what it prints is for people"},
		"-log-level loud":                                                      {2, "log-level"},
		"-lease-time 5s":                                                       {2, "-lease-time 5s: must be whole seconds from 10s to 8784h"},
		"-eap leap":                                                            {2, "\"leap\" is no method of EAP"},
		"-eap md5,peap":                                                        {2, "EAP methods with TLS are not offered"},
		"-eap md5,md5":                                                         {2, "md5 stands twice"},
		"-pool-full maybe":                                                     {2, "\"maybe\" is neither accept nor reject"},
		"-backend-delay-every 0":                                               {2, "-backend-delay-every 0: must be at least 1"},
	} {
		t.Run(args, func(t *testing.T) {
			var out, log strings.Builder
			cmd := command(t.Context(), strings.Fields(args)...)
			cmd.Stdout, cmd.Stderr = &out, &log
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != want.status {
				t.Errorf("got %v, want exit status %d", err, want.status)
			}
			line := strings.TrimSuffix(log.String(), "\n")
			if strings.Contains(line, "hunter2") {
				t.Errorf("the password is in %q", line)
			}
			if !strings.HasPrefix(line, "billingd: ") || !strings.Contains(line, want.line) || strings.Contains(line, "\n") || out.Len() > 0 {
				t.Errorf("got %q, want one line with %q", line+out.String(), want.line)
			}
		})
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	var help strings.Builder
	if status := run(t.Context(), []string{"-h"}, io.Discard, &help); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for _, name := range []string{"db", "auth", "acct", "secret", "demo", "max-servers", "min-spare-servers", "max-spare-servers", "start-servers", "max-queue-size", "max-request-time", "patience", "cleanup-delay", "max-requests", "backend-delay", "http"} {
		if !strings.Contains(help.String(), "\n  -"+name+" ") {
			t.Errorf("-%s is not in the help", name)
		}
	}
}

// A request that is being answered when the signal comes is answered.
func TestEndAnswersWhatWasReceived(t *testing.T) {
	b := start(t, "-db", "memory:10", "-backend-delay", "300ms")
	n := dial(t, b.auth)
	req := accessRequest(1, "user1", "pass1")
	n.send(req)
	b.probe() // when this is answered the request before it has been taken
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
	if got := n.receive(time.Minute); got == nil {
		t.Error("the request was not answered")
	}
}
