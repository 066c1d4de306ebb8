//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/internal/need"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A sample is a billing system in another language, in a process of its own.
type sample struct {
	url string
	cmd *exec.Cmd
}

// A starter starts a sample on a database.
type starter func(t *testing.T, file string) (*sample, error)

// The suite for back ends holds for the samples, through HTTP.
func TestPython(t *testing.T) {
	python := need.Command(t, "python3", "apt-get install python3")
	// What is found may be a script that chooses a Python, which takes longer than Python.
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import sys; print(sys.executable)").Output(); err == nil {
		python = strings.TrimSpace(string(out))
	}
	conforms(t, func(t *testing.T, file string) (*sample, error) {
		return start(t, exec.Command(python, "python/remote.py", file, "0"))
	})
}

func TestPHP(t *testing.T) {
	php := need.Command(t, "php", "apt-get install php-cli php-sqlite3")
	if out, err := exec.CommandContext(t.Context(), php, "-m").Output(); err != nil || !strings.Contains(string(out), "sqlite3") {
		need.Missing(t, "PHP's extension sqlite3 (apt-get install php-sqlite3)")
	}
	conforms(t, func(t *testing.T, file string) (*sample, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0") // PHP takes no port 0
		if err != nil {
			return nil, err
		}
		addr := l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
		cmd := exec.Command(php, "-q", "-S", addr, "php/remote.php")
		cmd.Env = append(os.Environ(), "DATABASE="+file, "PHP_CLI_SERVER_WORKERS=4")
		return start(t, cmd)
	})
}

// start starts cmd in a group of its own, and waits until it says where it is.
func start(t *testing.T, cmd *exec.Cmd) (*sample, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	_ = w.Close() // the process has its own
	s := &sample{cmd: cmd}
	t.Cleanup(s.kill)
	ready := make(chan string, 1)
	go func() {
		defer r.Close()
		lines := bufio.NewScanner(r)
		for lines.Scan() { // to the end, or it would block
			line := lines.Text()
			if port, ok := strings.CutPrefix(line, "ready "); ok {
				ready <- "http://127.0.0.1:" + port
			}
			if _, url, ok := strings.Cut(line, "(http://"); ok {
				select {
				case ready <- "http://" + strings.TrimSuffix(strings.Fields(url)[0], ")"):
				default: // each worker of PHP says it
				}
			}
		}
		close(ready)
	}()
	var ok bool
	if s.url, ok = <-ready; !ok {
		return nil, errors.New("the sample has ended before it was ready")
	}
	return s, nil
}

// signal reaches the workers, too.
func (s *sample) signal(sig syscall.Signal) { _ = syscall.Kill(-s.cmd.Process.Pid, sig) }

// kill ends it as a crash does.
func (s *sample) kill() {
	s.signal(syscall.SIGKILL)
	_ = s.cmd.Wait() // says that it was killed
}

func conforms(t *testing.T, startOn starter) {
	billingtest.TestHandler(t, func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		file := filepath.Join(t.TempDir(), "billing.db")
		db, err := sqlx.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = db.Close() })
		schema, err := os.ReadFile("schema.sql")
		if err != nil {
			return nil, err
		}
		if _, err := db.ExecContext(ctx, string(schema)); err != nil {
			return nil, err
		}
		for _, s := range subscribers {
			if _, err := db.ExecContext(ctx, "INSERT INTO subscribers (name, cleartext, address) VALUES (?, ?, '10.0.0.1')", s.UserName, s.Password); err != nil {
				return nil, err
			}
		}
		return backendOn(t, startOn, file, db)
	})
}

func backendOn(t *testing.T, startOn starter, file string, db *sqlx.DB) (*billingtest.Backend, error) {
	s, err := startOn(t, file)
	if err != nil {
		return nil, err
	}
	r := remoteAt(t, s.url)
	end := func() {
		r.close()
		s.kill()
	}
	return &billingtest.Backend{
		Handler:  r,
		Sessions: func(ctx context.Context) ([]billingtest.Session, error) { return sessions(ctx, db) },
		Close:    func() error { end(); return nil },
		Reopen: func(context.Context) (*billingtest.Backend, error) {
			end()
			return backendOn(t, startOn, file, db)
		},
		Stall: func(context.Context) (func(), error) {
			s.signal(syscall.SIGSTOP)
			return func() { s.signal(syscall.SIGCONT) }, nil
		},
	}, nil
}

func sessions(ctx context.Context, db *sqlx.DB) ([]billingtest.Session, error) {
	rows, err := db.QueryContext(ctx, `SELECT unique_id, session_id, user_name, start, coalesce(stop, 0), session_time, input_octets, output_octets FROM sessions`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []billingtest.Session
	for rows.Next() {
		var s billingtest.Session
		var start, stop, used int64
		if err := rows.Scan(&s.UniqueID, &s.SessionID, &s.UserName, &start, &stop, &used, &s.InputOctets, &s.OutputOctets); err != nil {
			return nil, err
		}
		s.Start, s.SessionTime = time.Unix(start, 0), time.Duration(used)*time.Second
		if stop != 0 {
			s.Stop = time.Unix(stop, 0)
		}
		list = append(list, s)
	}
	return list, rows.Err()
}
