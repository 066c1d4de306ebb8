package radpool

import (
	"sync"
	"time"
)

// A reader runs handlers itself while they are quick, since handing a request to
// another thread costs more than a quick handler does; while they are slow it
// hands them over, since nobody reads while it runs one. readerMode decides which,
// from what it is told of how long they took. Its rules:
//
//   - A slow run now and then is allowed: a thread that loses its processor for a
//     moment looks the same. There are slowBurst of them to spend, and one
//     more every slowRefill.
//   - When they are spent, or a handler has held the reader up until it was
//     deposed, requests are handed over for a while: firstBackoff, or firstDeposed,
//     and twice as long as the last time if that is not long ago, up to
//     maxBackoff.
//   - Quick for as long as the last backoff (and at least calm), the next one is
//     the first again.
//
// It is told the time and keeps no clock. The lock is for the moment in which one
// reader follows another.
type readerMode struct {
	mu      sync.Mutex
	spent   time.Duration // of slowBurst*slowRefill
	at      time.Time     // when spent was so
	until   time.Time     // requests are handed over until then
	backoff time.Duration // the last one
}

const (
	slowRun      = time.Millisecond
	slowBurst    = 3
	slowRefill   = 50 * time.Millisecond
	firstBackoff = 5 * time.Millisecond
	firstDeposed = 50 * time.Millisecond
	maxBackoff   = 5 * time.Second
	calm         = 100 * time.Millisecond
)

// runs reports whether the reader may run handlers now.
func (m *readerMode) runs(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !now.Before(m.until)
}

// ran tells how long one run of handlers took, and reports whether the reader
// may go on.
func (m *readerMode) ran(now time.Time, took time.Duration) bool {
	if took < slowRun {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent = max(m.spent-now.Sub(m.at), 0) + slowRefill
	m.at = now
	if m.spent <= slowBurst*slowRefill {
		return true
	}
	m.handOver(now, firstBackoff)
	return false
}

// deposed tells that a handler has held the reader up for too long.
func (m *readerMode) deposed(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handOver(now, firstDeposed)
}

// handOver begins a backoff. Called with the lock held.
func (m *readerMode) handOver(now time.Time, first time.Duration) {
	if now.Sub(m.until) >= max(m.backoff, calm) {
		m.backoff = 0
	}
	m.backoff = min(max(2*m.backoff, first), maxBackoff)
	m.until = now.Add(m.backoff)
}
