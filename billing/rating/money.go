package rating

import (
	"fmt"
	"math"
)

// Money is an amount in millionths of a unit of currency.
type Money int64

// MaxMoney is the most that one session may cost, a thousand million units: a price
// beyond it is cut, so that sums of many stay far within 64 bits.
const MaxMoney Money = 1e15

// String writes m in units, with as many decimals as it has: "12.5", "-0.000001".
func (m Money) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	units, rest := n/1e6, n%1e6
	if rest == 0 {
		return fmt.Sprintf("%s%d", sign, units)
	}
	s := fmt.Sprintf("%s%d.%06d", sign, units, rest)
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	return s
}

// Add is a + b, cut to what 64 bits hold.
func Add(a, b Money) Money {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
