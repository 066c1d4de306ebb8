package journal

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
)

// retryDelay is the time from the first to the second attempt at a record, doubled
// for each that follows, and the time after an error of the file.
const retryDelay = time.Second

// forever is longer than anybody waits.
const forever = time.Duration(math.MaxInt64)

// An entry is a record of the file while it is replayed.
type entry struct {
	row
	rec  *billing.AccountingRecord
	keys keys
	err  error // of the back end
}

// A replay gives what is in the journal to the back end. It belongs to one
// goroutine.
type replay struct {
	j        *Journal
	size     int // of a batch: halved when one fails, doubled when one passes
	suspects suspects
	pace     pace
	replayed uint64 // since the journal was empty
}

func newReplay(j *Journal) *replay {
	return &replay{j: j, size: j.o.MaxBatch, suspects: make(suspects), pace: pace{rate: j.o.ReplayRate}}
}

// run replays until ctx is done.
func (r *replay) run(ctx context.Context) {
	defer close(r.j.replayed)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.j.more:
		case <-timer.C:
		}
		if wait := r.turn(ctx); wait < forever {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
	}
}

// turn does what there is to do now, and returns when to come again at the latest.
func (r *replay) turn(ctx context.Context) time.Duration {
	j, now := r.j, time.Now()
	probe, ok := false, false
	j.mu.Lock()
	records := j.queue.records
	if records > 0 {
		probe, ok = j.account.Allow(now)
	}
	next := j.account.Next()
	j.mu.Unlock()
	var err error
	wait := forever
	switch {
	case records == 0:
		err = r.empty(ctx)
	case !ok && next.After(now):
		return next.Sub(now)
	case !ok: // as many probes as may be are under way
		return j.o.ProbeInterval
	case probe:
		err, wait = r.probe(ctx, now), 0 // after that the breaker says when
	default:
		wait, err = r.pass(ctx)
	}
	if err == nil || ctx.Err() != nil {
		return wait
	}
	j.stats.errors.Add(1)
	j.complain("journal: what it has cannot be replayed", err)
	return retryDelay
}

// empty tidies up when everything is replayed.
func (r *replay) empty(ctx context.Context) error {
	if r.replayed == 0 {
		return nil
	}
	r.j.o.Logger.Info("journal: empty again", zap.Uint64("replayed", r.replayed))
	r.replayed = 0
	clear(r.suspects)
	return r.j.file.shrink(ctx)
}

// probe asks an absent back end to store one of the records that may be stored
// first, whichever: one of them might be one that no back end takes.
func (r *replay) probe(ctx context.Context, now time.Time) error {
	c := r.j.newCall(ctx, now, &r.j.account, true, r.j.o.Timeout)
	defer c.end()
	list, err := r.read(ctx, math.MinInt64, r.j.o.MaxBatch)
	if err != nil || len(list) == 0 {
		return err
	}
	first := inWaves(list)[0]
	e := first[rand.IntN(len(first))]
	r.j.sendOne(c.ctx, e)
	c.judge(e.err, billing.ErrRecord)
	c.end()
	if e.err != nil {
		return nil
	}
	return r.remove([]*entry{e})
}

// pass goes through the file once, from the oldest record to what was the newest
// when it began. It returns how long the next pass may wait.
func (r *replay) pass(ctx context.Context) (wait time.Duration, err error) {
	r.j.mu.Lock()
	end := r.j.queue.seq
	r.j.mu.Unlock()
	p := &pass{replay: r, left: newWaiting()}
	for after := int64(math.MinInt64); after < end && !p.away; {
		list, err := r.read(ctx, after, r.size)
		if err != nil {
			return 0, err
		}
		if len(list) == 0 {
			break
		}
		after = list[len(list)-1].seq
		for _, wave := range inWaves(list) {
			if err := p.store(ctx, wave); err != nil {
				return 0, err
			}
		}
	}
	if p.away || p.stored > 0 {
		return 0, nil
	}
	return retryDelay, nil
}

// read decodes up to limit records after the one with seq after. Those that cannot
// be decoded are parked.
func (r *replay) read(ctx context.Context, after int64, limit int) ([]*entry, error) {
	for {
		rows, err := r.j.file.read(ctx, after, limit)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		list := make([]*entry, 0, len(rows))
		for i := range rows {
			e := &entry{row: rows[i]}
			if e.rec, e.err = decodeRecord(e.data); e.err == nil {
				e.keys = r.j.hash.keys(e.rec)
				list = append(list, e)
				continue
			}
			e.rec = new(billing.AccountingRecord)
			if err := r.park(e); err != nil && !errors.Is(err, errParkedFull) {
				return nil, err
			}
			r.j.mu.Lock()
			r.j.queue.stale = true // what it waited for is not known
			r.j.mu.Unlock()
		}
		if len(list) > 0 {
			return list, nil
		}
		after = rows[len(rows)-1].seq
	}
}

// inWaves cuts a list into groups that may be stored one after the other.
func inWaves(list []*entry) [][]*entry {
	all := make([]keys, len(list))
	for i, e := range list {
		all[i] = e.keys
	}
	var groups [][]*entry
	for i, n := range waves(all) {
		for n >= len(groups) {
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], list[i])
	}
	return groups
}

// remove takes out of the journal what the back end has stored.
func (r *replay) remove(list []*entry) error {
	if len(list) == 0 {
		return nil
	}
	b := &job{done: make(chan struct{})}
	for _, e := range list {
		b.change.remove = append(b.change.remove, e.seq)
	}
	if err := r.j.submit(b); err != nil {
		return err
	}
	for _, e := range list {
		delete(r.suspects, e.seq)
	}
	r.replayed += uint64(len(list))
	r.j.stats.replayed.Add(uint64(len(list)))
	r.j.removed(list)
	return nil
}

// park puts a record aside, with its error.
func (r *replay) park(e *entry) error {
	b := &job{done: make(chan struct{}), change: change{
		remove: []int64{e.seq}, park: []parking{{time.Now(), e.err.Error(), e.data}},
	}}
	if err := r.j.submit(b); err != nil {
		return err
	}
	delete(r.suspects, e.seq)
	r.j.removed([]*entry{e})
	r.j.parkedOne(e.rec, e.err)
	return nil
}

// removed counts what has left the queue.
func (j *Journal) removed(list []*entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	q := &j.queue
	for _, e := range list {
		q.waiting.remove(e.keys)
		q.records--
		q.octets -= cost(e.data)
	}
	if q.records == 0 && q.stale {
		q.waiting, q.stale = newWaiting(), false
	}
}
