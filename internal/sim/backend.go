package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Backend is what handlers wait for, such as a database: it serves so many at
// once, and the rest wait in it, in the order in which they came.
type Backend struct {
	// Parallel is how many requests it serves at the same time, from 1 to
	// 65,536.
	Parallel int
	// Service is how long one takes to serve.
	Service Dist
	// Contention is the share by which each request that is in the back end
	// beyond Parallel makes the service of all longer: locks, caches that are
	// fought for, context switches. From 0 (none) to 10.
	Contention float64
	// Latency is the time of a request that is not spent in the back end: the
	// network on the way there and back. Nobody else waits for it.
	Latency time.Duration
	// Changes are what becomes of the back end later, in the order of their
	// times. Each holds for services that begin after it.
	Changes []Change
}

// Change is a change of a [Backend].
type Change struct {
	At time.Duration
	// Parallel replaces Backend.Parallel. Zero: it stays.
	Parallel int
	// Slower is by how much a service then takes longer than at first: 2 is
	// half the speed. Zero: it stays as it is.
	Slower float64
}

// Dist is a distribution of durations: it draws one.
type Dist func(*rand.Rand) time.Duration

// Constant always takes d.
func Constant(d time.Duration) Dist {
	return func(*rand.Rand) time.Duration { return d }
}

// Uniform takes from mean-spread to mean+spread.
func Uniform(mean, spread time.Duration) Dist {
	return func(r *rand.Rand) time.Duration {
		return mean + time.Duration((2*r.Float64()-1)*float64(spread))
	}
}

// Exponential is the memoryless one with the given mean: the coefficient of variation is 1.
func Exponential(mean time.Duration) Dist {
	return func(r *rand.Rand) time.Duration {
		return time.Duration(r.ExpFloat64() * float64(mean))
	}
}

// LogNormal has the given mean and a long tail: sigma is the standard
// deviation of the logarithm. With 0.5 the slowest in a hundred takes three times the mean.
func LogNormal(mean time.Duration, sigma float64) Dist {
	return func(r *rand.Rand) time.Duration {
		return time.Duration(float64(mean) * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2))
	}
}

// backend is a Backend that runs.
type backend struct {
	*loop
	Backend
	rand    *rand.Rand
	slower  float64
	serving int
	waiting []func() // what to do when each is served, the first one first
}

func newBackend(l *loop, cfg Backend, r *rand.Rand) *backend {
	b := &backend{loop: l, Backend: cfg, rand: r, slower: 1}
	for _, c := range cfg.Changes {
		l.at(c.At, func() {
			if c.Parallel > 0 {
				b.Parallel = c.Parallel
			}
			if c.Slower > 0 {
				b.slower = c.Slower
			}
			b.serve()
		})
	}
	return b
}

// ask has done happen when the back end has served a request that comes now.
func (b *backend) ask(done func()) {
	if b.Latency > 0 {
		b.after(b.Latency/2, func() {
			b.enter(func() { b.after(b.Latency-b.Latency/2, done) })
		})
		return
	}
	b.enter(done)
}

func (b *backend) enter(done func()) {
	b.waiting = append(b.waiting, done)
	b.serve()
}

// serve begins with those that wait, as far as there is room.
func (b *backend) serve() {
	for b.serving < b.Parallel && len(b.waiting) > 0 {
		done := b.waiting[0]
		b.waiting[0] = nil
		b.waiting = b.waiting[1:]
		beyond := max(b.serving+1+len(b.waiting)-b.Parallel, 0)
		b.serving++
		took := float64(b.Service(b.rand)) * b.slower * (1 + b.Contention*float64(beyond))
		b.after(time.Duration(took), func() {
			b.serving--
			b.serve()
			done()
		})
	}
}
