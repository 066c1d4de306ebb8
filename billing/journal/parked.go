package journal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/sqlitefile"
)

// A ParkedRecord is a record that was put aside, since the back end refuses it or
// since it cannot be read.
type ParkedRecord struct {
	At     time.Time // when it was parked
	Reason string    // the error of the back end

	// Record is the record itself. nil: it cannot be read, and Err says why.
	Record *billing.AccountingRecord
	Err    error

	id   int64
	data []byte
}

// errNoFile is that there is no journal to look into.
var errNoFile = errors.New("journal: there is no file")

// Parked returns the records that are parked, oldest first, at most limit of them.
func (j *Journal) Parked(ctx context.Context, limit int) ([]ParkedRecord, error) {
	switch {
	case j.file == nil:
		return nil, errNoFile
	case j.isClosed():
		return nil, ErrClosed
	}
	return j.file.shelf(ctx, math.MinInt64, limit)
}

// RetryParked puts what is parked back into the queue, to be replayed after
// everything that is there: after what was wrong has been put right. It returns how
// many records that were. What cannot be read stays parked.
func (j *Journal) RetryParked(ctx context.Context) (n int, err error) {
	if j.file == nil {
		return 0, errNoFile
	}
	for after := int64(math.MinInt64); ; {
		if j.isClosed() {
			return n, ErrClosed
		}
		list, err := j.file.shelf(ctx, after, maxGroup)
		if err != nil || len(list) == 0 {
			return n, err
		}
		b := &job{done: make(chan struct{})}
		for _, p := range list {
			after = p.id
			if p.Record == nil {
				continue
			}
			b.add = append(b.add, queued{p.data, j.hash.keys(p.Record)})
			b.change.unpark = append(b.change.unpark, p.id)
		}
		if len(b.add) == 0 {
			continue
		}
		j.mu.Lock()
		for i := range b.add {
			j.queue.waiting.add(b.add[i].keys)
		}
		j.mu.Unlock()
		if err := j.submit(b); err != nil {
			return n, err
		}
		n += len(b.add)
	}
}

func (j *Journal) isClosed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}

// parked is how many records are parked.
func (f *file) parked(ctx context.Context) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.conn.QueryRowContext(ctx, "SELECT count(*) FROM parked").Scan(&n); err != nil {
		return 0, f.explain(err)
	}
	return n, nil
}

// shelf returns up to limit parked records after the one with id after.
func (f *file) shelf(ctx context.Context, after int64, limit int) ([]ParkedRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rows, err := f.conn.QueryContext(ctx, "SELECT id, at, reason, data FROM parked WHERE id > ? ORDER BY id LIMIT ?", after, limit)
	if err != nil {
		return nil, f.explain(err)
	}
	defer func() { _ = rows.Close() }()
	var list []ParkedRecord
	for rows.Next() {
		var p ParkedRecord
		var at int64
		if err := rows.Scan(&p.id, &at, &p.Reason, &p.data); err != nil {
			return nil, f.explain(err)
		}
		p.At = time.Unix(0, at)
		p.Record, p.Err = decodeRecord(p.data)
		list = append(list, p)
	}
	return list, f.explain(rows.Err())
}

// explain names the file in an error.
func (f *file) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: file %s: %w", f.name, sqlitefile.Explain(err))
}
