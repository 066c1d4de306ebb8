package rating

import (
	"math"
	"time"
)

// An Account is how it stands with a subscriber.
type Account struct {
	Balance Money
	Credit  Money  // how far below nothing the balance may go
	Used    uint64 // octets of this month, for the quota
}

// A Standing is what a subscriber gets who logs in now.
type Standing struct {
	// OutOfMoney: balance and credit together are below nothing, or are nothing
	// where the tariff costs anything.
	OutOfMoney bool

	// OverQuota: the quota of the month is used up.
	OverQuota bool

	// Interval is the one that holds, or -1.
	Interval int

	// Until is when the session has to end so that another interval, with other
	// prices or speeds, begins with a session of its own, or when the money is used
	// up at the price of an hour. The zero Time: it need not.
	Until time.Time
}

// Standing decides how a subscriber is let in at a moment.
func (t *Tariff) Standing(now time.Time, a Account) Standing {
	var s Standing
	available := Add(a.Balance, a.Credit)
	s.OutOfMoney = available < 0 || available == 0 && !t.Free()
	s.OverQuota = t.Quota > 0 && a.Used >= t.Quota
	s.Interval, s.Until = t.Interval(now)
	hour := t.pricesOf(s.Interval).Hour
	if s.OutOfMoney || hour == 0 {
		return s
	}
	// What is beyond a century is no limit; it would overflow a Duration.
	const most = 100 * 365 * day
	seconds := int64(most)
	if available < math.MaxInt64/3600 {
		seconds = min(max(int64(available)*3600/int64(hour), 1), most)
	}
	if end := now.Add(time.Duration(seconds) * time.Second); seconds < most && (s.Until.IsZero() || end.Before(s.Until)) {
		s.Until = end
	}
	return s
}
