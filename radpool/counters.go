package radpool

import (
	"sync"
	"sync/atomic"

	"layeh.com/radius"
)

// counters are written by one goroutine each (a reader, a worker) or by few, and
// read by Stats, so that two cores do not fight for a cache line at each
// request.
type counters struct {
	received atomic.Uint64
	admitted atomic.Uint64 // went on towards a worker
	ended    atomic.Uint64 // of those admitted: came to an Outcome
	outcomes [numAsked][numOutcomes]atomic.Uint64
	requests [numRequestKinds]atomic.Uint64
	replies  [numReplyKinds]atomic.Uint64

	readErrors, writeErrors atomic.Uint64
	inReader                atomic.Uint64 // requests that a reader ran

	times [numAsked]responseTimes // of the replies; askedOther is CoA and Disconnect

	_ [64]byte // whatever is next in memory starts its own cache line
}

// asked is what a datagram was for, in the statistics.
type asked uint8

const (
	askedOther asked = iota
	askedAccess
	askedAccounting
	numAsked
)

func askedBy(c radius.Code) asked {
	switch c {
	case radius.CodeAccessRequest:
		return askedAccess
	case radius.CodeAccountingRequest:
		return askedAccounting
	}
	return askedOther
}

type requestKind uint8

const (
	kindAccess requestKind = iota
	kindAccounting
	kindCoA
	kindDisconnect
	numRequestKinds
)

type replyKind uint8

const (
	kindAccept replyKind = iota
	kindReject
	kindChallenge
	kindAccountingResponse
	kindACK
	kindNAK
	kindOtherReply
	numReplyKinds
)

func kindOfReply(c radius.Code) replyKind {
	switch c {
	case radius.CodeAccessAccept:
		return kindAccept
	case radius.CodeAccessReject:
		return kindReject
	case radius.CodeAccessChallenge:
		return kindChallenge
	case radius.CodeAccountingResponse:
		return kindAccountingResponse
	case radius.CodeCoAACK, radius.CodeDisconnectACK:
		return kindACK
	case radius.CodeCoANAK, radius.CodeDisconnectNAK:
		return kindNAK
	}
	return kindOtherReply
}

// counterSet is all the counters of a server. One that is put back keeps its
// counts and is taken again, so the set does not grow as workers come and go.
type counterSet struct {
	mu   sync.Mutex
	all  []*counters
	free []*counters
}

func (s *counterSet) take() *counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		c := s.free[n-1]
		s.free = s.free[:n-1]
		return c
	}
	c := new(counters)
	s.all = append(s.all, c)
	return c
}

func (s *counterSet) put(c *counters) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, c)
}

// sum adds the counts of all up into st. Of a request that is on its way at this
// moment it may see one step and not the next; what it reads first are the ends,
// so that a request seen to end was seen to begin.
func (s *counterSet) sum(st *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ended, admitted uint64
	for _, c := range s.all {
		ended += c.ended.Load()
		for o := range numOutcomes {
			access, accounting := c.outcomes[askedAccess][o].Load(), c.outcomes[askedAccounting][o].Load()
			st.AccessOutcomes[o] += access
			st.AccountingOutcomes[o] += accounting
			*st.outcome(o) += access + accounting + c.outcomes[askedOther][o].Load()
		}
	}
	for _, c := range s.all {
		admitted += c.admitted.Load()
		st.Received += c.received.Load()
		st.AccessRequests += c.requests[kindAccess].Load()
		st.AccountingRequests += c.requests[kindAccounting].Load()
		st.CoARequests += c.requests[kindCoA].Load()
		st.DisconnectRequests += c.requests[kindDisconnect].Load()
		st.AccessAccepts += c.replies[kindAccept].Load()
		st.AccessRejects += c.replies[kindReject].Load()
		st.AccessChallenges += c.replies[kindChallenge].Load()
		st.AccountingResponses += c.replies[kindAccountingResponse].Load()
		st.ACKs += c.replies[kindACK].Load()
		st.NAKs += c.replies[kindNAK].Load()
		st.OtherReplies += c.replies[kindOtherReply].Load()
		st.ReadErrors += c.readErrors.Load()
		st.WriteErrors += c.writeErrors.Load()
		st.RunInReader += c.inReader.Load()
	}
	st.InFlight = admitted - ended
}
