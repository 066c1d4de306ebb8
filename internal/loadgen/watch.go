package loadgen

import "time"

// watch takes the samples until the lanes have ended.
func (r *run) watch(ended <-chan struct{}) {
	ticker := time.NewTicker(r.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.sample(r.now())
		case <-ended:
			last := r.sampled
			for _, d := range r.drivers {
				last = max(last, d.lane.lastDone)
			}
			if now := r.now(); last == r.sampled && now > last {
				last = now // what was counted since belongs to some time
			}
			r.sample(last)
			return
		}
	}
}

// sample sums up the lanes since the last time.
func (r *run) sample(now time.Duration) {
	s := Sample{At: now, Span: now - r.sampled, Offered: r.Profile.At(now)}
	var sum Counters
	recent := r.recent
	recent.Reset()
	for _, d := range r.drivers {
		d.mu.Lock()
		sum.add(&d.lane.counters)
		recent.Merge(&d.lane.recent)
		d.lane.recent.Reset()
		s.InFlight += d.lane.inFlight()
		s.Behind = max(s.Behind, d.lane.behind)
		d.mu.Unlock()
	}
	s.Counters = sum.minus(&r.sum)
	s.Latency = latencyOf(recent)
	r.total.Merge(recent)
	r.sum, r.sampled = sum, now
	if s.Counters == (Counters{}) && s.Span == 0 {
		return
	}
	switch n := len(r.samples); {
	case n > 0 && s.Span < r.Every/4: // a rest at the end, too short for a rate
		r.samples[n-1].Join(&s)
	case n < MaxSamples:
		r.samples = append(r.samples, s)
	}
	if r.observe != nil {
		r.observe(s)
	}
}

func (r *run) result(stopped bool) *Result {
	result := &Result{
		Sockets: len(r.drivers), Stopped: stopped, Counters: r.sum, Latency: latencyOf(&r.total), Samples: r.samples,
	}
	for _, d := range r.drivers {
		result.Elapsed = max(result.Elapsed, d.lane.lastAnswer)
		if n, ok := d.conn.Drops(); ok {
			result.SocketDrops += n
		}
	}
	return result
}
