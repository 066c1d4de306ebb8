package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the program prints is what docs/overload.md says, and its plots are those in
// docs. Those in docs are of amd64: where
// floating point rounds otherwise, the course is another one.
func TestOverload(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr strings.Builder
	if status := run([]string{"-svg", dir}, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "overload.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), stdout.String()) {
		t.Errorf("docs/overload.md does not have what go run ./examples/overload -svg docs prints now:\n%s", &stdout)
	}
	for _, name := range []string{"overload-goodput.svg", "overload-recovery.svg"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(filepath.Join("..", "..", "docs", name)); err != nil || string(got) != string(want) {
			t.Errorf("docs/%s is not what is drawn now: %v", name, err)
		}
		d := xml.NewDecoder(strings.NewReader(string(got)))
		for err = nil; err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
