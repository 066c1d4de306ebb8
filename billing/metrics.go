package billing

import "github.com/radpool/radpool/radpool/metrics"

// Metrics has what Stats counts, for monitoring systems.
func (p *Processor) Metrics() metrics.Source {
	return metrics.New(p.Stats,
		metrics.Counts("radpool_billing_decisions_total", "Access-Requests that were decided.", []string{"decision"}, func(s *Stats, add func(uint64, ...string)) {
			var rejected uint64
			for _, n := range s.Rejected {
				rejected += n
			}
			add(s.Accepted, "accepted")
			add(s.Restricted, "restricted")
			add(rejected, "rejected")
		}),
		metrics.Counts("radpool_billing_rejects_total", "Access-Requests that were rejected, by why.", []string{"reason"}, func(s *Stats, add func(uint64, ...string)) {
			for r := ReasonNone + 1; r < numReasons; r++ {
				add(s.Rejected[r], r.String())
			}
		}),
		metrics.Count("radpool_billing_authorize_errors_total", "Access-Requests for which the back end failed.", func(s *Stats) uint64 { return s.AuthorizeErrors }),
		metrics.Count("radpool_billing_records_stored_total", "Accounting records that are durable.", func(s *Stats) uint64 { return s.Stored }),
		metrics.Count("radpool_billing_account_errors_total", "Accounting records that the back end did not store: no answer.", func(s *Stats) uint64 { return s.AccountErrors }),
		metrics.Count("radpool_billing_records_discarded_total", "Accounting-Requests that lack an attribute or have a malformed one: no answer.", func(s *Stats) uint64 { return s.Discarded }),
		metrics.Count("radpool_billing_requests_ignored_total", "Requests of other codes: no answer.", func(s *Stats) uint64 { return s.Ignored }),
		metrics.Count("radpool_billing_challenges_total", "Access-Challenges.", func(s *Stats) uint64 { return s.Challenged }),
		metrics.Level("radpool_billing_eap_conversations", "EAP conversations that wait for the peer now.", func(s *Stats) float64 { return float64(s.EAPWaiting) }),
		metrics.Counts("radpool_billing_eap_lost_total", "EAP conversations that were not finished, and packets that belong to none.", []string{"cause"}, func(s *Stats, add func(uint64, ...string)) {
			add(s.EAPTimedOut, "timed_out")
			add(s.EAPPushed, "table_full")
			add(s.EAPUnknown, "unknown_state")
			add(s.EAPIgnored, "ignored_packet")
		}),
		metrics.Level("radpool_billing_reservations", "Sessions that are reserved for simultaneous use now.", func(s *Stats) float64 { return float64(s.Reservations) }),
		metrics.Count("radpool_billing_unreserved_total", "Logins let in without a reservation, since there were too many.", func(s *Stats) uint64 { return s.Unreserved }),
	)
}
