package main

import (
	"context"

	"github.com/radpool/radpool/billing"
)

// backend is a billing.BatchHandler. Its Memory has the users, and merges the records of a
// session whatever their order; its log outlives the process.
type backend struct {
	*billing.Memory // which has Authorize
	log             *recordLog
}

func (b *backend) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	billing.AuthorizeAll(ctx, b.Memory, reqs, grants, errs) // one by one: nothing is to be gained in memory
}

func (b *backend) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	var errs [1]error
	b.AccountBatch(ctx, []*billing.AccountingRecord{rec}, errs[:])
	return errs[0]
}

// AccountBatch asks Memory first, which may refuse. If the log then fails, Memory is ahead of it
// by records that the NAS sends again, since they were not acknowledged.
func (b *backend) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	var lines []byte
	for i, rec := range recs {
		if errs[i] = b.Memory.Account(ctx, rec); errs[i] == nil {
			lines = appendLine(lines, rec)
		}
	}
	if lines == nil {
		return
	}
	if err := b.log.append(ctx, lines); err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
}

// recall takes a line of the log back into Memory.
func (b *backend) recall(line []byte) error {
	rec, err := parseLine(line)
	if err != nil {
		return err
	}
	return b.Memory.Account(context.Background(), rec)
}
