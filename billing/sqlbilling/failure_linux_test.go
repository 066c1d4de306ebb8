package sqlbilling_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// Not even root can write to /proc.
func TestFolderThatNobodyCanWriteTo(t *testing.T) {
	_, err := sqlbilling.Open(t.Context(), "sqlite:/proc/radius.db", sqlbilling.Options{})
	if err == nil || !strings.Contains(err.Error(), "/proc/radius.db") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line that names the file", err)
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 { // who may write everywhere
		asNobody(t)
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	_, err := sqlbilling.Open(t.Context(), "sqlite:"+filepath.Join(dir, "radius.db"), sqlbilling.Options{})
	if err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Error(err)
	}
}

// asNobody runs the test once more, alone and as a user without rights. The program may be in a folder
// that is closed to that user, and is reached as an open file.
func asNobody(t *testing.T) {
	t.Helper()
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.ExtraFiles = []*os.File{program}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
