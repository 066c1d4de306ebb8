package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/radpool/radpool/billing"
)

// Account gives the record to the back end, or writes it to the journal where that
// is away or where an older record of the session waits.
func (h handler) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	recs, errs, kept := [1]*billing.AccountingRecord{rec}, [1]error{}, [1]bool{}
	c, err := h.j.route(ctx, recs[:], kept[:])
	switch {
	case err != nil:
		return err
	case !kept[0]:
		errs[0] = h.j.storeOne(&c, rec)
	}
	h.j.keep(ctx, recs[:], errs[:], kept[:])
	return errs[0]
}

// AccountBatch is Account for each of recs, with one call of the back end and one
// write to the journal.
func (h batchHandler) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	kept := make([]bool, len(recs))
	c, err := h.j.route(ctx, recs, kept)
	switch {
	case err != nil:
		for i := range recs {
			errs[i] = err
		}
		return
	case slices.Contains(kept, false):
		h.j.storeBatch(&c, recs, errs, kept)
	}
	h.j.keep(ctx, recs, errs, kept)
}

// unroute undoes route for records that will not be kept after all.
func (j *Journal) unroute(recs []*billing.AccountingRecord, kept []bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, rec := range recs {
		if kept[i] {
			j.queue.waiting.remove(j.hash.keys(rec))
		}
	}
}

// route decides which records are for the journal, and counts these as waiting. The
// call is for the others, if there are any. An error is of all of them.
func (j *Journal) route(ctx context.Context, recs []*billing.AccountingRecord, kept []bool) (c call, err error) {
	now := time.Now()
	limit := j.o.Timeout
	if deadline, ok := ctx.Deadline(); ok && j.file != nil { // which wants its time as well
		limit = min(limit, deadline.Sub(now)/2)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return call{}, ErrClosed
	}
	asked, allowed := false, false
	for i, rec := range recs {
		k := j.hash.keys(rec)
		if j.file != nil && j.queue.waiting.before(k) {
			j.queue.waiting.add(k)
			kept[i] = true
			continue
		}
		if !asked {
			asked = true
			var probe bool
			if probe, allowed = j.account.Allow(now); allowed {
				c = j.newCall(ctx, now, &j.account, probe, limit)
				c.short = c.short || limit < j.o.Timeout
			}
		}
		switch {
		case allowed:
		case j.file == nil:
			return call{}, j.account.refusal()
		default:
			j.queue.waiting.add(k)
			kept[i] = true
		}
	}
	return c, nil
}

// storeOne asks the back end to store a record.
func (j *Journal) storeOne(c *call, rec *billing.AccountingRecord) error {
	defer c.end()
	err := j.backend.Account(c.ctx, rec)
	c.judge(err, billing.ErrRecord)
	if err == nil {
		j.passes.Add(1)
	}
	return err
}

// storeBatch asks the back end to store those that are not kept.
func (j *Journal) storeBatch(c *call, recs []*billing.AccountingRecord, errs []error, kept []bool) {
	returned := false
	defer func() {
		c.end()
		if !returned { // it panics, and those that are kept are lost with the others
			j.unroute(recs, kept)
		}
	}()
	live, whose := recs, []int(nil)
	if slices.Contains(kept, true) {
		live = nil
		for i, rec := range recs {
			if !kept[i] {
				live, whose = append(live, rec), append(whose, i)
			}
		}
	}
	result := make([]error, len(live))
	j.batch.AccountBatch(c.ctx, live, result)
	returned = true
	for k, err := range result {
		c.judge(err, billing.ErrRecord)
		if err == nil {
			j.passes.Add(1)
		}
		i := k
		if whose != nil {
			i = whose[k]
		}
		errs[i] = err
	}
}

// keep writes to the journal what is kept, and what the back end has failed to
// store, whose errors these are. Records that the back end refuses are parked.
func (j *Journal) keep(ctx context.Context, recs []*billing.AccountingRecord, errs []error, kept []bool) {
	var (
		add   []queued
		whose []int
	)
	for i, rec := range recs {
		switch err := errs[i]; {
		case !kept[i] && (err == nil || j.file == nil || ctx.Err() != nil):
			continue
		case !kept[i] && errors.Is(err, billing.ErrRecord):
			errs[i] = j.park(ctx, rec, err)
			continue
		}
		q := queued{encode(rec), j.hash.keys(rec)}
		tooLarge := len(q.data) > maxRecord
		j.mu.Lock()
		switch {
		case tooLarge && kept[i]:
			j.queue.waiting.remove(q.keys)
		case !tooLarge && !kept[i]:
			j.queue.waiting.add(q.keys)
		}
		j.mu.Unlock()
		if tooLarge {
			errs[i] = fmt.Errorf("journal: %w: it has %d octets, and %d are the most", billing.ErrRecord, len(q.data), maxRecord)
			continue
		}
		add, whose = append(add, q), append(whose, i)
	}
	if len(add) == 0 {
		return
	}
	err := j.enqueue(ctx, add)
	for _, i := range whose {
		if err != nil && errs[i] != nil {
			errs[i] = fmt.Errorf("%w (and not stored: %w)", err, errs[i])
		} else {
			errs[i] = err
		}
	}
}

// park puts a live record aside that the back end refuses. If it cannot, the error
// is the back end's, refusal.
func (j *Journal) park(ctx context.Context, rec *billing.AccountingRecord, refusal error) error {
	data := encode(rec)
	if len(data) > maxRecord {
		return refusal
	}
	b := &job{ctx: ctx, change: change{park: []parking{{time.Now(), refusal.Error(), data}}}, done: make(chan struct{})}
	if err := j.submit(b); errors.Is(err, errParkedFull) {
		return refusal
	} else if err != nil {
		return fmt.Errorf("%w (and not parked: %w)", refusal, err)
	}
	j.parkedOne(rec, refusal)
	return nil
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// encode is appendRecord in memory of its own, and no more than that.
func encode(rec *billing.AccountingRecord) []byte {
	b := scratch.Get().(*[]byte)
	*b = appendRecord((*b)[:0], rec)
	data := slices.Clone(*b)
	scratch.Put(b)
	return data
}
