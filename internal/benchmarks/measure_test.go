package benchmarks

import (
	"runtime"
	"testing"
)

// measure is called before the loop of a benchmark, and what it returns after it.
// It reports two figures that are steadier than what package testing reports:
//
// cpu-ns/op is the processor time of an operation, garbage collection and whatever
// else the process did meanwhile included. Where several goroutines work on one
// operation it is what the operation costs the machine, and it stays the same
// where others use the machine too.
//
// mallocs/op is allocs/op with its fraction, and counts what is still in progress
// when the loop ends.
func measure(b *testing.B) (report func()) {
	allocations, cpu := mallocs(), cpuTime(b)
	return func() {
		n := float64(b.N)
		b.ReportMetric(float64(cpuTime(b)-cpu)/n, "cpu-ns/op")
		b.ReportMetric(float64(mallocs()-allocations)/n, "mallocs/op")
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
