package rating

import (
	"errors"
	"fmt"
	"time"
)

// Prices are what usage costs. None is negative.
type Prices struct {
	InputMB  Money // a megabyte from the subscriber (Acct-Input-Octets)
	OutputMB Money // a megabyte to the subscriber (Acct-Output-Octets)
	Hour     Money // an hour of Acct-Session-Time
}

// A Tariff is what a subscriber pays. The zero Tariff costs nothing.
type Tariff struct {
	Prices // outside of all Intervals

	// Day is the price of a day, by the calendar of Location, on which the
	// subscriber was online. It is for the caller to charge each day once: see Days.
	Day Money

	// MB is how many octets a megabyte has. 0: 1,048,576.
	MB uint64

	// Location is the time zone of days, months and Intervals. nil: UTC.
	Location *time.Location

	// Intervals are parts of the day with prices of their own. Of several that
	// hold at a moment the first counts.
	Intervals []Interval

	// Quota is how many octets of a calendar month, both directions, are at full
	// speed. 0: all.
	Quota uint64
}

// An Interval is a part of some days, by the clock on the wall: where that is set
// back an hour may be in it twice, and where it is set forward an hour is missing.
type Interval struct {
	// Days holds 1<<time.Weekday for each day on which the interval begins. 0: all.
	Days uint8

	// From and To are minutes after midnight, 0 to 1439; To is not in it. Where To
	// is not after From it ends on the next day.
	From, To int

	Prices
}

// Bounds of a Tariff.
const (
	MaxPrice     Money = 1e12 // of a megabyte, an hour, a day: a million units
	MaxIntervals       = 64
	maxMB              = 1 << 40
	defaultMB          = 1 << 20
)

// Validate says what is wrong with t, naming the field.
func (t *Tariff) Validate() error {
	if err := t.Prices.validate(); err != nil {
		return err
	}
	switch {
	case t.Day < 0 || t.Day > MaxPrice:
		return fmt.Errorf("rating: Day is %v, must be 0 to %v", t.Day, MaxPrice)
	case t.MB > maxMB:
		return fmt.Errorf("rating: MB is %d, must be at most %d", t.MB, uint64(maxMB))
	case len(t.Intervals) > MaxIntervals:
		return fmt.Errorf("rating: %d Intervals, the most is %d", len(t.Intervals), MaxIntervals)
	}
	for i := range t.Intervals {
		iv := &t.Intervals[i]
		if iv.From < 0 || iv.From >= 24*60 || iv.To < 0 || iv.To >= 24*60 {
			return fmt.Errorf("rating: interval %d: From and To must be 0 to 1439 minutes", i+1)
		}
		if iv.Days > 127 {
			return fmt.Errorf("rating: interval %d: Days is %d, must be 0 to 127", i+1, iv.Days)
		}
		if err := iv.Prices.validate(); err != nil {
			return fmt.Errorf("interval %d: %w", i+1, err)
		}
	}
	return nil
}

var errPrice = errors.New("rating: a price is negative, or beyond the most that is possible")

func (p Prices) validate() error {
	for _, m := range [...]Money{p.InputMB, p.OutputMB, p.Hour} {
		if m < 0 || m > MaxPrice {
			return errPrice
		}
	}
	return nil
}

// Free reports whether nothing of t costs anything.
func (t *Tariff) Free() bool {
	if t.Prices != (Prices{}) || t.Day != 0 {
		return false
	}
	for i := range t.Intervals {
		if t.Intervals[i].Prices != (Prices{}) {
			return false
		}
	}
	return true
}

// location is the time zone to use.
func (t *Tariff) location() *time.Location {
	if t.Location == nil {
		return time.UTC
	}
	return t.Location
}

// holds reports whether iv holds at a minute of a weekday.
func (iv *Interval) holds(weekday, minute int) bool {
	on := func(day int) bool { return iv.Days == 0 || iv.Days>>day&1 != 0 }
	if iv.From < iv.To {
		return on(weekday) && iv.From <= minute && minute < iv.To
	}
	return on(weekday) && minute >= iv.From || on((weekday+6)%7) && minute < iv.To
}

const day = 24 * 60 * 60

// at is which interval holds at a second since 1970, or -1, and until when that is
// certain: no boundary, no midnight and no change of the clock is before that.
func (t *Tariff) at(second int64) (index int, until int64) {
	now := time.Unix(second, 0).In(t.location())
	_, offset := now.Zone()
	_, zoneEnd := now.ZoneBounds()
	local := second + int64(offset)
	date := floor(local, day)
	in := local - date*day // seconds after midnight
	weekday := int(((date+4)%7 + 7) % 7)
	index, next := -1, int64(day)
	for i := range t.Intervals {
		iv := &t.Intervals[i]
		if index < 0 && iv.holds(weekday, int(in/60)) {
			index = i
		}
		for _, minute := range [...]int{iv.From, iv.To} {
			if b := int64(minute) * 60; b > in {
				next = min(next, b)
			}
		}
	}
	until = second + next - in
	if !zoneEnd.IsZero() {
		until = min(until, zoneEnd.Unix())
	}
	return index, until
}

// Interval is the index of the interval that holds at a moment, or -1, and when
// another one begins to hold; the zero Time when none does within a week.
func (t *Tariff) Interval(now time.Time) (index int, until time.Time) {
	index, next := t.at(now.Unix())
	if len(t.Intervals) == 0 {
		return index, time.Time{}
	}
	for next < now.Unix()+8*day {
		i, after := t.at(next)
		if i != index {
			return index, time.Unix(next, 0)
		}
		next = after
	}
	return index, time.Time{}
}

// pricesOf are the prices of an interval; of -1 those outside of all.
func (t *Tariff) pricesOf(index int) *Prices {
	if index < 0 {
		return &t.Prices
	}
	return &t.Intervals[index].Prices
}

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
