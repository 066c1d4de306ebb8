package journal

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/breaker"
	"github.com/radpool/radpool/billing/internal/grants"
)

var (
	// ErrClosed is returned by everything that is called after Close.
	ErrClosed = errors.New("journal: closed")

	// ErrFull is that a record could not be kept: MaxRecords or MaxOctets are
	// reached.
	ErrFull = errors.New("journal: full")

	// ErrOverloaded is that the disk does not keep up: too many records wait to be
	// written to the file.
	ErrOverloaded = errors.New("journal: too many records wait to be written")
)

// A Journal stands before a back end and keeps what that cannot take. It is made by
// Open, safe for concurrent use, and must be closed.
type Journal struct {
	backend billing.Handler
	batch   billing.BatchHandler // the same, or nil

	pooler billing.AddressPooler // the same, or nil
	o      Options
	file   *file // nil: none is kept
	hash   hasher

	passes atomic.Uint64 // records that the back end has stored
	stats  counters

	memory sync.Mutex    // of last
	last   *grants.Table // nil: none are remembered

	mu              sync.Mutex // held for a moment; never while something is called
	access, account side       // guarded by mu
	queue           queue      // guarded by mu
	closed          bool       // guarded by mu

	quiet quiet // of the log

	wake      chan struct{} // one token: the writer has something to do
	written   chan struct{} // closed when the writer has returned
	more      chan struct{} // one token: the replay has something to do
	stop      context.CancelFunc
	replayed  chan struct{} // closed when the replay has returned
	closeOnce func() error
}

// A queue is what is known of the records in the file, and of those on their way
// there.
type queue struct {
	waiting waiting
	records int
	octets  int64
	seq     int64     // of the last one
	oldest  time.Time // when the first of those in the file came; zero: there is none
	parked  int
	stale   bool // waiting may count what is gone

	pending        []*job // for the writer
	pendingRecords int
}

// Open opens the journal in file, and makes it when it is missing, before backend.
// What is left in it from before is replayed. With an empty file no journal is kept:
// accounting is not answered then while the back end is away. ctx bounds the opening
// alone.
//
// The file is locked: one process uses it at a time. It must not be on a network
// file system, where locks and syncs may mean nothing. The error names the file and
// what is wrong with it, or the field of o.
func Open(ctx context.Context, file string, backend billing.Handler, o Options) (*Journal, error) {
	if backend == nil {
		return nil, errors.New("journal: Open: the back end is nil")
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	j := &Journal{
		backend: backend, o: o, hash: newHasher(),
		access:  side{breaker.Breaker{Interval: o.ProbeInterval}, "Access-Requests"},
		account: side{breaker.Breaker{Interval: o.ProbeInterval}, "accounting"},
		queue:   queue{waiting: newWaiting()},
		wake:    make(chan struct{}, 1), written: make(chan struct{}),
		more: make(chan struct{}, 1), replayed: make(chan struct{}),
	}
	j.batch, _ = backend.(billing.BatchHandler)
	j.pooler, _ = backend.(billing.AddressPooler)
	if o.GrantAge > 0 {
		j.last = grants.New(o.MaxGrants, o.GrantAge)
	}
	if file != "" {
		if err := j.start(ctx, file); err != nil {
			return nil, err
		}
	}
	j.closeOnce = sync.OnceValue(j.shut)
	return j, nil
}

// start opens the file, reads what there is, and starts the goroutines.
func (j *Journal) start(ctx context.Context, name string) (err error) {
	if j.file, err = openFile(ctx, name, j.o.maxPages); err != nil {
		return err
	}
	if err := j.load(ctx); err != nil {
		return errors.Join(err, j.file.close())
	}
	if q := &j.queue; q.records > 0 || q.parked > 0 {
		j.o.Logger.Info("journal: records are left from before", zap.String("file", name),
			zap.Int("records", q.records), zap.Int("parked", q.parked), zap.Time("oldest", q.oldest))
	}
	replayCtx, stop := context.WithCancel(context.Background())
	j.stop = stop
	go j.write()
	go newReplay(j).run(replayCtx)
	signal(j.more)
	return nil
}

// load reads what the file has. A record that cannot be decoded is parked, since
// nobody knows what it waits for.
func (j *Journal) load(ctx context.Context) (err error) {
	const chunk = 1024
	q := &j.queue
	if q.parked, err = j.file.parked(ctx); err != nil {
		return err
	}
	for after := int64(math.MinInt64); ; {
		rows, err := j.file.read(ctx, after, chunk)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return ctx.Err()
		}
		var bad change
		for i := range rows {
			r := &rows[i]
			after, q.seq = r.seq, r.seq
			rec, err := decodeRecord(r.data)
			if err != nil {
				bad.remove = append(bad.remove, r.seq)
				bad.park = append(bad.park, parking{r.at, err.Error(), r.data})
				continue
			}
			if q.oldest.IsZero() {
				q.oldest = r.at
			}
			q.waiting.add(j.hash.keys(rec))
			q.records++
			q.octets += cost(r.data)
		}
		if len(bad.park) > 0 {
			if err := j.file.do(&bad); err != nil {
				return err
			}
			q.parked += len(bad.park)
			j.o.Logger.Error("journal: records cannot be read, and are parked", zap.String("file", j.file.name),
				zap.Int("records", len(bad.park)), zap.String("first", bad.park[0].reason))
		}
	}
}

// cost is what a record counts against MaxOctets: its encoding, and what SQLite
// needs beside it.
func cost(data []byte) int64 { return int64(len(data)) + 24 }

// Handler is what a billing.Processor is to be given. It is a billing.BatchHandler
// if the back end is one, and hands on what a billing.PostAuther wants to hear, and
// what a billing.AddressPooler is asked for: no address is leased while the back end
// is away.
func (j *Journal) Handler() billing.Handler {
	if j.batch != nil {
		return batchHandler{handler{j}}
	}
	return handler{j}
}

// Close writes what was taken to the file, stops the replay and closes the file. The
// back end is not closed, and must not be before. What is left in the file is
// replayed after the next Open. To call it again is harmless and returns the same.
func (j *Journal) Close() error { return j.closeOnce() }

func (j *Journal) shut() error {
	if j.file == nil {
		j.mu.Lock()
		j.closed = true
		j.mu.Unlock()
		return nil
	}
	j.stop()
	<-j.replayed
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	signal(j.wake)
	<-j.written
	return j.file.close()
}

// signal puts a token into a channel that has room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
