package radpool

import (
	"strconv"
	"time"
)

// Drop is the reason for which a job was not run. The zero value, DropNone,
// means that it was not dropped.
type Drop uint8

const (
	// DropNone means that the job was not dropped.
	DropNone Drop = iota
	// DropRefused means that the queue was full, and nothing in it had to give way
	// to the newcomer.
	DropRefused
	// DropEvicted means that the queue was full, and the job gave way to a more
	// urgent one, to one of who has fewer waiting, or, where the newest run first, to
	// a newer one.
	DropEvicted
	// DropExpired means that nobody waits for the answer any more.
	DropExpired
	// DropClosed means that the pool was closed before a worker took the job.
	DropClosed
)

// String returns the reason as logs and metrics show it: "none", "refused",
// "evicted", "expired" or "closed".
func (d Drop) String() string {
	switch d {
	case DropNone:
		return "none"
	case DropRefused:
		return "refused"
	case DropEvicted:
		return "evicted"
	case DropExpired:
		return "expired"
	case DropClosed:
		return "closed"
	}
	return "Drop(" + strconv.Itoa(int(d)) + ")"
}

// Item is one job as a [Queue] gives it back, to be run or dropped. It is the
// caller's: the queue keeps nothing of it.
type Item[T any] struct {
	Value T
	Class Class
	// Waited is the time that the job spent in the queue.
	Waited time.Duration
	// Why is DropNone if the job is to be run, and otherwise the reason for
	// which it is not.
	Why Drop
}
