package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// The heap may grow by what is allowed, and only where nobody has said how the
// collector is to run.
func TestAllowGarbage(t *testing.T) {
	goal := func() uint64 {
		runtime.GC()
		s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "")
	keep := allowGarbage()
	if n := goal(); n < garbage {
		t.Errorf("the heap may grow to %d octets, want %d at least", n, garbage)
	}
	keep()
	t.Setenv("GOGC", "100")
	keep = allowGarbage()
	if n := goal(); n >= garbage {
		t.Errorf("with GOGC the heap may grow to %d octets", n)
	}
	keep()
}
