package serving_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/examples/serving"
)

func TestRun(t *testing.T) {
	o := serving.Options{Name: "test", Auth: "127.0.0.1:0", Acct: "127.0.0.1:0", Secret: "testing123", Workers: 2}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it serves, and is told to end
	var out bytes.Buffer
	if err := serving.Run(ctx, o, billing.NewMemory(0), &out); err != nil || !strings.HasPrefix(out.String(), "test ready auth=127.0.0.1:") {
		t.Errorf("%v, printed %q", err, out.String())
	}
	for flag, wrong := range map[string]serving.Options{
		"-auth": {Auth: "nowhere", Acct: "127.0.0.1:0", Secret: "x"}, "-acct": {Auth: "127.0.0.1:0", Acct: "nowhere", Secret: "x"},
	} {
		if err := serving.Run(ctx, wrong, billing.NewMemory(0), &out); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for content, want := range map[string]string{"secret": "secret", "secret\r\nmore": "secret", " a b \n": " a b ", "\nhunter2": "", "": ""} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := serving.FirstLine(file)
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
	if got, err := serving.FirstLine(""); got != "" || err != nil {
		t.Errorf("no file: %q, %v", got, err)
	}
	if _, err := serving.TLS(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file without certificates: %v", err)
	}
}
