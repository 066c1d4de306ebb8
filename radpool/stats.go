package radpool

import (
	"time"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/cache"
)

// Stats is what a [Server] has counted since it began. Every datagram that was
// received ended in exactly one Outcome, or is still in flight:
//
//	Received = Malformed + UnknownClient + WrongCode + Unauthentic + Stale +
//	           StatusServer + Duplicate + Replayed + TableFull + QueueFull +
//	           Shed + Expired + Superseded +
//	           Replied + Unanswered + Failed + Aborted + InFlight
//
// It holds exactly whenever no datagram is just being worked on, and always
// after Shutdown or Close. See [Outcome] for the meaning of each.
type Stats struct {
	// Started is when the first Serve began; zero before it.
	Started time.Time

	// Datagrams.
	Received      uint64 // in all
	Malformed     uint64
	UnknownClient uint64
	WrongCode     uint64
	Unauthentic   uint64
	Stale         uint64
	StatusServer  uint64
	Duplicate     uint64
	Replayed      uint64
	TableFull     uint64
	QueueFull     uint64
	Shed          uint64
	Expired       uint64
	Superseded    uint64
	Replied       uint64
	Unanswered    uint64
	Failed        uint64
	Aborted       uint64
	InFlight      uint64 // waiting or running now

	// AccessOutcomes and AccountingOutcomes are, by Outcome, the part of the numbers
	// above that Access-Requests and Accounting-Requests have. What is malformed, or has a
	// code that is not served, stands under what its socket is for: accounting if that
	// is all it serves, else Access.
	AccessOutcomes, AccountingOutcomes [NumOutcomes]uint64

	// Of those that were verified and new.
	AccessRequests     uint64
	AccountingRequests uint64
	CoARequests        uint64
	DisconnectRequests uint64

	// Of those that were replied.
	AccessAccepts       uint64
	AccessRejects       uint64
	AccessChallenges    uint64
	AccountingResponses uint64
	ACKs                uint64 // CoA-ACK and Disconnect-ACK
	NAKs                uint64 // CoA-NAK and Disconnect-NAK
	OtherReplies        uint64

	// How long those took, by what was asked: Access-Request, Accounting-Request,
	// and CoA-Request and Disconnect-Request.
	AccessTimes, AccountingTimes, CoATimes ResponseTimes

	// Sockets.
	ReadErrors  uint64
	WriteErrors uint64 // replies that the system would not send; each is in Replied or Replayed

	// SocketDrops is how many datagrams the system has dropped before they could be
	// read, because a receive buffer was full or a checksum wrong. They are not in
	// Received. SocketsUncounted is how many sockets there are of which it does not
	// tell: all those that are no UDP sockets of Linux.
	SocketDrops      uint64
	SocketsUncounted int

	// ReceiveBuffer is the size of the sockets' receive buffers in octets, as the
	// system has granted it; of several sockets the smallest. 0 is not known.
	ReceiveBuffer int

	// RunInReader is how many requests the reader of their socket ran itself (see
	// Config.RunInReader), and ReadersHeldUp how often a handler held one up until
	// another reader took over.
	RunInReader   uint64
	ReadersHeldUp uint64

	// Unresponsive is how many workers are, now, in a Handler that has not
	// returned although MaxRequestTime is over.
	Unresponsive int

	// Panics of the Handler (each request in it is in Failed) and of Hooks.
	Panics     uint64
	HookPanics uint64

	// What Advice goes by. ServiceTime is what a request took of a worker, on the
	// average of the last minute or so, in which something was run; zero until then. ArrivalRate is how
	// many new requests a second came, over the same time, and PeakArrivalRate the most
	// in any second since the server began. CompletionRate is how many a second the
	// workers have run, over the same time.
	ServiceTime                                  time.Duration
	ArrivalRate, PeakArrivalRate, CompletionRate float64
	// Config is what the server goes by, each zero field replaced by its default.
	Config Config
	// MaxWorkers is the most workers that the Policy may decide on; zero if it is none of
	// this package's. MinSpare and MaxSpare are between what numbers of idle workers it
	// leaves things as they are; zero if it is not [Spare].
	MaxWorkers         int
	MinSpare, MaxSpare int

	// Parts.
	Pool  PoolStats
	Cache cache.Stats
	Arena arena.Stats
}

// Ended is how many datagrams came to an [Outcome].
func (s *Stats) Ended() uint64 {
	var n uint64
	for o := range numOutcomes {
		n += *s.outcome(o)
	}
	return n
}

// Outcome is the count of o, for those who list them all.
func (s *Stats) Outcome(o Outcome) uint64 {
	if o >= numOutcomes {
		return 0
	}
	return *s.outcome(o)
}

func (s *Stats) outcome(o Outcome) *uint64 {
	return [numOutcomes]*uint64{
		&s.Malformed, &s.UnknownClient, &s.WrongCode, &s.Unauthentic, &s.Stale, &s.StatusServer, &s.Duplicate, &s.Replayed,
		&s.TableFull, &s.QueueFull, &s.Shed, &s.Expired, &s.Superseded, &s.Replied, &s.Unanswered, &s.Failed, &s.Aborted,
	}[o]
}
