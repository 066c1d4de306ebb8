//go:build unix

package benchmarks

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time that the process has used, in user and system mode.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
