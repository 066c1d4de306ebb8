package main

import (
	"sync"
	"sync/atomic"
)

// together calls f for 0 to n-1, on most goroutines at once at the most, of which the
// caller's is one, and returns when all calls have. f must not panic.
func together(n, most int, f func(i int)) {
	var next atomic.Int64
	run := func() {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			f(int(i))
		}
	}
	var others sync.WaitGroup
	for range min(n, most) - 1 {
		others.Go(run)
	}
	run()
	others.Wait()
}
