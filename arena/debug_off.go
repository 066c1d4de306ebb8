//go:build !race && !radpooldebug

package arena

import "sync"

// Debug tells whether released memory is poisoned and use after release is looked for: true under the race
// detector and with the build tag radpooldebug. It costs allocations, so tests of allocation budgets skip
// themselves when it is true.
const Debug = false

// store keeps the idle arenas.
type store struct{ pool sync.Pool }

func (s *store) put(a *Arena) {
	a.reset()
	a.dropStaleChunk()
	s.pool.Put(a)
}

func (s *store) take() *Arena {
	a, _ := s.pool.Get().(*Arena)
	return a
}

// watch, in debug mode, remembers memory that must be poisoned at Release beside the block.
type watch[T any] struct{}

func (watch[T]) keep([]T) {}

// trace, in debug mode, tells where an arena was released.
type trace struct{}

func (trace) String() string { return "" }

func (b *block[T]) poison()        {}
func (b *block[T]) damage() string { return "" }
