package journal

import (
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
)

// Stats say how a Journal stands, and count what it did since Open.
type Stats struct {
	// The queue, in the file and on its way there.
	Queued       int       // records that wait to be replayed
	QueuedOctets int64     // as MaxOctets counts them
	Oldest       time.Time // when the first of those in the file came; zero: there is none
	Parked       int       // records that are put aside

	Journaled uint64 // records that were written to the file and acknowledged
	Replayed  uint64 // records that the back end has stored from there
	Refused   uint64 // attempts to replay that failed while others were stored
	Parkings  uint64 // records that were put aside since Open
	Full      uint64 // records that were not answered since the journal was full
	Errors    uint64 // transactions and reads of the file that failed

	// The back end.
	AccessAway, AccountAway bool   // it is away now, for Access-Requests and for accounting
	Absences                uint64 // times that it was found to be away

	Remembered uint64 // Access-Requests that were answered with the last good Grant
	Unanswered uint64 // Access-Requests that were not answered, since the back end could not
	Grants     int    // Grants that are remembered now
}

type counters struct {
	journaled, replayed, refused, parkings, full, errors, remembered, unanswered atomic.Uint64
}

// Stats returns how things stand. Each number is exact, though not all are of one
// moment.
func (j *Journal) Stats() Stats {
	c := &j.stats
	s := Stats{
		Journaled: c.journaled.Load(), Replayed: c.replayed.Load(), Refused: c.refused.Load(), Parkings: c.parkings.Load(),
		Full: c.full.Load(), Errors: c.errors.Load(), Remembered: c.remembered.Load(), Unanswered: c.unanswered.Load(),
	}
	if j.last != nil {
		j.memory.Lock()
		s.Grants = j.last.Len()
		j.memory.Unlock()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	q := &j.queue
	s.Queued, s.QueuedOctets, s.Oldest, s.Parked = q.records, q.octets, q.oldest, q.parked
	s.AccessAway, s.AccountAway = j.access.Away(), j.account.Away()
	s.Absences = j.access.Times() + j.account.Times()
	return s
}

// parkedOne counts and logs that a record was put aside.
func (j *Journal) parkedOne(rec *billing.AccountingRecord, reason error) {
	j.stats.parkings.Add(1)
	j.o.Logger.Error("journal: an accounting record is refused and was parked", zap.String("user", rec.UserName),
		zap.String("session", rec.SessionID), zap.Stringer("nas", rec.NASAddr), zap.Stringer("status", rec.Status), zap.Error(reason))
}

// quiet lets one line a second into the log: what fails once mostly fails a thousand
// times, and Stats counts those.
type quiet struct {
	mu   sync.Mutex
	next time.Time // guarded by mu
}

func (q *quiet) allows(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Before(q.next) {
		return false
	}
	q.next = now.Add(time.Second)
	return true
}
