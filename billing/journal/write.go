package journal

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
)

const (
	// maxGroup is the most records that are written with one sync, but for a job
	// that alone has more.
	maxGroup = 1024

	// maxPending is the most records that wait to be written. Each belongs to a
	// caller that waits for it, unless the disk hangs.
	maxPending = 65536
)

// errParkedFull is that MaxParked is reached.
var errParkedFull = errors.New("journal: too many records are parked")

// A queued record is one on its way into the file.
type queued struct {
	data []byte
	keys keys
}

// A job is what one caller has for the file. It is the writer's until done is
// closed.
type job struct {
	ctx    context.Context // of a caller that may go away; nil: it does not
	add    []queued
	change change // what is removed and parked; what is added is made of add, which alone may unpark
	err    error
	done   chan struct{}
}

// enqueue writes records, which are in waiting already, to the file, and returns nil
// when they are durable. If it fails they are taken out of waiting.
func (j *Journal) enqueue(ctx context.Context, add []queued) error {
	err := j.submit(&job{ctx: ctx, add: add, done: make(chan struct{})})
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return err
	}
	if errors.Is(err, ErrFull) {
		j.stats.full.Add(uint64(len(add)))
	}
	j.complain("journal: accounting is not answered: it can neither be stored nor kept", err)
	return err
}

// submit hands a job to the writer, and waits for it.
func (j *Journal) submit(b *job) error {
	if err := j.reserve(b); err != nil {
		return err
	}
	signal(j.wake)
	if b.ctx == nil {
		<-b.done
		return b.err
	}
	select {
	case <-b.done:
		return b.err
	case <-b.ctx.Done():
		// Whether it becomes durable is not known, which is what an error says.
		return b.ctx.Err()
	}
}

// reserve makes room for a job.
func (j *Journal) reserve(b *job) (err error) {
	octets := int64(0)
	for i := range b.add {
		octets += cost(b.add[i].data)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	q := &j.queue
	switch n := len(b.add); {
	case j.closed:
		err = ErrClosed
	case n > 0 && (q.records+n > j.o.MaxRecords || q.octets+octets > j.o.MaxOctets):
		err = ErrFull
	case n > 0 && q.pendingRecords > 0 && q.pendingRecords+n > maxPending:
		err = ErrOverloaded
	case len(b.change.park) > 0 && q.parked+len(b.change.park) > j.o.MaxParked:
		err = errParkedFull
	}
	if err != nil {
		for i := range b.add {
			q.waiting.remove(b.add[i].keys)
		}
		return err
	}
	q.records += len(b.add)
	q.octets += octets
	q.pending = append(q.pending, b)
	q.pendingRecords += len(b.add)
	q.parked += len(b.change.park)
	return nil
}

// release undoes reserve for a job that came to nothing. The lock is held.
func (q *queue) release(b *job) {
	for i := range b.add {
		q.waiting.remove(b.add[i].keys)
		q.octets -= cost(b.add[i].data)
	}
	q.records -= len(b.add)
	q.parked -= len(b.change.park)
}

// write is the writer: it commits what waits, in groups, until Close. It never waits
// for company: while one group is synced the next one gathers.
func (j *Journal) write() {
	defer close(j.written)
	var group []*job
	for {
		var closed bool
		group, closed = j.take(group[:0])
		if len(group) > 0 {
			j.commit(group)
			clear(group)
			continue
		}
		if closed {
			return
		}
		<-j.wake
	}
}

// take removes a group from what is pending. Jobs whose callers have gone are
// dropped.
func (j *Journal) take(group []*job) (_ []*job, closed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	q := &j.queue
	n, taken := 0, 0
	for _, b := range q.pending {
		if len(group) > 0 && n+len(b.add) > maxGroup {
			break
		}
		taken++
		q.pendingRecords -= len(b.add)
		if b.ctx != nil && b.ctx.Err() != nil {
			q.release(b)
			continue
		}
		n += len(b.add)
		group = append(group, b)
	}
	rest := copy(q.pending, q.pending[taken:])
	clear(q.pending[rest:])
	q.pending = q.pending[:rest]
	if len(group) == 0 && rest > 0 { // all were dropped; this is not the end
		signal(j.wake)
	}
	return group, j.closed && rest == 0
}

// commit writes a group in one transaction and answers its jobs. Where that fails,
// those that add nothing are tried once more by themselves: on a full disk they are
// what makes room.
func (j *Journal) commit(group []*job) {
	now := time.Now()
	var all, less change
	j.mu.Lock()
	for _, b := range group {
		for i := range b.add {
			j.queue.seq++
			all.add = append(all.add, row{j.queue.seq, now, b.add[i].data})
		}
		part := &less
		if len(b.add) > 0 {
			part = &all
		}
		part.remove = append(part.remove, b.change.remove...)
		part.park = append(part.park, b.change.park...)
		part.unpark = append(part.unpark, b.change.unpark...)
	}
	j.mu.Unlock()
	all.remove = append(all.remove, less.remove...)
	all.park = append(all.park, less.park...)
	err := j.file.do(&all)
	adding := err
	if err != nil {
		j.stats.errors.Add(1)
		if len(all.add) > 0 && len(less.remove)+len(less.park) > 0 {
			err = j.file.do(&less)
		}
	}
	j.settle(group, adding, err, now)
	for _, b := range group {
		close(b.done)
	}
}

// settle tells jobs how they ended, and counts.
func (j *Journal) settle(group []*job, adding, changing error, now time.Time) {
	oldest, removed := time.Time{}, false
	if changing == nil {
		for _, b := range group {
			removed = removed || len(b.change.remove) > 0
		}
		if removed {
			var err error
			if oldest, err = j.file.oldest(context.Background()); err != nil {
				removed = false
				j.complain("journal: the file cannot be read", err)
			}
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	q := &j.queue
	added := false
	for _, b := range group {
		b.err = changing
		if len(b.add) > 0 {
			b.err = adding
		}
		switch {
		case b.err != nil:
			q.release(b)
		case len(b.add) > 0:
			added = true
			q.parked -= len(b.change.unpark)
			j.stats.journaled.Add(uint64(len(b.add)))
		}
	}
	if removed {
		q.oldest = oldest
	}
	if added {
		if q.oldest.IsZero() {
			q.oldest = now
		}
		signal(j.more)
	}
}

// complain logs what nobody else tells, at most one line a second.
func (j *Journal) complain(what string, err error) {
	if !j.quiet.allows(time.Now()) {
		return
	}
	j.mu.Lock()
	records, octets := j.queue.records, j.queue.octets
	j.mu.Unlock()
	name := ""
	if j.file != nil {
		name = j.file.name
	}
	j.o.Logger.Error(what, zap.String("file", name), zap.Int("records", records), zap.Int64("octets", octets), zap.Error(err))
}
