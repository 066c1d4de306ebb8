package group

import "time"

// EverySecond lets one line a second into the log: what fails once mostly fails a
// thousand times, and Stats counts those.
type EverySecond struct{ next time.Time }

// Allows reports whether a line may be logged now.
func (e *EverySecond) Allows(now time.Time) bool {
	if now.Before(e.next) {
		return false
	}
	e.next = now.Add(time.Second)
	return true
}
