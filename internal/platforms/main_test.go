package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module example.com/m\n\ngo 1.26\n",
		"m.go":             "package m\n\nimport \"strconv\"\n\nconst N = 1 << 31\n\nfunc F(i int) string { return strconv.Itoa(i) + onAll() }\n",
		"m_windows.go":     "package m\n\nfunc onAll() int { return 1 }\n",
		"m_other.go":       "//go:build !windows\n\npackage m\n\nfunc onAll() string { return \"\" }\n",
		"m_linux_test.go":  "package m_test\n\nimport \"example.com/m\"\n\nvar _ = m.F(m.N)\n",
		"m_darwin_test.go": "package m_test\n\nimport \"example.com/m\"\n\nvar _ = m.G\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for platform, want := range map[string]string{
		"linux/amd64":   "",
		"linux/386":     "m_linux_test.go:5:13: cannot use m.N",
		"windows/amd64": "m.go:7:31: invalid operation",
		"darwin/arm64":  "m_darwin_test.go:5:11: undefined: m.G",
		"plan/10":       "unsupported GOOS/GOARCH",
		"windows":       "is no platform",
	} {
		err := check(dir, platform)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", platform, err, want)
		}
	}
	if err := check(t.TempDir(), "linux/amd64"); err == nil {
		t.Error("a directory without packages is right")
	}
}
