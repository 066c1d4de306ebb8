package rating

import (
	"math/big"
	"time"
)

// A Usage is what is known of one session. Times are seconds since 1970, 0 where
// they are not known.
type Usage struct {
	First, Last   int64  // from the start to the latest record
	Seconds       int64  // Acct-Session-Time
	Input, Output uint64 // octets from and to the subscriber
}

// Merge is what u and v know together: the earliest First, and the largest of all
// else. It is commutative, associative and idempotent.
func (u Usage) Merge(v Usage) Usage {
	first := min(u.First, v.First)
	if u.First == 0 || v.First == 0 {
		first = max(u.First, v.First)
	}
	return Usage{
		First: first, Last: max(u.Last, v.Last), Seconds: max(u.Seconds, v.Seconds),
		Input: max(u.Input, v.Input), Output: max(u.Output, v.Output),
	}
}

// MaxSpan is the longest time over which usage is spread, and for which days are
// charged, back from the latest record: 400 days. A clock that was never set is
// mostly what is behind more.
const MaxSpan = 400 * day

// Price is what a session costs as far as u tells, 0 to MaxMoney, without the days.
//
// Where the tariff has intervals octets and seconds are taken to be spread evenly
// from First to Last, since that alone does not depend on which records arrived; a
// session that is ended where an interval ends, as Session-Timeout does, lies in
// one. The exact sum is rounded down once, at the end, in favour of the subscriber.
func (t *Tariff) Price(u Usage) Money {
	mb := t.MB
	if mb == 0 {
		mb = defaultMB
	}
	seconds := max(u.Seconds, 0)
	var sum, part, term big.Int
	span := t.spread(u, func(index int, weight int64) {
		p := t.pricesOf(index)
		if *p == (Prices{}) {
			return
		}
		// weight * ((Input*InputMB + Output*OutputMB)*3600 + Seconds*Hour*MB)
		part.SetUint64(u.Input)
		part.Mul(&part, term.SetInt64(int64(p.InputMB)))
		var out, hours big.Int
		out.SetUint64(u.Output)
		part.Add(&part, out.Mul(&out, term.SetInt64(int64(p.OutputMB))))
		part.Mul(&part, term.SetInt64(3600))
		hours.SetInt64(seconds)
		hours.Mul(&hours, term.SetInt64(int64(p.Hour)))
		part.Add(&part, hours.Mul(&hours, term.SetUint64(mb)))
		sum.Add(&sum, part.Mul(&part, term.SetInt64(weight)))
	})
	if sum.Sign() == 0 {
		return 0
	}
	part.SetInt64(span)
	part.Mul(&part, term.SetInt64(3600))
	part.Mul(&part, term.SetUint64(mb))
	sum.Quo(&sum, &part)
	if !sum.IsInt64() || Money(sum.Int64()) > MaxMoney {
		return MaxMoney
	}
	return Money(sum.Int64())
}

// spread calls each with the parts of a session that lie in one interval, as
// seconds, and returns their sum, which is 1 at least.
func (t *Tariff) spread(u Usage, each func(index int, weight int64)) (span int64) {
	first, last := u.First, max(u.Last, u.First)
	first = max(first, last-MaxSpan)
	if first == last { // a moment
		last++
	}
	if len(t.Intervals) == 0 {
		each(-1, last-first)
		return last - first
	}
	for at := first; at < last; {
		index, until := t.at(at)
		until = min(until, last)
		each(index, until-at)
		at = until
	}
	return last - first
}

// Days are the days, as 20060102, of which a record tells that the subscriber was
// online: those of the seconds before it, or that of the moment where seconds is 0.
// The union over all records of a session does not depend on their order. They are
// MaxSpan's at most.
func (t *Tariff) Days(at, seconds int64) []int {
	from, to := at, at
	if seconds > 0 {
		from, to = at-min(seconds, MaxSpan), at-1
	}
	loc := t.location()
	date := time.Unix(from, 0).In(loc)
	last := dayNumber(time.Unix(to, 0).In(loc))
	var days []int
	for n := 0; ; n++ {
		// Noon: there is one on every day, whatever is done to the clock.
		d := dayNumber(time.Date(date.Year(), date.Month(), date.Day()+n, 12, 0, 0, 0, time.UTC))
		if d > last {
			return days
		}
		days = append(days, d)
	}
}

func dayNumber(t time.Time) int { return t.Year()*10000 + int(t.Month())*100 + t.Day() }

// Month is the month of a moment, as 200601: that of the quota.
func (t *Tariff) Month(second int64) int {
	return dayNumber(time.Unix(second, 0).In(t.location())) / 100
}
