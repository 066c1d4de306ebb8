package radpool

import (
	"context"
	"time"
)

// Shutdown ends the pool in order: it accepts no more jobs, runs those that
// wait (dropping the ones that expire), and returns when the last worker has
// ended. If ctx ends first, what still waits goes to Drop with DropClosed, as with
// Close, and Shutdown returns ctx.Err() once the jobs that are running have
// returned.
//
// After either returns, no goroutine of the pool is left and no function of
// PoolConfig is running.
//
// Shutdown and Close may be called more than once, and at once: each waits for
// the end. Neither may be called from Run or another of the pool's functions,
// since it would wait for itself.
func (p *Pool[T]) Shutdown(ctx context.Context) error {
	p.stop(false)
	select {
	case <-p.done:
		p.wg.Wait()
		return nil
	case <-ctx.Done():
	}
	p.stop(true)
	<-p.done
	p.wg.Wait()
	return ctx.Err()
}

// Close ends the pool at once: it accepts no more jobs, gives those that wait
// to Drop with DropClosed, and returns when the jobs that are running have
// returned and the last worker has ended. Its error is always nil.
func (p *Pool[T]) Close() error {
	p.stop(true)
	<-p.done
	p.wg.Wait()
	return nil
}

// stop begins the end. Workers end when they find nothing more to do; those
// that are idle are woken to find that out.
func (p *Pool[T]) stop(abandon bool) {
	p.mu.Lock()
	p.closing = true
	p.abandoned = p.abandoned || abandon
	idle := p.idle
	p.idle = nil
	for _, w := range idle {
		w.phase = phaseReleased
	}
	p.finish()
	p.mu.Unlock()
	for _, w := range idle {
		w.signal()
	}
	if abandon {
		p.dropWaiting()
	}
}

// dropWaiting gives all that waits to Drop, a few at a time.
func (p *Pool[T]) dropWaiting() {
	var some [submitBatch]Item[T]
	for {
		n := 0
		now := time.Now()
		p.mu.Lock()
		for n < len(some) {
			it, ok := p.queue.Pop(now)
			if !ok {
				break
			}
			if it.Why == DropNone {
				it.Why = DropClosed
			}
			p.countDrop(it.Class, it.Why)
			some[n] = it
			n++
		}
		p.dropping++
		p.mu.Unlock()
		p.dropAll(some[:n])
		if n == 0 {
			return
		}
	}
}

// drained reports whether there is nothing left to run. Called with the lock held.
func (p *Pool[T]) drained() bool {
	return p.closing && (p.abandoned || p.queue.Len() == 0)
}

// finish declares the pool ended if it is. Called with the lock held.
func (p *Pool[T]) finish() {
	if p.closing && p.live == 0 && p.dropping == 0 && p.queue.Len() == 0 && !p.finished {
		p.finished = true
		close(p.done)
	}
}
