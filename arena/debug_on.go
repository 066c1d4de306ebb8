//go:build race || radpooldebug

package arena

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Debug tells whether released memory is poisoned and use after release is looked for: true under the race
// detector and with the build tag radpooldebug. It costs allocations, so tests of allocation budgets skip
// themselves when it is true.
const Debug = true

// quarantine is how many released arenas are kept aside before their memory is used again, and
// maxQuarantine how many are kept at most: every Get looks at all of them.
const (
	quarantine    = 8
	maxQuarantine = 32
)

// store keeps released arenas in quarantine. It is not a sync.Pool, which drops some at random under the
// race detector.
type store struct {
	mu   sync.Mutex
	dead []*Arena // oldest first; not the Arenas that were released, but what was theirs
}

// put takes from a all its memory, which it poisons. a itself is never handed out again, so that whoever
// kept it is found out at the next use.
func (s *store) put(a *Arena) {
	a.trace.record()
	d := &Arena{pool: a.pool, chunk: a.chunk, off: a.off, slabs: a.slabs, used: a.used, heap: a.heap}
	d.trace.callers.Store(a.trace.callers.Load())
	a.chunk, a.slabs, a.heap = nil, nil, watch[byte]{}
	a.off, a.lim, a.used = 0, 0, 0
	d.heap.poison(d.chunk[:d.off])
	for set := d.used; set != 0; set &= set - 1 {
		d.slabs[bits.TrailingZeros64(set)].poison()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = append(s.dead, d)
	if len(s.dead) > maxQuarantine {
		s.oldest().mustBeWhole()
	}
}

// oldest removes and returns the arena that was released first.
func (s *store) oldest() *Arena {
	d := s.dead[0]
	s.dead = slices.Delete(s.dead, 0, 1)
	return d
}

// take looks for damage in every arena of the quarantine, and returns the oldest when it has been there
// for long enough.
func (s *store) take() *Arena {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.dead, func(d *Arena) bool { return d.damage() != "" }); i >= 0 {
		d := s.dead[i]
		s.dead = slices.Delete(s.dead, i, i+1) // report it once
		d.mustBeWhole()
	}
	if len(s.dead) < quarantine {
		return nil
	}
	a := s.oldest()
	a.reset()
	a.heap = watch[byte]{}
	a.trace.callers.Store(nil)
	return a
}

func (a *Arena) mustBeWhole() {
	if what := a.damage(); what != "" {
		panic("arena: memory written to after Release: " + what + a.trace.String())
	}
}

// damage says which released memory is no longer as it was left, or "".
func (a *Arena) damage() string {
	if what := a.heap.damage(a.chunk[:a.off]); what != "" {
		return what
	}
	for set := a.used; set != 0; set &= set - 1 {
		if what := a.slabs[bits.TrailingZeros64(set)].damage(); what != "" {
			return what
		}
	}
	return ""
}

// watch remembers memory that must be poisoned at Release beside the block it did not fit.
type watch[T any] struct {
	extra   [][]T
	pattern *T // what each element is overwritten with
}

func (w *watch[T]) keep(s []T) { w.extra = append(w.extra, s) }

func (w *watch[T]) poison(s []T) {
	w.pattern = poisonOf[T]()
	for _, t := range append(w.extra, s) {
		overwrite(t, w.pattern)
	}
}

func (w *watch[T]) damage(s []T) string {
	for _, t := range append(w.extra, s) {
		if i := firstOther(t, w.pattern); i >= 0 {
			return fmt.Sprintf("element %d of %d of a %T", i, len(t), t)
		}
	}
	return ""
}

func (b *block[T]) poison()        { b.watch.poison(b.elems[:b.n]) }
func (b *block[T]) damage() string { return b.watch.damage(b.elems[:b.n]) }

// trace tells where an arena was released. It is atomic because a second Release may race with the first.
type trace struct{ callers atomic.Pointer[[]uintptr] }

func (t *trace) record() {
	callers := make([]uintptr, 8)
	callers = callers[:runtime.Callers(4, callers)] // the caller of Release is the first
	t.callers.Store(&callers)
}

func (t *trace) String() string {
	callers := t.callers.Load()
	if callers == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("; it was released at")
	frames := runtime.CallersFrames(*callers)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&b, "\n\t%s:%d", f.File, f.Line)
	}
	return b.String()
}
