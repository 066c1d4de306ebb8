package ledger

import (
	"github.com/radpool/radpool/billing/sqlbilling/internal/sqlmetrics"
	"github.com/radpool/radpool/radpool/metrics"
)

// Metrics has what Stats counts, for monitoring systems.
func (b *Backend) Metrics() metrics.Source { return Metrics(b.Stats) }

// Metrics has what stats returns, for monitoring systems: for a Backend that is opened
// later than they begin to ask. stats is called by several goroutines at once.
func Metrics(stats func() Stats) metrics.Source {
	common := sqlmetrics.Source(func() sqlmetrics.Stats {
		s := stats()
		return sqlmetrics.Stats{
			Authorized: s.Authorized, Queries: s.Queries, Unanswered: s.Unanswered, Records: s.Records, Groups: s.Groups,
			Rows: s.Rows, Retries: s.Retries, Failed: s.Failed, Overloaded: s.Overloaded, Ignored: s.Ignored,
			Abandoned: s.Abandoned, Pending: s.Pending,
			PostAuthWritten: s.PostAuthWritten, PostAuthDropped: s.PostAuthDropped, PostAuthFailed: s.PostAuthFailed,
		}
	})
	return metrics.Join(common, metrics.New(stats,
		metrics.Count("radpool_sql_confirmed_total", "Sessions that ended after their NAS had confirmed that it ends them.", func(s *Stats) uint64 { return s.Confirmed }),
	))
}
