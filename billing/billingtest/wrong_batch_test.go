package billingtest_test

import (
	"context"
	"errors"
	"strings"

	"github.com/radpool/radpool/billing"
)

var batchFaults = []fault{
	{"answers move up by one", "batch-authorize", "AuthorizeBatch", func(w *wrong) {
		w.authorizeBatch = func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
			for i := range reqs {
				grants[i], errs[i] = w.Authorize(ctx, reqs[(i+1)%len(reqs)])
			}
		}
	}},
	{"rows come without those of unknown users", "batch-authorize", "AuthorizeBatch", func(w *wrong) {
		w.authorizeBatch = func(_ context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, _ []error) {
			for i, req := range reqs {
				grants[i] = w.subscribers[req.UserName]
			}
		}
	}},
	{"only the first of two requests of one user is answered", "batch-authorize", "AuthorizeBatch", func(w *wrong) {
		w.authorizeBatch = func(_ context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, _ []error) {
			seen := make(map[string]bool)
			for i, req := range reqs {
				if !seen[req.UserName] {
					grants[i] = w.lookup(req.UserName)
				}
				seen[req.UserName] = true
			}
		}
	}},
	{"one error is everybody's", "batch-one-bad", "AuthorizeBatch", func(w *wrong) {
		w.authorizeBatch = func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
			for _, req := range reqs {
				if strings.Contains(req.UserName, "\x00") {
					for i := range errs {
						errs[i] = errBroken
					}
					return
				}
			}
			w.ledger.AuthorizeBatch(ctx, reqs, grants, errs)
		}
	}},
	{"one record that cannot be stored rolls all back", "batch-one-bad", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			for _, rec := range recs {
				if rec.InputOctets > 1<<63-1 {
					for i := range errs {
						errs[i] = errBroken
					}
					return
				}
			}
			w.ledger.AccountBatch(ctx, recs, errs)
		}
	}},
	{"a record that cannot be stored is acknowledged with the rest", "batch-one-bad", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			for i, rec := range recs {
				if rec.InputOctets <= 1<<63-1 {
					errs[i] = w.Account(ctx, rec)
				}
			}
		}
	}},
	{"a batch is cut at ten", "batch-account", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			n := min(10, len(recs))
			w.ledger.AccountBatch(ctx, recs[:n], errs)
		}
	}},
	{"an empty batch is a panic", "batch-account", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			_ = recs[0]
			w.ledger.AccountBatch(ctx, recs, errs)
		}
	}},
	{"one session twice in a statement is an error", "batch-repeated", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			seen := make(map[string]bool)
			for i, rec := range recs {
				if seen[rec.UniqueID] {
					errs[i] = errors.New("ON CONFLICT DO UPDATE command cannot affect row a second time")
					continue
				}
				seen[rec.UniqueID] = true
				errs[i] = w.Account(ctx, rec)
			}
		}
	}},
	{"of one session's records in a batch the last is kept", "batch-repeated", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			last := make(map[string]int)
			for i, rec := range recs {
				last[rec.UniqueID] = i
			}
			for _, i := range last {
				errs[i] = w.Account(ctx, recs[i])
			}
		}
	}},
	{"a cancelled batch is acknowledged", "batch-cancelled", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			if ctx.Err() == nil {
				w.ledger.AccountBatch(ctx, recs, errs)
			}
		}
	}},
	{"a cancelled batch found nobody", "batch-cancelled", "AuthorizeBatch", func(w *wrong) {
		w.authorizeBatch = func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
			if ctx.Err() != nil {
				for i := range grants {
					grants[i].Reason = billing.ReasonUnknownUser
				}
				return
			}
			w.ledger.AuthorizeBatch(ctx, reqs, grants, errs)
		}
	}},
	{"batches share a variable", "concurrent", "AuthorizeBatch", func(w *wrong) {
		var last []*billing.AccessRequest
		w.authorizeBatch = func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
			w.mu.Lock()
			last = reqs
			w.mu.Unlock()
			w.meet()
			w.mu.Lock()
			reqs = last
			w.mu.Unlock()
			w.ledger.AuthorizeBatch(ctx, reqs, grants, errs)
		}
	}},
	{"it sorts the batch in place", "arguments", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			if len(recs) > 1 && recs[0].SessionID > recs[1].SessionID {
				recs[0], recs[1] = recs[1], recs[0]
			}
			w.ledger.AccountBatch(ctx, recs, errs)
		}
	}},
	{"it keeps the records of a batch for later", "memory", "AccountBatch", func(w *wrong) {
		var waiting []billing.AccountingRecord
		w.accountBatch = func(_ context.Context, recs []*billing.AccountingRecord, _ []error) {
			for i := range waiting {
				w.disk.sessions[waiting[i].UniqueID].Class = string(waiting[i].Class)
			}
			for _, rec := range recs {
				w.disk.store(rec)
				waiting = append(waiting, *rec)
			}
		}
	}},
}
