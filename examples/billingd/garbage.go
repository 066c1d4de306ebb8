package main

import (
	"os"
	"runtime"
)

// garbage is how much more memory than its own rules allow the garbage collector
// may let pile up, in octets. What lives on the heap of a server like this one is
// little, so that it would run dozens of times a second under load.
const garbage = 64 << 20

// allowGarbage makes the collector run less often, unless GOGC or GOMEMLIMIT is
// set. What it returns is never written to, so that the system gives no memory for
// it; the collector counts it as alive until keep is called.
func allowGarbage() (keep func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	ballast := make([]byte, garbage)
	return func() { runtime.KeepAlive(ballast) }
}
