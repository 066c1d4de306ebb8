package radpool

// shedProbability is auto_limit_acct: how likely a request of this class is to
// be dropped while more requests come than are answered, with this many of most
// waiting. For an Interim-Update it rises from 0 at half full to 1 at three
// quarters, for other accounting from there to 1 at full. Nothing else is
// dropped.
func shedProbability(class Class, queued, most int) float64 {
	fill := float64(queued) / float64(most)
	switch class {
	case ClassInterim:
		return max(0, min((fill-0.5)*4, 1))
	case ClassAccounting:
		return max(0, min((fill-0.75)*4, 1))
	}
	return 0
}
