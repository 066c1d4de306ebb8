package dict

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// timeLayouts are the ways to write a date, after runs of spaces became one.
// FreeRADIUS reads the first six; ISO 8601 is what daloRADIUS once wrote.
var timeLayouts = []string{
	"2 Jan 2006", "2 Jan 2006 15:04:05", "2 Jan 2006 15:04",
	"Jan 2 2006", "Jan 2 2006 15:04:05", "Jan 2 2006 15:04",
	"2 January 2006", "2 January 2006 15:04:05", "2 January 2006 15:04",
	"January 2 2006", "January 2 2006 15:04:05", "January 2 2006 15:04",
	"Jan 2 2006 15:04:05 MST", "Mon Jan 2 15:04:05 2006", "Mon Jan 2 15:04:05 MST 2006",
	"2006-01-02", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00",
}

// ParseTime reads a date as Expiration has it: "10 Jul 2024", "Jul 10 2024", each
// with or without "15:04:05" or "15:04"; seconds since 1970; or ISO 8601. A date
// alone is its first moment. Commas count as spaces, and names of months are
// read in any case. loc is the time zone where the text names none; nil is
// time.Local.
func ParseTime(text string, loc *time.Location) (time.Time, error) {
	if loc == nil {
		loc = time.Local
	}
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, ",", " ")), " ")
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		if n > 1<<40 {
			return time.Time{}, errors.New("too far in the future")
		}
		return time.Unix(int64(n), 0), nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, text, loc); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New(`not a date, as "10 Jul 2024" or "10 Jul 2024 15:04:05"`)
}
