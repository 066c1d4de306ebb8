package status

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/radpool/radpool/internal/decimal"
)

// brief writes a number as people read it: 12,345, 17, 3.2 or 0.04.
func brief(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v), a >= 100:
		return decimal.Grouped(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// seconds writes a time in the unit in which people think of it.
func seconds(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 1e-3:
		return brief(s*1e6) + " µs"
	case s < 1:
		return brief(s*1e3) + " ms"
	case s < 120:
		return brief(s) + " s"
	case s < 2*3600:
		return brief(math.Round(s/60)) + " min"
	case s < 48*3600:
		return brief(math.Round(s/3600)) + " h"
	}
	return brief(math.Round(s/86400)) + " days"
}

// octets writes a size.
func octets(n float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if math.Abs(n) < 1024 {
			return brief(n) + " " + unit
		}
		n /= 1024
	}
	return brief(n) + " TiB"
}

// datum is a value of the page: for machines as it is, for people in words.
func datum(v float64, words string) template.HTML {
	return template.HTML(fmt.Sprintf(`<data value="%s">%s</data>`, strconv.FormatFloat(v, 'f', -1, 64), words)) // digits and units
}

// The functions of the template.
var funcs = template.FuncMap{
	"count":   func(v any) template.HTML { n := number(v); return datum(n, brief(n)) },
	"seconds": func(v float64) template.HTML { return datum(v, seconds(v)) },
	"octets":  func(v any) template.HTML { n := number(v); return datum(n, octets(n)) },
	"figure": func(f Figure) template.HTML {
		switch f.Unit {
		case Seconds:
			return datum(f.Value, seconds(f.Value))
		case Octets:
			return datum(f.Value, octets(f.Value))
		}
		return datum(f.Value, brief(f.Value))
	},
	"bar":     bar,
	"workers": workersBar,
	"clock":   func(t time.Time) string { return t.Format("15:04:05") },
	"rfc3339": func(t time.Time) string { return t.Format(time.RFC3339) },
	"ago":     func(s *Snapshot) string { return seconds(math.Round(s.Time.Sub(s.Started).Seconds())) },
	"sum":     sumOf,
	"of":      func(s *Snapshot, names ...string) (list []Outcome) { return named(s, names) },
}

// number is a whole or broken number of the snapshot. Counts beyond 2^53 would lose
// their last digits, which nobody reads.
func number(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	}
	panic(fmt.Sprintf("status: %T is no number", v))
}

// named are the outcomes of those names.
func named(s *Snapshot, names []string) (list []Outcome) {
	for _, o := range s.Outcomes {
		if slices.Contains(names, o.Name) {
			list = append(list, o)
		}
	}
	return list
}

// sumOf is the count of the outcomes of those names.
func sumOf(s *Snapshot, names ...string) (n uint64) {
	for _, o := range named(s, names) {
		n += o.Count
	}
	return n
}
