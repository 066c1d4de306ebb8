package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/radpool/radpool/billing"
)

const (
	// parallel is how many records a back end without batches gets at once.
	parallel = 16

	// giveUp is after how many failures in a row such a back end gets no more of a
	// batch.
	giveUp = 16
)

// errNotTried is of records that the back end did not get to see.
var errNotTried = errors.New("journal: not tried, since others failed")

// send gives records, whose order does not matter, to the back end, and sets the
// error of each.
func (j *Journal) send(c *call, list []*entry) {
	switch {
	case len(list) == 1:
		j.sendOne(c.ctx, list[0])
	case j.batch != nil:
		j.sendBatch(c.ctx, list)
	default:
		j.sendEach(c.parent, list)
	}
}

// sendOne stores one record. A panic is an error: the goroutine is ours.
func (j *Journal) sendOne(ctx context.Context, e *entry) {
	defer func() {
		if v := recover(); v != nil {
			e.err = panicked(v)
		}
	}()
	if e.err = j.backend.Account(ctx, e.rec); e.err == nil {
		j.passes.Add(1)
	}
}

func (j *Journal) sendBatch(ctx context.Context, list []*entry) {
	recs, errs := make([]*billing.AccountingRecord, len(list)), make([]error, len(list))
	for i, e := range list {
		recs[i] = e.rec
	}
	defer func() {
		v := recover()
		for i, e := range list {
			if e.err = errs[i]; v != nil {
				e.err = panicked(v)
			}
			if e.err == nil {
				j.passes.Add(1)
			}
		}
	}()
	j.batch.AccountBatch(ctx, recs, errs)
}

// sendEach stores records one by one, a few at once, each with the time that one
// may take.
func (j *Journal) sendEach(ctx context.Context, list []*entry) {
	var (
		next, failures atomic.Int64
		wg             sync.WaitGroup
	)
	for range min(parallel, len(list)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				e := list[i]
				if failures.Load() >= giveUp {
					e.err = errNotTried
					continue
				}
				one, cancel := context.WithTimeout(ctx, j.o.Timeout)
				j.sendOne(one, e)
				cancel()
				if e.err == nil {
					failures.Store(0)
				} else {
					failures.Add(1)
				}
			}
		})
	}
	wg.Wait()
}

func panicked(v any) error { return fmt.Errorf("journal: the back end panicked: %v", v) }
