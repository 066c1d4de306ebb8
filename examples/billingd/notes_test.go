package main

import (
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// Serving warns of what may be missed; what is harmless is for who looks for it.
func TestNotesInLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	writeConf(t, file, "hostname_lookups = no\nproxy_requests = yes\n")
	lost := regexp.MustCompile(`(?m)^.*\bwarn\b.*passed over.*:2: proxy_requests is passed over`)
	harmless := regexp.MustCompile(`(?m)^.*\bdebug\b.*passed over.*:1: hostname_lookups is passed over`)
	for level, shown := range map[string]bool{"info": false, "debug": true} {
		b := start(t, "-db", "memory:1", "-conf", file, "-log-level", level)
		if status := b.end(syscall.SIGTERM); status != 0 {
			t.Errorf("exit status %d", status)
		}
		if log := b.log.String(); !lost.MatchString(log) || harmless.MatchString(log) != shown {
			t.Errorf("%s:\n%s", level, log)
		}
	}
}
