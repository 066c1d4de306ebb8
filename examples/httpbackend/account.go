package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/radpool/radpool/billing"
)

// Account implements billing.Handler.
func (r *remote) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	errs := make([]error, 1)
	r.AccountBatch(ctx, []*billing.AccountingRecord{rec}, errs)
	return errs[0]
}

// AccountBatch implements billing.BatchHandler: one POST for all.
func (r *remote) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	for len(recs) > 0 {
		n := min(len(recs), maxBatch)
		r.account(ctx, recs[:n], errs[:n])
		recs, errs = recs[n:], errs[n:]
	}
}

func (r *remote) account(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	var (
		out accountRequest
		in  accountResponse
	)
	for _, rec := range recs {
		out.Records = append(out.Records, message(rec))
	}
	err := r.post(ctx, "/account", out, &in)
	if err == nil && len(in.Results) != len(recs) {
		err = fmt.Errorf("POST /account: %d results to %d records", len(in.Results), len(recs))
	}
	for i := range recs {
		if err != nil {
			errs[i] = err
			continue
		}
		errs[i] = in.Results[i].error()
	}
}

// error is nil only where the remote says that the record is durable, and nothing else.
func (res result) error() error {
	switch {
	case res.Refuse != "":
		return fmt.Errorf("%w: the remote says %s", billing.ErrRecord, told(res.Refuse))
	case res.Error != "":
		return fmt.Errorf("the remote says %s", told(res.Error))
	case !res.OK:
		return errors.New(`the remote says neither "ok": true nor what is wrong`)
	}
	return nil
}
