package coa

import "github.com/radpool/radpool/radpool/metrics"

// Metrics has what Stats counts, for monitoring systems.
func (c *Controller) Metrics() metrics.Source { return Metrics(c.Stats) }

// Metrics has what stats returns, for monitoring systems: for a Controller that is
// started later than they begin to ask. stats is called by several goroutines at once.
func Metrics(stats func() Stats) metrics.Source {
	return metrics.New(stats,
		metrics.Count("radpool_coa_looks_total", "Questions to the store for what is to be changed.", func(s *Stats) uint64 { return s.Looks }),
		metrics.Counts("radpool_coa_requests_total", "CoA-Requests and Disconnect-Requests that were sent, by how they ended.", []string{"outcome"}, func(s *Stats, add func(uint64, ...string)) {
			add(s.Changes, "coa-ack")
			add(s.Disconnects, "disconnect-ack")
			add(s.Refused, "nak")
			add(s.NotFound, "not-found")
			add(s.Silence, "silence")
			add(s.Unreachable, "unreachable")
		}),
		metrics.Count("radpool_coa_deferred_total", "Requests that were put off, since their NAS had just been silent.", func(s *Stats) uint64 { return s.Deferred }),
		metrics.Count("radpool_coa_late_total", "Claims that another server was faster with, or whose session ended.", func(s *Stats) uint64 { return s.Late }),
		metrics.Count("radpool_coa_overflowed_total", "Wakes that were left to the next sweep.", func(s *Stats) uint64 { return s.Overflowed }),
		metrics.Count("radpool_coa_store_errors_total", "Errors of the store.", func(s *Stats) uint64 { return s.Failed }),
		metrics.Level("radpool_coa_waiting_users", "Users that wait to be looked at.", func(s *Stats) float64 { return float64(s.Waiting) }),
	)
}
