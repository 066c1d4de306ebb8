package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/radpool/radpool/internal/decimal"
)

// count writes a number with a comma after each three digits.
func count(n uint64) string { return decimal.Grouped(strconv.FormatUint(n, 10)) }

// rounded writes the whole number that is next to v.
func rounded(v float64) string { return count(uint64(v + 0.5)) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func inMS(d time.Duration) string { return fmt.Sprintf("%.3f", ms(d)) }

// milliseconds writes a duration with three digits that count.
func milliseconds(d time.Duration) string {
	switch v := ms(d); {
	case v < 10:
		return fmt.Sprintf("%.3f ms", v)
	case v < 1000:
		return fmt.Sprintf("%.1f ms", v)
	default:
		return rounded(v) + " ms"
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
