package rating_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/radpool/radpool/billing/rating"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// holds is the naive reference of an interval: what the clock on the wall shows.
func holds(iv rating.Interval, wall time.Time) bool {
	minute := wall.Hour()*60 + wall.Minute()
	on := func(d time.Weekday) bool { return iv.Days == 0 || iv.Days&(1<<d) != 0 }
	if iv.From < iv.To {
		return on(wall.Weekday()) && minute >= iv.From && minute < iv.To
	}
	return on(wall.Weekday()) && minute >= iv.From || on((wall.Weekday()+6)%7) && minute < iv.To
}

func indexAt(t *rating.Tariff, second int64) int {
	return slices.IndexFunc(t.Intervals, func(iv rating.Interval) bool { return holds(iv, time.Unix(second, 0).In(t.Location)) })
}

// naivePrice looks at each second of the session, in fractions.
func naivePrice(t *rating.Tariff, u rating.Usage) rating.Money {
	mb, first, last := int64(t.MB), u.First, max(u.First, u.Last)
	if mb == 0 {
		mb = 1048576
	}
	if last == first {
		last++
	}
	sum := new(big.Rat)
	for s := first; s < last; s++ {
		p := t.Prices
		if i := indexAt(t, s); i >= 0 {
			p = t.Intervals[i].Prices
		}
		add := func(n uint64, price rating.Money, unit int64) {
			r := new(big.Rat).SetFrac(new(big.Int).SetUint64(n), big.NewInt(unit))
			r.Mul(r, new(big.Rat).SetInt64(int64(price)))
			sum.Add(sum, r.Quo(r, new(big.Rat).SetInt64(last-first)))
		}
		add(u.Input, p.InputMB, mb)
		add(u.Output, p.OutputMB, mb)
		add(uint64(u.Seconds), p.Hour, 3600)
	}
	return rating.Money(new(big.Int).Quo(sum.Num(), sum.Denom()).Int64())
}

func randomTariff(r *rand.Rand, loc *time.Location) *rating.Tariff {
	prices := func() rating.Prices {
		return rating.Prices{InputMB: rating.Money(r.IntN(900_000)), OutputMB: rating.Money(r.IntN(900_000)), Hour: rating.Money(r.IntN(90_000_000))}
	}
	t := &rating.Tariff{Prices: prices(), Location: loc, MB: []uint64{0, 1_000_000}[r.IntN(2)]}
	for range r.IntN(4) {
		t.Intervals = append(t.Intervals, rating.Interval{Days: uint8(r.IntN(128)), From: r.IntN(1440), To: r.IntN(1440), Prices: prices()})
	}
	return t
}

// Within hours of a change of the clock, forward and back.
var changes = []int64{
	time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC).Unix(),
	time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC).Unix(),
	time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC).Unix(),
}

func TestPriceAgreesWithTheReference(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "America/St_Johns"), zone(t, "Asia/Kathmandu")}
	for range 60 {
		tariff := randomTariff(r, zones[r.IntN(len(zones))])
		if err := tariff.Validate(); err != nil {
			t.Fatal(err)
		}
		first := changes[r.IntN(len(changes))] - r.Int64N(7200)
		u := rating.Usage{First: first, Last: first + r.Int64N(9000), Seconds: r.Int64N(9000), Input: r.Uint64N(1 << 40), Output: r.Uint64N(1 << 40)}
		if got, want := tariff.Price(u), naivePrice(tariff, u); got != want {
			t.Fatalf("seed %d: %+v at %+v: %d, want %d", seed, u, tariff, got, want)
		}
	}
}

func TestIntervalAgreesWithTheReference(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 2))
	for range 40 {
		tariff := randomTariff(r, zone(t, "Europe/Berlin"))
		now := changes[r.IntN(len(changes))] - r.Int64N(7200)
		index, until := tariff.Interval(time.Unix(now, 0))
		if want := indexAt(tariff, now); index != want {
			t.Fatalf("seed %d: interval %d, want %d", seed, index, want)
		}
		want := now
		for want < now+8*86400 && indexAt(tariff, want) == index {
			want++
		}
		switch {
		case until.IsZero() && want < now+8*86400, !until.IsZero() && until.Unix() != want:
			t.Fatalf("seed %d: %+v at %d: until %v, want %v", seed, tariff, now, until, time.Unix(want, 0))
		}
	}
}

// Any order of a session's records, each twice, ends in one sum: the price of the
// final usage.
func TestLedgerDoesNotDependOnTheOrder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 3))
	for range 100 {
		tariff := randomTariff(r, zone(t, "Europe/Berlin"))
		first := changes[r.IntN(len(changes))] - r.Int64N(86400)
		records := []rating.Usage{{First: first, Last: first}}
		for range 3 {
			u := records[len(records)-1]
			step := r.Int64N(40000)
			u.Last, u.Seconds = u.Last+step, u.Seconds+step
			u.Input, u.Output = u.Input+r.Uint64N(1<<38), u.Output+r.Uint64N(1<<38)
			records = append(records, u)
		}
		want, days := tariff.Price(records[3]), union(tariff, records)
		records = append(records, records...)
		for range 20 {
			r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			var seen rating.Usage
			var sum rating.Money
			for _, u := range records {
				seen = seen.Merge(u)
				sum += tariff.Price(seen) - sum // the entry
			}
			if sum != want {
				t.Fatalf("seed %d: the entries add up to %v, want %v", seed, sum, want)
			}
			if got := union(tariff, records); !slices.Equal(got, days) {
				t.Fatalf("seed %d: days %v, want %v", seed, got, days)
			}
		}
	}
}

func union(t *rating.Tariff, records []rating.Usage) []int {
	var all []int
	for _, u := range records {
		all = append(all, t.Days(u.Last, u.Seconds)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestPriceRoundsDownOnce(t *testing.T) {
	third := rating.Tariff{Prices: rating.Prices{InputMB: 1, OutputMB: 1, Hour: 1}, MB: 3}
	for _, c := range []struct {
		u    rating.Usage
		want rating.Money
	}{
		{rating.Usage{Input: 2}, 0},
		{rating.Usage{Input: 2, Output: 1}, 1}, // not 0 + 0
		{rating.Usage{Input: 1, Output: 1, Seconds: 1200}, 1},
		{rating.Usage{Input: 1, Output: 1, Seconds: 1199}, 0},
		{rating.Usage{Seconds: -5}, 0},
		{rating.Usage{Input: 1<<64 - 1, Output: 1<<64 - 1}, rating.MaxMoney},
	} {
		if got := third.Price(c.u); got != c.want {
			t.Errorf("%+v: %d, want %d", c.u, got, c.want)
		}
	}
}

func TestDays(t *testing.T) {
	berlin := &rating.Tariff{Location: zone(t, "Europe/Berlin")}
	midnight := time.Date(2026, 3, 29, 0, 0, 0, 0, berlin.Location).Unix() // a day of 23 hours
	for _, c := range []struct {
		at, seconds int64
		want        []int
	}{
		{midnight, 0, []int{20260329}},
		{midnight, 1, []int{20260328}},
		{midnight + 1, 2, []int{20260328, 20260329}},
		{midnight + 23*3600, 23 * 3600, []int{20260329}},
		{midnight + 23*3600 + 1, 23*3600 + 2, []int{20260328, 20260329, 20260330}},
	} {
		if got := berlin.Days(c.at, c.seconds); !slices.Equal(got, c.want) {
			t.Errorf("%d s before %d: %v, want %v", c.seconds, c.at, got, c.want)
		}
	}
	if n := len(berlin.Days(midnight, 1<<40)); n < 400 || n > 402 {
		t.Errorf("%d days of a session without end", n)
	}
}

func TestStanding(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	hourly := &rating.Tariff{Prices: rating.Prices{Hour: 2_000_000}, Quota: 100}
	night := &rating.Tariff{Intervals: []rating.Interval{{From: 22 * 60, To: 6 * 60, Prices: rating.Prices{Hour: 1}}}}
	for name, c := range map[string]struct {
		t    *rating.Tariff
		a    rating.Account
		want rating.Standing
	}{
		"nothing left":           {hourly, rating.Account{}, rating.Standing{OutOfMoney: true, Interval: -1}},
		"free":                   {&rating.Tariff{}, rating.Account{}, rating.Standing{Interval: -1}},
		"free, in debt":          {&rating.Tariff{}, rating.Account{Balance: -1}, rating.Standing{OutOfMoney: true, Interval: -1}},
		"credit":                 {hourly, rating.Account{Balance: -1, Credit: 1_000_001}, rating.Standing{Interval: -1, Until: now.Add(1800 * time.Second)}},
		"the least sum":          {hourly, rating.Account{Balance: 1}, rating.Standing{Interval: -1, Until: now.Add(time.Second)}},
		"much":                   {hourly, rating.Account{Balance: 1 << 62, Credit: 1 << 62}, rating.Standing{Interval: -1}},
		"quota":                  {hourly, rating.Account{Balance: 2_000_000, Used: 100}, rating.Standing{OverQuota: true, Interval: -1, Until: now.Add(time.Hour)}},
		"until the night begins": {night, rating.Account{Balance: 1}, rating.Standing{Interval: -1, Until: now.Add(10 * time.Hour)}},
	} {
		if got := c.t.Standing(now, c.a); !got.Until.Equal(c.want.Until) || got.Interval != c.want.Interval || got.OutOfMoney != c.want.OutOfMoney || got.OverQuota != c.want.OverQuota {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for name, bad := range map[string]rating.Tariff{
		"price":    {Prices: rating.Prices{Hour: -1}},
		"day":      {Day: rating.MaxPrice + 1},
		"MB":       {MB: 1 << 41},
		"from":     {Intervals: []rating.Interval{{From: 1440}}},
		"days":     {Intervals: []rating.Interval{{Days: 128}}},
		"too many": {Intervals: make([]rating.Interval, 65)},
		"theirs":   {Intervals: []rating.Interval{{Prices: rating.Prices{InputMB: -1}}}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMoneyString(t *testing.T) {
	for m, want := range map[rating.Money]string{0: "0", 12_500_000: "12.5", -1: "-0.000001", 1_000_000: "1", -1 << 63: "-9223372036854.775808"} {
		if got := m.String(); got != want {
			t.Errorf("%d: %q, want %q", int64(m), got, want)
		}
	}
}
