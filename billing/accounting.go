package billing

import (
	"context"
	"fmt"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// handleAccounting answers one Accounting-Request.
func (p *Processor) handleAccounting(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	r, ok := p.beginAccounting(req, resp)
	if !ok {
		return
	}
	p.finishAccounting(r, p.Handler.Account(ctx, &r.AccountingRecord), resp)
}

// beginAccounting reads the request. It is false if there is to be no answer.
func (p *Processor) beginAccounting(req *radpool.Request, resp *radpool.Response) (*record, bool) {
	now := time.Now()
	r := readAccounting(req, now)
	resp.SetReason(r)
	if r.problem == "" {
		return r, true
	}
	p.stats.discarded.Add(1)
	p.log.discard(now, r)
	return nil, false
}

// finishAccounting answers if the record is durable.
func (p *Processor) finishAccounting(r *record, err error, resp *radpool.Response) {
	if err != nil {
		p.stats.accountErrors.Add(1)
		resp.Fail(fmt.Errorf("billing: account: %w", err))
		return
	}
	r.stored = true
	p.stats.stored.Add(1)
	p.table.started(&r.AccountingRecord, time.Now())
	resp.Code = radius.CodeAccountingResponse
}
