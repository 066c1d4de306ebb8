package plot

import (
	"fmt"
	"math"
)

// scale maps values to pixels.
type scale struct {
	log       bool
	low, high float64 // the values at the ends
	from, to  float64 // their pixels
}

// newScale returns a scale on which all the values fit, whose ends are ticks.
func newScale(a Axis, values []float64, from, to float64) (scale, error) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return scale{}, fmt.Errorf("plot: axis %q: %v is not finite", a.Label, v)
		}
		if a.Log && v <= 0 {
			return scale{}, fmt.Errorf("plot: logarithmic axis %q: %v is not more than 0", a.Label, v)
		}
		low, high = min(low, v), max(high, v)
	}
	s := scale{log: a.Log, from: from, to: to}
	if a.Log {
		s.low, s.high = power(math.Floor(math.Log10(low))), power(math.Ceil(math.Log10(high)))
		if s.low == s.high {
			s.high *= 10
		}
		return s, nil
	}
	low, high = min(low, a.Low, 0), max(high, a.High, 0)
	if low == high {
		high = 1
	}
	step := niceStep(high - low)
	s.low, s.high = step*math.Floor(low/step), step*math.Ceil(high/step)
	return s, nil
}

func power(exponent float64) float64 { return math.Pow(10, exponent) }

// niceStep is 1, 2 or 5 times a power of ten, at most seven of which cover span.
func niceStep(span float64) float64 {
	unit := power(math.Floor(math.Log10(span / 7)))
	for _, k := range []float64{1, 2, 5} {
		if span/(k*unit) <= 7 {
			return k * unit
		}
	}
	return 10 * unit
}

func (s scale) at(v float64) float64 {
	share := (v - s.low) / (s.high - s.low)
	if s.log {
		share = math.Log10(v/s.low) / math.Log10(s.high/s.low)
	}
	return s.from + share*(s.to-s.from)
}

// ticks returns the values to be marked, in order, both ends among them.
func (s scale) ticks() []float64 {
	var ticks []float64
	if s.log {
		first := math.Round(math.Log10(s.low))
		for e := first; e <= math.Round(math.Log10(s.high)); e++ {
			ticks = append(ticks, power(e))
		}
		return ticks
	}
	step := niceStep(s.high - s.low)
	for i := math.Round(s.low / step); i <= math.Round(s.high/step); i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}
