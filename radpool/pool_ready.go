package radpool

// What a storm leaves behind is worked off newest first, while new jobs go before it.
// But who is busy with it cannot take a new job before it is done, and where jobs take about
// the same time, workers that began together become free together, again and again: a new job
// waits for up to all of that time, though the pool has time enough for it. So,
// while nothing but leftovers waits, one worker in readyShare leaves them alone and is
// ready for what is new; that also gets the others out of step. A pool of fewer workers has
// none to spare for this.
const readyShare = 32

// readiness is how many workers are to be ready for new jobs while there are leftovers.
func (p *Pool[T]) readiness() int {
	if p.closing {
		return 0
	}
	return p.workers / readyShare
}

// spared reports whether the worker that asks is to leave alone what waits. Called with the
// lock held.
func (p *Pool[T]) spared(now int64) bool {
	p.leftovers = p.workers >= readyShare && p.queue.leftovers(now)
	return p.leftovers && len(p.idle) < p.readiness()
}
