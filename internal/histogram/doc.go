// Package histogram counts durations in buckets whose width is a fixed share of their value, so that a percentile of a
// microsecond and one of a minute are right to the same 0.8 %, in memory that does not grow with their number.
//
//	var h histogram.Histogram
//	h.Record(1200 * time.Microsecond)
//	p99 := h.Quantile(0.99)
//
// Each power of two is 128 buckets of equal width: a linear scale within a logarithmic one.
package histogram
