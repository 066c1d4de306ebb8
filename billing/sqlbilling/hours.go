package sqlbilling

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	dayMinutes  = 24 * 60
	weekMinutes = 7 * dayMinutes
)

// hours are the minutes of a week in which a login is allowed, from Sunday on.
type hours [weekMinutes]bool

var dayNames = []string{"su", "mo", "tu", "we", "th", "fr", "sa"}

var errHours = errors.New(`not hours, as "Wk0900-1800,Sa,Su1000-1200" or "Al"`)

// parseHours reads a Login-Time: entries separated by commas or bars, each of days
// and, if not all day, the first and the last minute as hhmm-hhmm. Days are Mo to
// Su, ranges of them (Mo-Fr), Wk for Monday to Friday, Al or Any for all. Hours
// that end before they begin go over midnight, on the same weekday.
func parseHours(s string) (*hours, error) {
	h := new(hours)
	entries := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '|' })
	for _, entry := range entries {
		entry = strings.ToLower(strings.TrimSpace(entry))
		cut := strings.IndexAny(entry, "0123456789")
		if cut < 0 {
			cut = len(entry)
		}
		days, err := parseDays(strings.TrimSpace(entry[:cut]))
		if err != nil {
			return nil, err
		}
		first, last := 0, dayMinutes-1
		if cut < len(entry) {
			if first, last, err = parseSpan(entry[cut:]); err != nil {
				return nil, err
			}
		}
		for d, on := range days {
			for m := first; on; m = (m + 1) % dayMinutes {
				h[d*dayMinutes+m] = true
				if m == last {
					break
				}
			}
		}
	}
	if len(entries) == 0 {
		return nil, errHours
	}
	return h, nil
}

// parseDays reads day names without separators, with ranges.
func parseDays(s string) (days [7]bool, err error) {
	if s == "" {
		return days, errHours
	}
	last := -1
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "any"); ok {
			s, days = rest, [7]bool{true, true, true, true, true, true, true}
			continue
		}
		isRange := false
		if rest, ok := strings.CutPrefix(s, "-"); ok {
			s, isRange = rest, true
		}
		if len(s) < 2 || isRange && last < 0 {
			return days, errHours
		}
		name := s[:2]
		s = s[2:]
		switch day := slices.Index(dayNames, name); {
		case day >= 0 && isRange:
			for d := last; d != day; d = (d + 1) % 7 {
				days[d] = true
			}
			days[day], last = true, -1
		case day >= 0:
			days[day], last = true, day
		case isRange:
			return days, errHours
		case name == "wk":
			days[1], days[2], days[3], days[4], days[5] = true, true, true, true, true
		case name == "al":
			days = [7]bool{true, true, true, true, true, true, true}
		default:
			return days, errHours
		}
	}
	return days, nil
}

// parseSpan reads "hhmm-hhmm" as minutes of the day, both included; 2400 is the
// end of the day.
func parseSpan(s string) (first, last int, err error) {
	a, b, ok := strings.Cut(s, "-")
	if !ok {
		return 0, 0, errHours
	}
	if first, err = parseMinute(a); err != nil {
		return 0, 0, err
	}
	if last, err = parseMinute(b); err != nil {
		return 0, 0, err
	}
	return min(first, dayMinutes-1), min(last, dayMinutes-1), nil
}

func parseMinute(s string) (int, error) {
	s = strings.TrimSpace(s)
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || len(s) != 4 || n > 2400 || n%100 > 59 {
		return 0, errHours
	}
	return int(n/100*60 + n%100), nil
}

// at reports whether t, in its own time zone, is allowed, and when that ends; the
// zero Time: never.
func (h *hours) at(t time.Time) (in bool, until time.Time) {
	minute := int(t.Weekday())*dayMinutes + t.Hour()*60 + t.Minute()
	if !h[minute] {
		return false, time.Time{}
	}
	for n := 1; n < weekMinutes; n++ {
		if !h[(minute+n)%weekMinutes] {
			y, mo, d := t.Date()
			// By the clock on the wall, so that a change of summer time is right.
			return true, time.Date(y, mo, d, t.Hour(), t.Minute()+n, 0, 0, t.Location())
		}
	}
	return true, time.Time{}
}
