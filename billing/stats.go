package billing

import "sync/atomic"

// Stats counts what a Processor did since it was made.
type Stats struct {
	// Access-Requests that the back end answered, and those that it did not get
	// to see (ReasonBadRequest).
	Accepted   uint64             // in full
	Restricted uint64             // with the restricted profile
	Rejected   [NumReasons]uint64 // by Reason

	// AuthorizeErrors are Access-Requests for which Authorize failed. Those that
	// were rejected for it are in Rejected[ReasonUnavailable] as well.
	AuthorizeErrors uint64

	// Addresses from pools.
	Leased   uint64 // Access-Accepts with an address that was leased
	PoolFull uint64 // requests for which there was none left

	// Accounting-Requests.
	Stored        uint64 // durable, and answered
	AccountErrors uint64 // Account failed: no answer
	Discarded     uint64 // an attribute is missing or malformed: no answer

	Ignored uint64 // requests of another code: no answer

	// EAP.
	Challenged  uint64 // Access-Challenges
	EAPIgnored  uint64 // of these, answers to packets that were no answer to the last request
	EAPWaiting  int    // conversations that wait for the peer now
	EAPTimedOut uint64 // conversations whose peer did not answer in time
	EAPPushed   uint64 // conversations that gave way, since MaxConversations was reached
	EAPUnknown  uint64 // requests with a State that names no conversation with this client

	// Simultaneous use.
	Reservations int    // sessions reserved now
	Unreserved   uint64 // logins let in without a reservation, since MaxReservations was reached
}

// counters are the Stats while they are counted.
type counters struct {
	accepted, restricted, authorizeErrors     atomic.Uint64
	rejected                                  [NumReasons]atomic.Uint64
	leased, poolFull                          atomic.Uint64
	stored, accountErrors, discarded, ignored atomic.Uint64
	challenged, eapIgnored                    atomic.Uint64
}

// Stats returns what has been counted by now. Each number is exact; together they
// are of about the same moment.
func (p *Processor) Stats() Stats {
	c := &p.stats
	s := Stats{
		Accepted:        c.accepted.Load(),
		Restricted:      c.restricted.Load(),
		AuthorizeErrors: c.authorizeErrors.Load(),
		Leased:          c.leased.Load(),
		PoolFull:        c.poolFull.Load(),
		Stored:          c.stored.Load(),
		AccountErrors:   c.accountErrors.Load(),
		Discarded:       c.discarded.Load(),
		Ignored:         c.ignored.Load(),
		Challenged:      c.challenged.Load(),
		EAPIgnored:      c.eapIgnored.Load(),
	}
	e := p.eap.stats()
	s.EAPWaiting, s.EAPTimedOut, s.EAPPushed, s.EAPUnknown = e.Waiting, e.TimedOut, e.Pushed, e.Unknown
	for i := range c.rejected {
		s.Rejected[i] = c.rejected[i].Load()
	}
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	s.Reservations, s.Unreserved = len(p.table.pending), p.table.full
	return s
}
