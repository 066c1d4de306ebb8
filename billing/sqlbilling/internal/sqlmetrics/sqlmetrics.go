// Package sqlmetrics has the metrics that are the same for every schema.
package sqlmetrics

import "github.com/radpool/radpool/radpool/metrics"

// Stats are what the back ends of all schemas count.
type Stats struct {
	Authorized, Queries, Unanswered                                        uint64
	Records, Groups, Rows, Retries, Failed, Overloaded, Ignored, Abandoned uint64
	Pending                                                                int
	PostAuthWritten, PostAuthDropped, PostAuthFailed                       uint64
}

// Source has the metrics of stats.
func Source(stats func() Stats) metrics.Source {
	return metrics.New(stats,
		metrics.Count("radpool_sql_authorized_total", "Access-Requests that the database answered.", func(s *Stats) uint64 { return s.Authorized }),
		metrics.Count("radpool_sql_queries_total", "Statements that this took.", func(s *Stats) uint64 { return s.Queries }),
		metrics.Count("radpool_sql_unanswered_total", "Access-Requests that ended in an error.", func(s *Stats) uint64 { return s.Unanswered }),
		metrics.Counts("radpool_sql_records_total", "Accounting records by what became of them.", []string{"outcome"}, func(s *Stats, add func(uint64, ...string)) {
			add(s.Records, "stored")
			add(s.Failed, "failed")
			add(s.Overloaded, "overloaded")
			add(s.Ignored, "ignored")
			add(s.Abandoned, "abandoned")
		}),
		metrics.Level("radpool_sql_pending_records", "Accounting records that wait to be written.", func(s *Stats) float64 { return float64(s.Pending) }),
		metrics.Count("radpool_sql_commits_total", "Transactions with accounting that were committed.", func(s *Stats) uint64 { return s.Groups }),
		metrics.Count("radpool_sql_rows_total", "Rows of sessions that were inserted or changed.", func(s *Stats) uint64 { return s.Rows }),
		metrics.Count("radpool_sql_retries_total", "Transactions that were tried again, since the database was busy.", func(s *Stats) uint64 { return s.Retries }),
		metrics.Counts("radpool_sql_postauth_total", "Rows that say how authentications ended, by what became of them.", []string{"outcome"}, func(s *Stats, add func(uint64, ...string)) {
			add(s.PostAuthWritten, "written")
			add(s.PostAuthDropped, "dropped")
			add(s.PostAuthFailed, "failed")
		}),
	)
}
