package cache

import "fmt"

// Verdict is what to do with a request, as [Cache.Begin] decided. The zero
// Verdict is not one of them.
type Verdict uint8

// The verdicts.
const (
	// Fresh: nothing is known of the request, it is new. Run it and end its Ticket.
	Fresh Verdict = iota + 1
	// InFlight: an exact copy of a request that waits or runs. Drop it: the
	// reply to the first copy will come.
	InFlight
	// Replay: an exact copy of an answered request. Send the retained reply.
	Replay
	// Silent: an exact copy of a request whose answer was silence. Drop it.
	Silent
	// Superseded: a new request, whose Identifier a request in flight still
	// held. That one's Ticket is void from now on: if queued, it must not
	// run; if running, its reply must not be sent. Run the new one and end its
	// Ticket.
	Superseded
	// Full: MaxRequests requests are in flight. Drop it; nothing was recorded.
	Full
)

var verdictNames = [...]string{
	Fresh: "Fresh", InFlight: "InFlight", Replay: "Replay",
	Silent: "Silent", Superseded: "Superseded", Full: "Full",
}

// String returns the name of the constant.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) && verdictNames[v] != "" {
		return verdictNames[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}
