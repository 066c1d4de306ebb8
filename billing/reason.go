package billing

// A Reason says why a subscriber was not let in. The list is fixed, so that
// logs, statistics and radpostauth can be counted by it. For what has none here, there
// is the nearest with a Grant.Message of its own.
//
//	not known, wrong credentials  ReasonUnknownUser, ReasonWrongPassword, ReasonNoPassword, ReasonPasswordForm, ReasonEAP
//	nothing left to use           ReasonNoMoney: the balance, a prepaid volume or time, a quota
//	the account                   ReasonExpired, ReasonBlocked, ReasonRejected
//	not like this                 ReasonTooManySessions, ReasonCallingStation, ReasonNotNow, ReasonTooManyAttempts
//	the request or the server     ReasonUnavailable, ReasonNoAddress, ReasonBadRequest
//
// ReasonNoMoney is the one that does not keep a subscriber out where Grant.Restricted
// is set. So it is for a quota that is used up as well:
//
//	Grant{Password: password, Reason: ReasonNoMoney, Message: "Quota used up", Restricted: portal}
//
// A quota after which the session is only slower is no Reason at all: its Grant has
// another Reply.
type Reason uint8

// Reasons, each with its Text. The zero Reason is none: not rejected.
const (
	ReasonNone            Reason = iota
	ReasonUnknownUser            // no such subscriber; "Unknown user"
	ReasonWrongPassword          // the password does not match; "Wrong password"
	ReasonNoPassword             // no credentials in the request, or none stored; "Password required"
	ReasonPasswordForm           // the stored form cannot answer this method; "Authentication method not possible for this account"
	ReasonExpired                // the subscription has ended; "Account expired"
	ReasonNoMoney                // the balance, or a quota, is used up: Grant.Restricted if there is one; "Out of money"
	ReasonBlocked                // blocked by the operator; "Account blocked"
	ReasonTooManySessions        // SimultaneousUse is reached; "Too many sessions"
	ReasonCallingStation         // not from this Calling-Station-Id; "Not allowed from this device"
	ReasonNotNow                 // outside the hours of the tariff; "Not allowed at this time"
	ReasonRejected               // the back end says no, without a reason of this list; "Rejected"
	ReasonUnavailable            // the back end failed, with ErrSubscriber or where the Processor is set to reject; "Temporarily unavailable"
	ReasonBadRequest             // attributes that contradict each other or cannot be decoded; "Bad request"
	ReasonNoAddress              // the pool has no address left, where the Processor is set to reject; "No address available"
	ReasonTooManyAttempts        // too many attempts to log in lately; "Too many attempts, try again later"
	ReasonEAP                    // the EAP conversation cannot go on: no method in common, malformed, an unknown State; "EAP conversation failed"
	numReasons
)

// NumReasons is how many Reasons there are, ReasonNone among them.
const NumReasons = int(numReasons)

var reasonNames = [numReasons]string{
	"none", "unknown-user", "wrong-password", "no-password", "password-form", "expired", "no-money",
	"blocked", "too-many-sessions", "calling-station", "not-now", "rejected", "unavailable", "bad-request", "no-address",
	"too-many-attempts", "eap",
}

var reasonTexts = [numReasons]string{
	"", "Unknown user", "Wrong password", "Password required", "Authentication method not possible for this account",
	"Account expired", "Out of money", "Account blocked", "Too many sessions", "Not allowed from this device",
	"Not allowed at this time", "Rejected", "Temporarily unavailable", "Bad request",
	"No address available", "Too many attempts, try again later", "EAP conversation failed",
}

// String returns the Reason's name, for logs and labels: "wrong-password".
func (r Reason) String() string {
	if r >= numReasons {
		return "invalid"
	}
	return reasonNames[r]
}

// Text is what the subscriber reads in the Reply-Message. To a stranger an
// unknown user and a wrong password look the same: see Processor.
func (r Reason) Text() string {
	if r >= numReasons {
		return reasonTexts[ReasonRejected]
	}
	return reasonTexts[r]
}
