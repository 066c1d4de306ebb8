// Package need is for tests that use something which a machine may not have: a
// program such as radclient, or a database server. Where it is missing the test
// is skipped, with a message that names it. Where the environment variable CI is
// "true" it fails instead, since CI installs what the tests need: a test that
// is skipped there proves nothing, and nobody would notice.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Command returns the path of a program, or skips the test. hint says how to
// get it: "apt-get install freeradius-utils".
func Command(tb testing.TB, name, hint string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(tb, name+" ("+hint+")")
	}
	return path
}

// Missing skips the test because of what the machine lacks, or fails it in CI.
func Missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("this test needs %s, and CI must have it", what)
	}
	tb.Skipf("this test needs %s", what)
}
