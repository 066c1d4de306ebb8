package billingtest

import "github.com/radpool/radpool/billing"

// because is a Reason as a failure tells it. One that comes from a limit of the
// subscriber mostly means that the Factory set one, and not that the check found
// what it looks for.
func because(r billing.Reason) string {
	switch r {
	case billing.ReasonExpired, billing.ReasonNoMoney, billing.ReasonBlocked, billing.ReasonTooManySessions, billing.ReasonCallingStation,
		billing.ReasonNotNow, billing.ReasonRejected, billing.ReasonNoAddress, billing.ReasonTooManyAttempts:
		return r.String() + " (has the Factory given a subscriber a limit? They must have none: the suite stores 6 GB a session, and many sessions)"
	}
	return r.String()
}
