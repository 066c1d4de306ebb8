package sqlbilling

import "sync/atomic"

// Stats are counters since Open.
type Stats struct {
	// Access-Requests.
	Authorized uint64 // requests answered with a Grant
	Queries    uint64 // statements that this took
	Unanswered uint64 // requests that ended in an error

	// Accounting. Records / Groups is how many records a commit carried.
	Records    uint64 // records that are durable
	Groups     uint64 // transactions that were committed
	Rows       uint64 // rows that were inserted or updated; less than Records by duplicates and what was coalesced
	Retries    uint64 // transactions that were tried again, since the database was busy
	Failed     uint64 // records that were not written
	Overloaded uint64 // records that were refused, since MaxPending were waiting
	Ignored    uint64 // records of a status that has no place in the schema
	Abandoned  uint64 // records whose callers had gone before they were written
	Cut        uint64 // values that were stored without their end, since the column is too short
	Pending    int    // records that wait now

	// Addresses of radippool.
	Leased       uint64 // requests that got one
	PoolFull     uint64 // requests for which there was none left
	LeaseQueries uint64 // transactions that this took
	LeaseFailed  uint64 // requests that ended in an error

	// radpostauth.
	PostAuthWritten uint64
	PostAuthDropped uint64 // the buffer was full
	PostAuthFailed  uint64 // taken, but not written
}

type counters struct {
	authorized, queries, unanswered atomic.Uint64
	failed, ignored, cut            atomic.Uint64 // failed: before they reached the writer
	leased, poolFull, leaseQueries  atomic.Uint64
}

// Stats returns the counters. Each is exact, though not all are of one moment.
func (b *Backend) Stats() Stats {
	c := &b.stats
	w := b.writer.Counts()
	written, dropped, failed := b.post.Counts()
	s := Stats{
		Authorized: c.authorized.Load(), Queries: c.queries.Load(), Unanswered: c.unanswered.Load(),
		Records: w.Records, Groups: w.Groups, Rows: w.Rows, Retries: w.Retries,
		Failed: c.failed.Load() + w.Failed, Overloaded: w.Overloaded, Ignored: c.ignored.Load(), Abandoned: w.Abandoned,
		Cut: c.cut.Load(), Pending: w.Pending,
		PostAuthWritten: written, PostAuthDropped: dropped, PostAuthFailed: failed,
		Leased: c.leased.Load(), PoolFull: c.poolFull.Load(), LeaseQueries: c.leaseQueries.Load(),
	}
	l := b.leases.Counts()
	s.LeaseFailed = l.Failed + l.Overloaded
	return s
}
