package journal

import (
	"context"
	"errors"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/breaker"
)

// maxRetryDelay is the longest time between two attempts at a record.
const maxRetryDelay = time.Minute

// maxAlone is how many records in a row that failed before may fail once more until
// the others have their turn.
const maxAlone = 3

// A suspect is a record that has failed, and may be the one to blame. It is tried
// alone, so that others do not fail with it.
type suspect struct {
	failures  int       // of it without a batch, whoever was to blame
	tries     int       // those for which it was
	notBefore time.Time // it is tried again: later each time, or the first ones would be all that is ever tried
	passes    uint64    // of the Journal, when it failed last
}

// suspects are those in the journal, by seq.
type suspects map[int64]*suspect

// met notes that a whole batch has failed with the record in it, which is no reason to
// wait.
func (s suspects) met(seq int64, passes uint64) {
	if s[seq] == nil {
		s[seq] = &suspect{passes: passes}
	}
}

// failed notes that the record with seq has failed, with passes records stored until
// now. It is to blame if it was refused, or if others have passed since it failed
// before; tries is how often it was.
func (s suspects) failed(seq int64, now time.Time, passes uint64, refused bool) (blamed bool, tries int) {
	x := s[seq]
	if x == nil {
		x = &suspect{passes: passes}
		s[seq] = x
	}
	if blamed = refused || passes > x.passes; blamed {
		x.tries++
	}
	x.failures++
	x.notBefore, x.passes = now.Add(min(retryDelay<<min(x.failures-1, 10), maxRetryDelay)), passes
	return blamed, x.tries
}

// A pace bounds a rate. It has no clock.
type pace struct {
	rate int // a second
	next time.Time
}

// wait returns how long to wait before n more.
func (p *pace) wait(now time.Time, n int) time.Duration {
	if p.next.Before(now) {
		p.next = now
	}
	d := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(n) * time.Second / time.Duration(p.rate))
	return d
}

// A pass is one way through the file.
type pass struct {
	*replay
	left   waiting // what was left in the file: what must be behind it is left as well
	alone  int     // suspects in a row that failed
	stored int
	away   bool // the back end is
}

// store gives records to the back end, whose order does not matter, and removes what
// it has stored.
func (p *pass) store(ctx context.Context, wave []*entry) error {
	var fresh, alone, tried []*entry
	now := time.Now()
	for _, e := range wave {
		s := p.suspects[e.seq]
		switch {
		case p.away || p.left.before(e.keys) || s != nil && now.Before(s.notBefore):
			p.left.add(e.keys)
		case s != nil:
			alone = append(alone, e)
		default:
			fresh = append(fresh, e)
		}
	}
	if len(fresh) > 0 {
		if err := p.sleep(ctx, len(fresh)); err != nil {
			return err
		}
		p.storeFresh(ctx, fresh)
		tried = append(tried, fresh...)
	}
	for _, e := range alone {
		if p.away || p.alone >= maxAlone {
			p.left.add(e.keys)
			continue
		}
		if err := p.sleep(ctx, 1); err != nil {
			return err
		}
		p.storeAlone(ctx, e)
		tried = append(tried, e)
	}
	return p.settle(ctx, tried)
}

// sleep keeps the pace.
func (p *pass) sleep(ctx context.Context, n int) error {
	d := p.pace.wait(time.Now(), n)
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// storeFresh gives records to the back end of which nothing bad is known.
func (p *pass) storeFresh(ctx context.Context, list []*entry) {
	j := p.j
	c := j.newCall(ctx, time.Now(), &j.account, false, 5*j.o.Timeout)
	defer c.end()
	j.send(&c, list)
	for _, e := range list {
		c.judge(e.err, billing.ErrRecord)
	}
	c.end()
	switch c.outcome {
	case breaker.Passed:
		p.size = min(2*p.size, j.o.MaxBatch)
	case breaker.Failed:
		p.size = max(p.size/2, 1)
		p.away = true
		j.gone(c.err)
	}
}

// storeAlone gives a suspect to the back end. If it fails again that says nothing of
// the back end.
func (p *pass) storeAlone(ctx context.Context, e *entry) {
	j := p.j
	c := j.newCall(ctx, time.Now(), &j.account, false, j.o.Timeout)
	defer c.end()
	j.sendOne(c.ctx, e)
	c.judge(e.err, billing.ErrRecord)
	if c.outcome == breaker.Failed {
		c.outcome = breaker.Unknown
		p.alone++
	} else {
		p.alone = 0
	}
}

// settle removes what was stored, and deals with what was not.
func (p *pass) settle(ctx context.Context, tried []*entry) error {
	stored, others := []*entry(nil), []*entry(nil)
	for _, e := range tried {
		if e.err == nil {
			stored = append(stored, e)
		} else {
			others = append(others, e)
		}
	}
	p.stored += len(stored)
	if err := p.remove(stored); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err()) // then the errors say nothing
	}
	for _, e := range others {
		gone, err := p.refused(e, len(stored) > 0)
		if err != nil {
			return err
		}
		if !gone {
			p.left.add(e.keys)
		}
	}
	return nil
}

// refused deals with a record that was not stored. If some is true others were. It
// reports whether the record has left the queue.
func (p *pass) refused(e *entry, some bool) (gone bool, err error) {
	switch {
	case errors.Is(e.err, errNotTried):
		return false, nil
	case p.away:
		p.suspects.met(e.seq, p.j.passes.Load())
		return false, nil
	}
	blamed, tries := p.suspects.failed(e.seq, time.Now(), p.j.passes.Load(), some || errors.Is(e.err, billing.ErrRecord))
	if blamed {
		p.j.stats.refused.Add(1)
	}
	if tries < p.j.o.Tries {
		return false, nil
	}
	if err := p.park(e); err != nil {
		if errors.Is(err, errParkedFull) {
			err = nil // it waits until there is room
		}
		return false, err
	}
	return true, nil
}
