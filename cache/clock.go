package cache

import (
	"sync/atomic"
	"time"
)

// clock turns times into nanoseconds since the first time that it was shown, which
// keeps the monotonic reading: a step of the wall clock expires nothing.
type clock struct {
	epoch atomic.Pointer[time.Time]
}

// ticksLimit leaves room for the additions made to ticks.
const ticksLimit = 1 << 62

func (c *clock) ticks(now time.Time) int64 {
	epoch := c.epoch.Load()
	if epoch == nil {
		first := now
		c.epoch.CompareAndSwap(nil, &first)
		epoch = c.epoch.Load()
	}
	return min(int64(now.Sub(*epoch)), ticksLimit)
}

// time is the inverse of ticks. There must have been a call of ticks before.
func (c *clock) time(ticks int64) time.Time {
	return c.epoch.Load().Add(time.Duration(ticks))
}
