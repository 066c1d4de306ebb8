package sqlbilling

import (
	"context"
	"errors"
	"fmt"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// Account stores a record, and returns nil when it is durable: after the COMMIT of
// the transaction that it shares with whatever else was waiting. When ctx is done
// it returns ctx's error, and whether the record becomes durable is not known.
// The other errors are ErrOverloaded, ErrClosed, one that names the field of the
// record, and the database's; where it is the record that is refused they are
// billing.ErrRecord. A record of a status that has no place in the schema
// is ignored, and counted as such.
func (b *Backend) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	var errs [1]error
	b.AccountBatch(ctx, []*billing.AccountingRecord{rec}, errs[:])
	return errs[0]
}

// AccountBatch is Account for each of recs, in one transaction.
func (b *Backend) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	items := make([]group.Item[item], 0, len(recs))
	place := make([]int, 0, len(recs))
	for i, rec := range recs {
		if !kept(rec.Status) {
			b.stats.ignored.Add(1)
			continue
		}
		it, err := newItem(rec, b.nameInDB(rec.UserName))
		if err != nil {
			errs[i] = group.Refused(fmt.Errorf("sqlbilling: accounting record: %w", err))
			b.stats.failed.Add(1)
			continue
		}
		items = append(items, group.Item[item]{Value: it})
		place = append(place, i)
	}
	if len(items) == 0 {
		return
	}
	if err := b.writer.Submit(ctx, items); err != nil {
		for _, i := range place {
			errs[i] = err
		}
		return // the items may still be the writer's
	}
	for k, i := range place {
		errs[i] = items[k].Err
	}
}

// kept reports whether there is a place for records of this status in the schema.
// Others, of tunnels and the like, are as good as stored: without an answer the NAS
// would send them for ever.
func kept(s billing.StatusType) bool {
	switch s {
	case billing.Start, billing.Stop, billing.InterimUpdate, billing.AccountingOn, billing.AccountingOff:
		return true
	}
	return false
}

// An item is one record on its way to the database, as the session that it tells
// of or the reload.
type item struct {
	session session
	reload  reload // if nas is set
}

// newItem turns a record into what is to be written, with the user's name as the
// database has it.
func newItem(rec *billing.AccountingRecord, user string) (item, error) {
	if rec.Status != billing.AccountingOn && rec.Status != billing.AccountingOff {
		s, err := newSession(rec)
		s.userName = user
		return item{session: s}, err
	}
	r := reload{nas: addrText(rec.NASAddr), at: rec.Time.Unix()}
	switch {
	case r.nas == "":
		return item{}, errors.New("the NASAddr is missing")
	case r.at <= 0:
		return item{}, errors.New("the Time is missing or before 1970")
	}
	return item{reload: r}, nil
}
