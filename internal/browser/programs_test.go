package browser_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

var programs struct {
	mu  sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	status := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(status)
}

// build builds a program of examples, once for all tests, and returns its path.
func build(t *testing.T, name string) string {
	t.Helper()
	programs.mu.Lock()
	defer programs.mu.Unlock()
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "radpool-browser-") //nolint:usetesting // all tests use it
		if err != nil {
			t.Fatal(err)
		}
		programs.dir = dir
	}
	path := filepath.Join(programs.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./examples/"+name)
	cmd.Dir = filepath.Join("..", "..") // the module whose program it is
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, out)
	}
	return path
}

// billingd is a running billingd.
type billingd struct {
	t                *testing.T
	cmd              *exec.Cmd
	auth, acct, http string
	log              strings.Builder // complete when it has ended
}

var readyLine = regexp.MustCompile(`^billingd ready auth=(\S+) acct=(\S+) db=\S+ http=(\S+)\n$`)

func startBillingd(t *testing.T, args ...string) *billingd {
	t.Helper()
	b := &billingd{t: t}
	b.cmd = exec.CommandContext(t.Context(), build(t, "billingd"), append([]string{"-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0", "-http", "0"}, args...)...)
	b.cmd.Stderr = &b.log
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	m := readyLine.FindStringSubmatch(line)
	if err != nil || m == nil {
		_ = b.cmd.Wait()
		t.Fatalf("billingd says %q, %v\n%s", line, err, b.log.String())
	}
	b.auth, b.acct, b.http = m[1], m[2], m[3]
	return b
}

// end ends it, and returns the Stats that it ends with: how many datagrams were received,
// and how many came to each outcome.
func (b *billingd) end() map[string]float64 {
	b.t.Helper()
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.t.Fatal(err)
	}
	if err := b.cmd.Wait(); err != nil {
		b.t.Errorf("billingd ended with %v\n%s", err, b.log.String())
	}
	stats := make(map[string]float64)
	_, fields, ok := strings.Cut(b.log.String(), "\tended\t")
	if !ok || json.Unmarshal([]byte(fields), &stats) != nil {
		b.t.Fatalf("billingd does not say how it ended:\n%s", b.log.String())
	}
	return stats
}
