package record

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/radpool/radpool/radpool"
)

// Defaults and bounds of a [Recorder].
const (
	DefaultPassword  = "test-password"
	DefaultMaxCases  = 1000
	LimitMaxCases    = 100_000
	DefaultMaxOctets = 16 << 20
	LimitMaxOctets   = 64 << 20
)

// Options say what a [Recorder] writes. A zero field means its default; what is out of its
// bounds is an error of Create.
type Options struct {
	// Password stands in the file for each password that was right: 1 to 128 octets.
	// One that was wrong becomes "not " and this. "": DefaultPassword.
	Password string

	// HashNames writes instead of User-Name and Calling-Station-Id a hash of them, in
	// requests and replies: the same in all of the file, and different in another. Other
	// attributes, such as addresses and Reply-Message, may still tell who it was.
	HashNames bool

	// MaxCases and MaxOctets bound the file: 1 to LimitMaxCases and LimitMaxOctets. What
	// comes then is counted, not written. 0: DefaultMaxCases, DefaultMaxOctets.
	MaxCases  int
	MaxOctets int
}

// A Recorder writes requests and replies into a file. It may be used by many goroutines at
// once, and must be closed.
type Recorder struct {
	o   Options
	key [32]byte // of the hashes

	mu     sync.Mutex // held while a case is written
	file   *os.File   // nil: closed
	octets int
	stats  Stats
}

// Stats are counters of a [Recorder].
type Stats struct {
	Cases   uint64 // written
	Skipped uint64 // not replayable: EAP, State, other codes, and what the back end failed on
	Dropped uint64 // beyond MaxCases or MaxOctets, or after an error
	Err     error  // the first of writing
}

// Create makes the file, which must not be there yet, for its owner alone.
func Create(name string, o Options) (*Recorder, error) {
	if o.Password == "" {
		o.Password = DefaultPassword
	}
	if n := len(wrong(o.Password)); n > 128 {
		return nil, fmt.Errorf("record: Options: Password is %d octets, must be at most %d", len(o.Password), 128-n+len(o.Password))
	}
	err := errors.Join(bound("MaxCases", &o.MaxCases, DefaultMaxCases, LimitMaxCases), bound("MaxOctets", &o.MaxOctets, DefaultMaxOctets, LimitMaxOctets))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Recorder{o: o, file: f}
	_, _ = rand.Read(r.key[:]) // never an error
	head := fmt.Sprintf("Recorded by radpool. Each password that was right is %q here.\n\n", o.Password)
	if r.octets, err = f.WriteString(head); err != nil {
		return nil, errors.Join(fmt.Errorf("record: %w", err), f.Close())
	}
	return r, nil
}

func bound(name string, v *int, otherwise, most int) error {
	if *v == 0 {
		*v = otherwise
	}
	if *v < 1 || *v > most {
		return fmt.Errorf("record: Options: %s is %d, must be 1 to %d", name, *v, most)
	}
	return nil
}

// wrong is what stands for a password that was wrong.
func wrong(password string) string { return "not " + password }

// Close closes the file. What is answered after it is counted as dropped.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// Stats returns the counters as they are now.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// Middleware wraps h in one that records, in the order in which requests are answered. A
// radpool.BatchHandler stays one. It is a radpool.Middleware, best the outermost. A case is
// written by the worker that answers, so it costs time: it is for finding out, not for
// every day.
func (r *Recorder) Middleware(h radpool.Handler) radpool.Handler {
	if b, ok := h.(radpool.BatchHandler); ok {
		return recordedBatch{recorded{b, r}, b}
	}
	return recorded{h, r}
}

type recorded struct {
	radpool.Handler
	recorder *Recorder
}

// Handle records one request.
func (h recorded) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	c := h.recorder.begin(req)
	h.Handler.Handle(ctx, req, resp)
	h.recorder.end(c, resp)
}

type recordedBatch struct {
	recorded
	batch radpool.BatchHandler
}

// BatchSize is that of the Handler.
func (h recordedBatch) BatchSize() int { return h.batch.BatchSize() }

// HandleBatch records each request of a batch.
func (h recordedBatch) HandleBatch(batch []*radpool.Exchange) {
	cases := make([]*pending, len(batch))
	for i, x := range batch {
		cases[i] = h.recorder.begin(x.Request)
	}
	h.batch.HandleBatch(batch)
	for i, x := range batch {
		h.recorder.end(cases[i], x.Response)
	}
}

// begin takes down a request, before the Handler can change it. nil: there is no use in it.
func (r *Recorder) begin(req *radpool.Request) *pending {
	r.mu.Lock()
	full := r.full()
	if full {
		r.stats.Dropped++
	}
	r.mu.Unlock()
	if full {
		return nil
	}
	return r.request(req)
}

// full reports whether nothing is written any more. The caller holds the lock.
func (r *Recorder) full() bool {
	return r.file == nil || r.stats.Err != nil || r.stats.Cases >= uint64(r.o.MaxCases) || r.octets >= r.o.MaxOctets
}

// end writes a case.
func (r *Recorder) end(p *pending, resp *radpool.Response) {
	if p == nil {
		return
	}
	request, reply, ok := p.texts(resp)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !ok:
		r.stats.Skipped++
		return
	case r.full():
		r.stats.Dropped++
		return
	}
	n := r.stats.Cases + 1
	text := fmt.Appendf(nil, "-- %d.request --\n%s-- %d.reply --\n%s", n, request, n, reply)
	if r.octets += len(text); r.octets > r.o.MaxOctets {
		r.stats.Dropped++
		return
	}
	if _, r.stats.Err = r.file.Write(text); r.stats.Err != nil {
		r.stats.Dropped++
		return
	}
	r.stats.Cases = n
}

// hash is a name that tells nobody who it is.
func (r *Recorder) hash(value []byte) string {
	h := hmac.New(sha256.New, r.key[:])
	_, _ = h.Write(value) // never an error
	return fmt.Sprintf("hash-%x", h.Sum(nil)[:8])
}
