package radpool

import (
	"sync/atomic"
	"time"
)

const (
	// watchInterval is how often readers that run handlers are looked after, and
	// heldUp how long a handler may hold a reader up before another takes over.
	// Nobody waits for longer than the two together behind a handler that is not
	// their own.
	watchInterval = 5 * time.Millisecond
	heldUp        = 10 * time.Millisecond

	// watchIdle is after how many looks at which nobody ran anything the
	// watchdog sleeps: an idle server has no timer that ticks this fast.
	watchIdle = 20
)

// watchdog sees to it that a handler which does not come back holds up nobody
// but its own request.
type watchdog struct {
	asleep atomic.Bool
	kick   chan struct{} // holds one token
	stop   chan struct{}
}

// wake has the watchdog look, for a reader that is about to run handlers.
func (d *watchdog) wake() {
	if d.asleep.Load() && d.asleep.CompareAndSwap(true, false) {
		select {
		case d.kick <- struct{}{}:
		default:
		}
	}
}

// watch is the watchdog's goroutine.
func (e *engine) watch() {
	d := &e.watchdog
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for quiet := 0; ; {
		select {
		case <-d.stop:
			return
		case now := <-tick.C:
			quiet++
			if e.lookAfterReaders(now) {
				quiet = 0
			}
		}
		if quiet < watchIdle {
			continue
		}
		quiet = 0
		tick.Stop()
		d.asleep.Store(true)
		if e.lookAfterReaders(time.Now()) && d.asleep.CompareAndSwap(true, false) {
			// A reader has begun since the last look, and did not see it asleep.
			tick.Reset(watchInterval)
			continue
		}
		select {
		case <-d.stop:
			return
		case <-d.kick:
		}
		tick.Reset(watchInterval)
	}
}

// lookAfterReaders deposes those that are held up, and reports whether any ran a
// handler.
func (e *engine) lookAfterReaders(now time.Time) (busy bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.listeners {
		r := l.reader.Load()
		if r == nil {
			continue
		}
		since := r.since.Load()
		if since <= 0 { // not in a handler
			busy = busy || r.led.Swap(false)
			continue
		}
		busy = true
		if now.Sub(e.epoch)-time.Duration(since) >= heldUp {
			e.depose(r, since, now)
		}
	}
	return busy
}

// depose has another reader take over from one that the handler which began at
// since holds up. What the old one has answered is sent, and what it has queued is
// run by others; when its handler comes back, it ends that request and itself.
// Called with the lock held.
func (e *engine) depose(r *reader, since int64, now time.Time) {
	if r.stopped() { // it will read no more: there is nothing to take over but what it has left
		r.out.send()
		e.pool.rouse()
		return
	}
	if !r.since.CompareAndSwap(since, deposed) {
		return
	}
	e.heldUp.Add(1)
	r.mode.deposed(now)
	r.out.send() // before another reads: a reply must not meet the next request of its Identifier
	e.startReader(r.listener, r.in)
	e.pool.rouse()
}
