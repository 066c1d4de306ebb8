package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeFile writes a file into a directory that goes with the test.
func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The attributes of -dictionary are known, to the server and to all commands, and an
// encrypted one is in the reply without being shown.
func TestDictionary(t *testing.T) {
	file, dir := demoDB(t), t.TempDir()
	writeFile(t, dir, "dictionary", "$INCLUDE acme\n")
	writeFile(t, dir, "acme", "VENDOR Acme 64999\nBEGIN-VENDOR Acme\nATTRIBUTE Acme-Speed 1 integer\nVALUE Acme-Speed Fast 9\n"+
		"ATTRIBUTE Acme-Key 2 octets encrypt=2\nATTRIBUTE Acme-Tree 3 tlv\nEND-VENDOR Acme\n")
	db := openDB(t, file)
	db.MustExec("INSERT INTO radreply (username, attribute, op, value) VALUES ('user1', 'Acme-Speed', '=', 'fast'), ('user1', 'Acme-Key', '=', 'swordfish'), ('user1', 'Tunnel-Password:1', '=', 'swordfish')")
	explain := []string{"explain", "-db", "sqlite:" + file, "user1"}
	status, out, log := runCommand(t, explain...)
	if status != 1 || !strings.Contains(out, `"Acme-Speed": unknown attribute`) {
		t.Errorf("without a dictionary: status %d, %q, %q", status, out, log)
	}
	for _, where := range []string{dir, filepath.Join(dir, "acme")} {
		status, out, log = runCommand(t, append(explain, "-dictionary", where)...)
		for _, want := range []string{"Acme-Speed = Fast\n", "Acme-Key = ***\n", "Tunnel-Password:1 = ***\n"} {
			if status != 0 || !strings.Contains(out, want) || log != "" {
				t.Errorf("%s: status %d, %q, %q; want %q", where, status, out, log, want)
			}
		}
		if strings.Contains(out, "swordfish") {
			t.Errorf("what is encrypted is shown: %q", out)
		}
	}
	status, out, log = runCommand(t, "check", "-db", "sqlite:"+file, "-dictionary", dir)
	if status != 0 || !strings.Contains(out, ": 0 to fix") {
		t.Errorf("check: status %d, %q, %q", status, out, log)
	}
	// Beside a radiusd.conf it is read without being asked for.
	writeFile(t, dir, "radiusd.conf", "max_request_time = 9\n")
	o := &options{conf: filepath.Join(dir, "radiusd.conf")}
	if root, name, err := o.dictionaryFile(); root == nil || !strings.HasSuffix(name, "/dictionary") || err != nil {
		t.Errorf("beside radiusd.conf: %v, %q, %v", root, name, err)
	}
	writeFile(t, dir, "acme", "\nATTRIBUTE Acme-Speed 1\n")
	status, out, log = runCommand(t, append(explain, "-dictionary", dir)...)
	if want := dir + "/acme:2: ATTRIBUTE wants at least 3 words after it"; status != 1 || out != "" || !strings.Contains(log, want) {
		t.Errorf("a mistake: status %d, %q, %q; want %q", status, out, log, want)
	}
	status, _, log = runCommand(t, append(explain, "-dictionary", filepath.Join(dir, "none"))...)
	if status != 1 || !strings.Contains(log, "-dictionary "+filepath.Join(dir, "none")) {
		t.Errorf("none: status %d, %q", status, log)
	}
}
