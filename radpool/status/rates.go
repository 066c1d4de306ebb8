package status

import "github.com/radpool/radpool/radpool"

// ratesBetween are the datagrams a second from one sample to a later one.
func ratesBetween(from, to *sample) Rates {
	seconds := to.at.Sub(from.at).Seconds()
	if seconds <= 0 {
		return Rates{}
	}
	sums := make(map[Kind]uint64)
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		sums[outcomeWords[o].kind] += to.stats.Outcome(o) - from.stats.Outcome(o)
	}
	return Rates{
		Received: float64(to.stats.Received-from.stats.Received) / seconds,
		Answered: float64(sums[Answered]) / seconds,
		Silent:   float64(sums[Silent]) / seconds,
		Dropped:  float64(sums[Dropped]) / seconds,
		Lost:     float64(to.stats.SocketDrops-from.stats.SocketDrops) / seconds,
	}
}

// outcomesBetween are all outcomes, with how many came a second since from.
func outcomesBetween(from, to *sample) []Outcome {
	list := make([]Outcome, radpool.NumOutcomes)
	seconds := to.at.Sub(from.at).Seconds()
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		n := to.stats.Outcome(o)
		list[o] = Outcome{Name: o.String(), Kind: outcomeWords[o].kind, Count: n, Meaning: outcomeWords[o].meaning}
		if seconds > 0 {
			list[o].PerSecond = float64(n-from.stats.Outcome(o)) / seconds
		}
	}
	return list
}

// responseTimesBetween are those of the replies from one sample to a later one.
func responseTimesBetween(from, to *sample) []ResponseTimes {
	var list []ResponseTimes
	for _, kind := range []struct {
		name     string
		from, to *radpool.ResponseTimes
	}{
		{"Access-Request", &from.stats.AccessTimes, &to.stats.AccessTimes},
		{"Accounting-Request", &from.stats.AccountingTimes, &to.stats.AccountingTimes},
		{"CoA, Disconnect", &from.stats.CoATimes, &to.stats.CoATimes},
	} {
		t := kind.to.Sub(kind.from)
		list = append(list, ResponseTimes{
			Name: kind.name, Count: t.Count(), Mean: t.Mean().Seconds(),
			P50: t.Quantile(0.5).Seconds(), P90: t.Quantile(0.9).Seconds(), P99: t.Quantile(0.99).Seconds(), P999: t.Quantile(0.999).Seconds(),
		})
	}
	return list
}
