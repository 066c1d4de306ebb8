// Package arena gives each request its own memory and takes all of it back at once.
//
// A RADIUS request lives for milliseconds and leaves nothing behind: its octets, its attributes and its
// reply die together. A [Pool] therefore hands out an [Arena] for each request; octets are carved from the
// arena's chunk with [Arena.Bytes] and its kin, typed objects come from a [Slab], and [Arena.Release] makes
// all of it the next request's. In steady state nothing is allocated and the collector has nothing to do.
//
//	var attributes arena.Slab[Attribute] // package level: one for each type
//
//	a := pool.Get()
//	defer a.Release()
//	packet := a.Copy(datagram)
//	attr := attributes.New(a)
//
//	Pool.Get ──► Arena: chunk [ datagram | value | reply |    free    ]   octets, no pointer among them
//	  ▲                 slab  [ Attribute | Attribute |     free      ]   typed, so that the collector sees pointers
//	  └── Release: all of it at once, and how much it was is noted for the size of the next chunk
//
// Typed objects have slabs of their own because a pointer kept inside a []byte is invisible to the
// garbage collector: what it points to would be freed under it.
//
// # Nothing fails
//
// When the chunk is used up, or a slab's bound is reached, the allocation comes from the heap instead. The
// caller cannot tell; the pool counts it ([Stats].Overflows, [Stats].SlabOverflows). FreeRADIUS's pool for
// each request (talloc_pool_size, thread_pool in radiusd.conf) falls back to malloc in the same way.
//
// # The chunk finds its own size
//
// A pool notes in a histogram how many octets each request used when it is released. Once every
// [Config].Window releases it sets the chunk's size to a percentile of what recent requests used, within
// bounds. It grows at once and shrinks only when several windows in a row agree, so it does not flap; older
// windows lose half their weight each time, so a burst of huge requests pins no memory for ever. Arenas
// whose chunk has the wrong size change it when they are released or next handed out.
//
// # Ownership
//
// An arena has one owner at a time: it may be handed from goroutine to goroutine (through a channel, say),
// but is never used by two at once. Whatever must outlive the request is copied out before Release;
// [Arena.String] makes such a copy. After Release neither the arena nor anything that came from it may be
// touched. A second Release panics, and so does a use after Release as long as the pool has not handed the
// arena out anew.
//
// Under the race detector, or with the build tag radpooldebug ([Debug] tells), the rules are enforced:
// a released Arena is never handed out again, so every later use of it panics; released memory is
// overwritten with a pattern, so that stale data is never mistaken for good; it is kept aside for some
// releases, and if it was written to meanwhile, the next [Pool.Get] (or the Release that makes it leave)
// panics and names the element and the place of the first Release.
//
// # Without arenas
//
// With the build tag radpoolheap [Pool.Get] returns nil, and a nil Arena gives everything from the heap. It is
// for measuring what arenas save in a program as a whole, and for tools that look at each allocation (the
// heap profile). Such a pool has no statistics.
package arena
