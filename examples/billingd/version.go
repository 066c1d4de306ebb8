package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// versionCommand prints which billingd it is, from what the build has left in it.
func versionCommand(_ context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		complain(stderr, fmt.Errorf("version: unexpected argument %q", args[0]))
		return 2
	}
	info, _ := debug.ReadBuildInfo()
	if _, err := fmt.Fprintln(stdout, versionOf(info)); err != nil {
		complain(stderr, fmt.Errorf("version: %w", err))
		return 1
	}
	return 0
}

// versionOf is the version of the module, the revision that it was built of, and with which
// Go. info may be nil: there is none in what was built without modules.
func versionOf(info *debug.BuildInfo) string {
	version, revision, at, changed := "(unknown)", "", "", ""
	if info != nil {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.time":
				at = " of " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ", changed since"
			}
		}
	}
	if version == "" {
		version = "(devel)"
	}
	if revision != "" {
		revision = ", revision " + revision + at + changed
	}
	return fmt.Sprintf("billingd %s%s, %s %s/%s", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
