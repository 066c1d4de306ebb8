package radpool

import "strconv"

// Class is the urgency of a job. Classes have priority: no job of a class runs
// while one of a more urgent class waits, but for a small share ([AgeingTurns]), so
// that nothing waits for ever; and when the queue is full the less urgent gives
// way. The zero value is the most urgent.
//
// FreeRADIUS orders by listener type, so that accounting received on an
// "auth+acct" listener rides along with authentication. Here the class is that
// of the request itself.
//
// A [Pool] of other jobs uses the numbers from 0 to NumClasses-1 as it likes:
// const nightly radpool.Class = 3.
type Class uint8

const (
	// ClassStatus is Status-Server (RFC 5997): a probe must be answered when
	// the server is busiest, since that is when NASes ask.
	ClassStatus Class = iota
	// ClassConversation is an Access-Request with State: the next step of a
	// conversation (EAP, a challenge) that has cost both sides something already, and
	// is lost as a whole if this step is.
	ClassConversation
	// ClassAccess is any other Access-Request: a subscriber is waiting. So are
	// CoA-Request and Disconnect-Request.
	ClassAccess
	// ClassAccounting is Accounting-Request with Acct-Status-Type Start, Stop,
	// Accounting-On or Accounting-Off: sessions begin and end only once.
	ClassAccounting
	// ClassInterim is Accounting-Request with Acct-Status-Type Interim-Update:
	// the next one carries the same counters again, so it is shed first.
	ClassInterim

	// NumClasses is the number of classes: valid ones are less than it.
	NumClasses = 5
)

// String returns the name of the class as logs and metrics show it: "status",
// "conversation", "access", "accounting" or "interim".
func (c Class) String() string {
	switch c {
	case ClassStatus:
		return "status"
	case ClassConversation:
		return "conversation"
	case ClassAccess:
		return "access"
	case ClassAccounting:
		return "accounting"
	case ClassInterim:
		return "interim"
	}
	return "Class(" + strconv.Itoa(int(c)) + ")"
}
