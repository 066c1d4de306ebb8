package sqlbilling

import "time"

// everySecond lets one line a second into the log: what fails once mostly fails a
// thousand times, and Stats counts those.
type everySecond struct{ next time.Time }

func (e *everySecond) allows(now time.Time) bool {
	if now.Before(e.next) {
		return false
	}
	e.next = now.Add(time.Second)
	return true
}
