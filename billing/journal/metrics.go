package journal

import (
	"time"

	"github.com/radpool/radpool/radpool/metrics"
)

// Metrics has what Stats says, for monitoring systems.
func (j *Journal) Metrics() metrics.Source {
	return metrics.New(j.Stats,
		metrics.Level("radpool_journal_queued_records", "Accounting records that wait to be replayed.", func(s *Stats) float64 { return float64(s.Queued) }),
		metrics.Level("radpool_journal_queued_bytes", "Octets of those.", func(s *Stats) float64 { return float64(s.QueuedOctets) }),
		metrics.Level("radpool_journal_oldest_seconds", "How long the first of those in the file has waited.", func(s *Stats) float64 {
			if s.Oldest.IsZero() {
				return 0
			}
			return max(time.Since(s.Oldest).Seconds(), 0)
		}),
		metrics.Level("radpool_journal_parked_records", "Records that are put aside, since the back end refuses them.", func(s *Stats) float64 { return float64(s.Parked) }),
		metrics.Counts("radpool_journal_records_total", "Records that were written to the file, replayed from it, put aside, and not answered since it was full.", []string{"event"}, func(s *Stats, add func(uint64, ...string)) {
			add(s.Journaled, "journaled")
			add(s.Replayed, "replayed")
			add(s.Parkings, "parked")
			add(s.Full, "full")
		}),
		metrics.Count("radpool_journal_refused_total", "Attempts to replay that failed while others were stored.", func(s *Stats) uint64 { return s.Refused }),
		metrics.Count("radpool_journal_errors_total", "Transactions and reads of the file that failed.", func(s *Stats) uint64 { return s.Errors }),
		metrics.Levels("radpool_journal_backend_away", "1 while the back end is away.", []string{"request"}, func(s *Stats, add func(float64, ...string)) {
			for request, away := range map[string]bool{"access": s.AccessAway, "accounting": s.AccountAway} {
				if away {
					add(1, request)
				} else {
					add(0, request)
				}
			}
		}),
		metrics.Count("radpool_journal_absences_total", "Times that the back end was found to be away.", func(s *Stats) uint64 { return s.Absences }),
		metrics.Count("radpool_journal_remembered_total", "Access-Requests that were answered with the last good Grant.", func(s *Stats) uint64 { return s.Remembered }),
		metrics.Count("radpool_journal_unanswered_total", "Access-Requests that were not answered, since the back end could not.", func(s *Stats) uint64 { return s.Unanswered }),
		metrics.Level("radpool_journal_grants", "Grants that are remembered now.", func(s *Stats) float64 { return float64(s.Grants) }),
	)
}
