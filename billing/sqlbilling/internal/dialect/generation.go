package dialect

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Generation is what connections belong to, so that all of them can be replaced: those
// of an earlier one are not used again. The zero value is the first. Any number of
// goroutines may use it at once.
type Generation struct {
	now atomic.Uint64

	mu    sync.Mutex
	since time.Time // when it began; guarded by mu
}

// renewEvery bounds how often connections are replaced: where that is of no use, it would
// be all that is done.
const renewEvery = time.Second

// Now is which one it is.
func (g *Generation) Now() uint64 { return g.now.Load() }

// Renew begins the next one, unless this one is newer than a second.
func (g *Generation) Renew(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.since) >= renewEvery {
		g.since = now
		g.now.Add(1)
	}
}
