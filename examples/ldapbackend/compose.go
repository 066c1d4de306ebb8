package main

import (
	"context"

	"github.com/radpool/radpool/billing"
)

// An authorizer is the half of a billing.Handler that knows subscribers.
type authorizer interface {
	Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error)
}

// A batchAuthorizer is the same half of a billing.BatchHandler.
type batchAuthorizer interface {
	AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error)
}

// compose makes one billing.Handler of two: subscribers are looked up in one place,
// and accounting is kept in another. It is a billing.BatchHandler if both are.
func compose(subscribers authorizer, accounting billing.Handler) billing.Handler {
	h := split{subscribers, accounting}
	reads, ok := subscribers.(batchAuthorizer)
	writes, too := accounting.(billing.BatchHandler)
	if !ok || !too {
		return h
	}
	return batchSplit{h, reads, writes}
}

type split struct {
	authorizer
	accounting billing.Handler
}

func (s split) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	return s.accounting.Account(ctx, rec)
}

type batchSplit struct {
	split
	batchAuthorizer
	writes billing.BatchHandler
}

func (s batchSplit) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	s.writes.AccountBatch(ctx, recs, errs)
}
