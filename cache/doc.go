// Package cache remembers the RADIUS requests that a server has accepted
// and the replies that it sent, so that a retransmission is answered with
// the same octets and never runs twice: duplicate detection as RFC 5080
// section 2.2.2 asks for it, for every kind of request, accounting too.
//
// # The life of a request
//
// [Cache.Begin] looks a request up and says what to do with it:
//
//	Fresh       run it, and end the Ticket that came with it
//	InFlight    drop it: the copy that came first is waiting or running
//	Replay      send the retained octets again
//	Silent      drop it: silence was the answer
//	Superseded  run it; an older request under the same Identifier is void
//	Full        drop it: MaxRequests requests are in flight
//
// Each [Ticket] is ended once: by [Ticket.Finish] with the encoded reply, by
// [Ticket.NoReply] when silence is the answer, or by [Ticket.Abandon] when
// the request failed and its retransmission may try again. A Ticket that is
// never ended holds its entry for ever, for the cache cannot know that its
// request stopped running. The first two retain an entry for CleanupDelay. A
// retransmission extends that, at most to MaxAge after the reply.
//
//	        Begin            Finish, NoReply          CleanupDelay
//	absent -------> in flight --------------> retained -----------> absent
//	                 |     |                   |
//	                 |     Abandon: absent     room needed: absent, oldest first
//	                 MaxRequestTime: tombstone
//
// A request in flight is never dropped to make room, however long it
// takes. Past MaxRequestTime it is counted as a tombstone, and goes on
// holding off its retransmissions until its Ticket ends, so that a slow
// database never meets one request twice at the same time.
//
// # What the caller owes
//
// Begin trusts what it is given: only a packet whose authenticators were
// verified may reach it. A forged packet under the right address and
// Identifier would otherwise void a request in flight.
//
// The package has no clock and starts no goroutine. Time is an argument
// everywhere, and all calls should take it from one clock (time.Now, with its
// monotonic reading). A time a little older than one seen before is
// taken as the newer of the two. A busy cache frees what expires as it
// goes; an idle one does when [Cache.Expire] is called.
//
// # Bounds
//
// At most MaxRequests entries, in flight and retained together, whatever the
// number of shards. Memory follows use: at 2,097,152 entries with replies of
// 64 octets it is about 170 octets an entry, none of it traced by the
// garbage collector, and an idle cache holds next to nothing.
//
// On Linux (amd64 and arm64) the memory of a table over some 65,000 entries is
// mapped in pieces of 2 MiB for which huge pages are asked (madvise, where
// /sys/kernel/mm/transparent_hugepage/enabled allows it), as small pages cost
// a large table more than its own work. That part is outside the Go heap:
// GOMEMLIMIT does not count it, [Stats] does. It goes back to the system as
// the table shrinks, and when a Cache is no longer reachable.
//
// A table of n entries with a CleanupDelay of d sustains n/d new requests a
// second (209,715 by default). When more arrive than fit, every new request is
// still accepted and runs, and the entry whose reply was sent longest ago makes
// room before its time, which [Stats] counts as Evicted: its client gets no
// replay any more, and a retransmission that comes so late runs again. A request
// in flight never makes room. Only when all n are in flight is a new one refused
// (Full).
package cache
