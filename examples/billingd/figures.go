package main

import (
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	"github.com/radpool/radpool/radpool/status"
)

// figureList makes the figures of one group.
type figureList struct {
	group string
	list  []status.Figure
}

func (l *figureList) count(name string, n uint64) {
	l.add(status.Figure{Name: name, Value: float64(n)})
}

func (l *figureList) add(f status.Figure) {
	f.Group = l.group
	l.list = append(l.list, f)
}

// decisions are what the Processor has decided.
func decisions(st billing.Stats) []status.Figure {
	l := figureList{group: "Decisions"}
	l.count("accepted", st.Accepted)
	l.count("accepted, restricted", st.Restricted)
	for reason, n := range st.Rejected {
		if n > 0 {
			l.count("rejected: "+billing.Reason(reason).String(), n)
		}
	}
	l.count("no decision: the database failed", st.AuthorizeErrors)
	l.count("accounting stored", st.Stored)
	l.count("accounting not stored", st.AccountErrors)
	l.count("accounting that is malformed", st.Discarded)
	return l.list
}

// common are what both schemas count.
func common(st ledger.Stats) *figureList {
	l := &figureList{group: "Database"}
	l.count("Access-Requests answered", st.Authorized)
	l.count("statements for them", st.Queries)
	l.count("not answered", st.Unanswered)
	l.count("records that are durable", st.Records)
	l.count("commits for them", st.Groups)
	l.count("records that wait", uint64(max(st.Pending, 0)))
	l.count("commits tried again", st.Retries)
	l.count("records not written", st.Failed)
	l.count("records refused, too many wait", st.Overloaded)
	return l
}

func standardFigures(st sqlbilling.Stats) []status.Figure {
	l := common(ledger.Stats{
		Authorized: st.Authorized, Queries: st.Queries, Unanswered: st.Unanswered, Records: st.Records, Groups: st.Groups,
		Pending: st.Pending, Retries: st.Retries, Failed: st.Failed, Overloaded: st.Overloaded,
	})
	l.count("radpostauth rows written", st.PostAuthWritten)
	l.count("radpostauth rows lost", st.PostAuthDropped+st.PostAuthFailed)
	return l.list
}

func ledgerFigures(st ledger.Stats) []status.Figure { return common(st).list }

func journalFigures(st journal.Stats, now time.Time) []status.Figure {
	l := figureList{group: "Journal"}
	away := func(name string, is bool, alert string) {
		f := status.Figure{Name: name}
		if is {
			f.Value, f.Alert = 1, alert
		}
		l.add(f)
	}
	away("database away for Access-Requests", st.AccessAway, "The database does not answer Access-Requests.")
	away("database away for accounting", st.AccountAway, "The database does not store accounting: the journal keeps it.")
	l.count("absences", st.Absences)
	l.count("records that wait", uint64(max(st.Queued, 0)))
	oldest := 0.0
	if !st.Oldest.IsZero() {
		oldest = now.Sub(st.Oldest).Seconds()
	}
	l.add(status.Figure{Name: "oldest of them", Value: oldest, Unit: status.Seconds})
	l.add(status.Figure{Name: "size of them", Value: float64(st.QueuedOctets), Unit: status.Octets})
	parked := status.Figure{Name: "records put aside", Value: float64(st.Parked)}
	if st.Parked > 0 {
		parked.Alert = "The database refuses accounting records, which were put aside (-retry-parked)."
	}
	l.add(parked)
	l.count("records kept", st.Journaled)
	l.count("records stored from there", st.Replayed)
	l.count("records with no room", st.Full)
	l.count("let in with their last grant", st.Remembered)
	return l.list
}
