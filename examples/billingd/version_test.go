package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	system := ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	for want, info := range map[string]*debug.BuildInfo{
		"billingd (unknown)": nil,
		"billingd (devel)":   {},
		"billingd v1.2.3":    {Main: debug.Module{Version: "v1.2.3"}},
		"billingd v1.2.3, revision 0123abc of 2026-08-01T10:00:00Z, changed since": {Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.time", Value: "2026-08-01T10:00:00Z"}, {Key: "vcs.modified", Value: "true"},
		}},
	} {
		if got := versionOf(info); got != want+system {
			t.Errorf("got %q, want %q", got, want+system)
		}
	}
	if status, out, log := runCommand(t, "version"); status != 0 || !strings.HasSuffix(out, system+"\n") || log != "" {
		t.Errorf("status %d, %q, %q", status, out, log)
	}
	if status, _, log := runCommand(t, "version", "-x"); status != 2 || log == "" {
		t.Errorf("status %d, %q", status, log)
	}
}
