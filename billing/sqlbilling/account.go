package sqlbilling

import (
	"context"
	"fmt"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
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

// AccountBatch is Account for each of recs, in as few transactions as it takes.
func (b *Backend) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	b.writer.SubmitEach(ctx, errs[:len(recs)], func(i int) (acct.Record, bool, error) {
		rec := recs[i]
		if !acct.Kept(rec.Status) {
			b.stats.ignored.Add(1)
			return acct.Record{}, false, nil
		}
		r, err := acct.Read(rec, b.nameInDB(rec.UserName))
		if err != nil {
			b.stats.failed.Add(1)
			return acct.Record{}, false, group.Refused(fmt.Errorf("sqlbilling: accounting record: %w", err))
		}
		return r, true, nil
	})
}
